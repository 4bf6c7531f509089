"""What a notebook shows of a run: one line while it is under way, a table, a page in a frame."""

from __future__ import annotations

import io
import re
import sys
import types
from html.parser import HTMLParser

import numpy as np
import pytest

import adjoint as ad
from adjoint import losses, nn, optim
from adjoint.training import progress as module
from adjoint.training.progress import Progress

X = np.random.default_rng(0).normal(size=(20, 2))
Y = (X[:, 0] > 0).astype(int)


class Handle:
    """What IPython gives for an output that may be written over."""

    def __init__(self, outputs, data):
        self.outputs, self.place = outputs, len(outputs)
        outputs.append([data])

    def update(self, data, *, raw):
        """Another text in the same place."""
        assert raw
        self.outputs[self.place].append(data)


@pytest.fixture
def notebook(monkeypatch):
    """The outputs below a cell, each with all that was shown in its place."""
    outputs = []

    def display(data, *, raw=False, display_id=None):
        if raw:
            assert display_id is True
            return Handle(outputs, data)
        outputs.append([data])
        return None

    shell = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(display=display))
    monkeypatch.setattr(module.importlib.util, "find_spec", lambda name: None)
    return outputs


class Reader(HTMLParser):
    """The texts of a table, row by row, and whatever would be loaded."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.below, self.loads, self.open = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.loads += [value for name, value in attrs if name in ("src", "href")] + re.findall("url", str(attrs))
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        else:
            self.below.append(data)


def test_progress_is_one_line(notebook, monkeypatch, capsys):
    """Which is written over, and ends as what stays; nothing goes to the streams."""
    now = [0.0]
    monkeypatch.setattr(module, "perf_counter", lambda: now[0])
    with Progress(20) as progress:
        for epoch in range(1, 21):
            now[0] += 1.0
            progress.update(epoch, loss=1.0 / epoch, validation_loss=0.5)
    assert len(notebook) == 1
    texts = [data["text/plain"] for data in notebook[0]]
    assert len(texts) > 10
    assert texts[4] == "epoch 5/20, loss 0.2, validation loss 0.5, 0:15 left"
    assert texts[-1] == "epoch 20/20, loss 0.05, validation loss 0.5, in 0:20"
    first = notebook[0][4]["text/html"]
    assert first.startswith('<div><progress value="0.250" style="width:12em"></progress> <code>epoch 5/20, ')
    assert "progress" not in notebook[0][-1]["text/html"]
    assert capsys.readouterr() == ("", "")


def test_short_runs(notebook, monkeypatch):
    """Have that last line if it is asked for, and else nothing; a stream of one's own gets what it always gets."""
    monkeypatch.setattr(module, "perf_counter", lambda: 0.0)
    for enabled, outputs in ((None, 0), (False, 0), (True, 1)):
        with Progress(2, enabled=enabled) as progress:
            progress.update(1, loss=1.0)
        assert len(notebook) == outputs
    stream = io.StringIO()
    with Progress(2, enabled=True, stream=stream) as progress:
        progress.update(2, loss=1.0)
    assert stream.getvalue() == "epoch 2/2, loss 1, in 0 s\n"
    assert len(notebook) == 1


def fitted(**options):
    """A short run."""
    model = nn.MLP([2, 4, 2], key=0)
    return ad.train(model, losses.cross_entropy, (X, Y), optim.adam(0.01), batch_size=8, progress=False, **options)


def test_table_of_a_fit():
    """Has the first, the last ten epochs and the best one, with all that was measured."""
    fit = fitted(epochs=25, metrics={"<accuracy>": lambda z, y: np.mean(np.argmax(z, axis=1) == y)})
    table = Reader(fit._repr_html_())
    assert table.rows[0] == ["epoch", "loss", "<accuracy>", "rate", "gradient norm", "seconds"]
    assert [row[0] for row in table.rows[1:]] == ["1", *map(str, range(16, 26))]
    assert table.rows[-1][1] == f"{fit.history['loss'][-1]:.4g}"
    assert table.below == ["MLP", "22 parameters, 25 epochs, 75 steps; after 25 epochs"]
    assert table.loads == []


def test_table_of_a_fit_with_another_best_epoch():
    """Which has a row, and is named."""
    fit = fitted(epochs=25, patience=100, validation=(X[:4], 1 - Y[:4]))
    table = Reader(fit._repr_html_())
    assert fit.best_epoch < 15
    assert str(fit.best_epoch) in [row[0] for row in table.rows]
    assert table.below[-1] == f"weights of epoch {fit.best_epoch}"


def test_page_inline(tmp_path):
    """Without a path the page is an object, which notebooks show in a frame and which can be written."""
    fit = fitted(epochs=3)
    page = fit.page()
    assert repr(page) == "TrainingPage()"
    assert page.html == fit.page(tmp_path / "one.html").read_text(encoding="utf-8")
    assert page.save(tmp_path / "two.html").read_text(encoding="utf-8") == page.html
    frame = page._repr_html_()
    assert frame.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert frame.count("<") == 2
    assert "src=" not in frame


def test_summary_as_a_table(notebook, capsys):
    """A notebook gets it as HTML, with the cells of the text."""
    model = nn.MLP([2, 4, 2], key=0)
    nn.summary(model, X)
    assert capsys.readouterr().out == ""
    (table,) = notebook[0]
    read = Reader(table._repr_html_())
    assert read.rows[0] == ["layer", "kind", "output", "parameters", "memory"]
    assert read.rows[2] == ["layers.0", "Dense", "(20, 4)", "12", "96 B"]
    assert read.below == [table.total]
    assert repr(table).splitlines()[0] == "layer          kind   output   parameters  memory"


def test_health_as_a_table():
    """Has the rows of the text, and what is wrong."""

    def loss(weights):
        x = 0.5
        for k, w in enumerate(weights):
            with ad.block(f"layer <{k}>"):
                x = 1.0 / (1.0 + np.exp(-w * x))
        return x

    found = ad.debug.health(loss)([1.0] * 8)
    table = Reader(found._repr_html_())
    assert [row[0] for row in table.rows] == ["block", *[f"layer <{k}>" for k in range(8)]]
    assert [row[-1] for row in table.rows[1:]] == [row.verdict for row in found.blocks]
    assert table.below == ["vanishing: layer <0>, layer <1>, layer <2>"]
    assert Reader(ad.debug.health(lambda x: x**2)(3.0)._repr_html_()).below == ["healthy"]
