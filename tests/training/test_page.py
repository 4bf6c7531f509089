"""The page of a training run in a real browser: the numbers and pictures at every place of its slider."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from adjoint.training.record import Record
from tests.training import records

LOSS = "#loss .legend .value"


def js_number(x: float, digits: int = 4) -> str:
    """A number as the page writes it, for sizes that need no exponent."""
    return f"{float(f'{x:.{digits}g}'):.12g}"


def test_numbers_at_every_frame(page):
    """The legends, the layers and the slider's text are those of the epoch that is shown."""
    record = records.digits()
    page.open(record)
    norms = list(record.layer_norms.values())
    for frame in range(1, len(record.frames)):
        page.go(frame)
        k = record.frames[frame] - 1
        assert page.texts(LOSS) == [js_number(record.curves[name][k]) for name in ("loss", "validation_loss")]
        assert page.texts("#metrics .value") == [
            js_number(record.curves[name][k]) for name in ("accuracy", "validation_accuracy")
        ]
        assert page.texts("#layers .value") == [js_number(v[k], 3) for v in norms]
        assert page.text("#where") == page.text("#weights-epoch") == page.text("#loss .epoch") == f"epoch {k + 1}"


def test_before_training(page):
    """The first frame has weights and no loss."""
    page.open(records.digits())
    page.go(0)
    assert page.text("#where") == "before training"
    assert page.texts(LOSS) == ["\N{EN DASH}"] * 2
    assert page.text("#verdict") == "Before training there is no gradient yet."


def test_it_begins_at_the_end(page):
    """The first thing to see is what training has come to, and what is known of it."""
    record = records.digits()
    page.open(record)
    assert page.step() == len(record.frames) - 1
    facts = dict(zip(page.texts("dt"), page.texts("dd"), strict=True))
    assert facts == record.facts
    assert page.text("h1").startswith("MLP 64-64-64-10 on digits")
    best = int(np.argmin(record.curves["validation_loss"]))
    assert page.text("#loss .note") == f"best {js_number(record.curves['validation_loss'][best])} at {best + 1}"


def test_pointer_reads_a_chart(page):
    """A pointer over one chart reads all of them there; when it is gone, they read the slider's epoch again."""
    record = records.digits()
    page.open(record)
    page.point("#loss .plot", 0.0, 0.5)
    assert page.texts(LOSS)[0] == js_number(record.curves["loss"][0])
    assert page.text("#metrics .epoch") == "epoch 1"
    page.run("document.querySelector('#loss .plot').dispatchEvent(new PointerEvent('pointerleave'))")
    assert page.texts(LOSS)[0] == js_number(record.curves["loss"][-1])


def test_log_scale(page):
    """The switch turns powers of ten to equal steps, and back."""
    page.open(dataclasses.replace(records.vanishing(), curves={"loss": 10.0 ** -np.arange(6)}))
    ticks = "return [...document.querySelectorAll('#loss .tick[text-anchor=end]')].map(e => e.textContent)"
    heights = (
        "return [...document.querySelector('#loss .curve').getAttribute('d').matchAll(/,([\\d.]+)/g)].map(m => m[1])"
    )
    assert page.run(ticks)[:3] == ["1e-5", "0.0001", "0.001"]
    assert np.ptp(np.diff([float(y) for y in page.run(heights)[:6]])) < 0.5
    page.driver.find_element("id", "log").click()
    assert page.run("return document.getElementById('log').getAttribute('aria-checked')") == "false"
    assert page.run(ticks)[:2] == ["0.0", "0.2"]
    assert np.ptp(np.diff([float(y) for y in page.run(heights)[:6]])) > 50


def test_nan_is_a_gap(page):
    """Where there is no number the line ends, and the legend says nan; infinities have their sign."""
    loss = np.array([1.0, 0.5, np.nan, 0.25, np.inf, -np.inf])
    page.open(Record("gaps", curves={"loss": loss}))
    assert page.run("return document.querySelector('#loss .curve').getAttribute('d').split('M').length") == 3
    shown = []
    for _ in range(6):
        shown.append(page.text(LOSS))
        page.keys("#loss .plot", "\ue012")
    assert shown == ["-inf", "inf", "0.25", "nan", "0.5", "1"]


def test_vanishing_gradients_are_said(page):
    """The sentence compares the first layer with the last, and the bars grow from layer to layer."""
    record = records.vanishing()
    page.open(record)
    norms = list(record.layer_norms.values())
    ratio = norms[-1][-1] / norms[0][-1]
    assert page.text("#verdict") == (
        f"At epoch 30 the gradient of layers.0, at the input, is {ratio:.1e} times smaller than that of layers.19: "
        "it vanishes on the way back."
    ).replace("e+0", "e")
    widths = page.run("return [...document.querySelectorAll('.bar')].map(b => parseFloat(b.style.width))")
    assert len(widths) == 20
    assert widths[0] < 10
    assert widths[-1] > 90


def test_layers_are_compared_with_their_like(page):
    """Not with the normalisation between them, which comes later by name alone."""
    norms = {
        f"{name}.scale": np.array([value]) for name, value in (("layers.0", 1.0), ("layers.1", 2.0), ("norms.0", 4.0))
    }
    page.open(Record("norms", gradient_norms=norms))
    assert page.text("#verdict") == "At epoch 1 the gradient of layers.0, at the input, is 0.5 times that of layers.1."


def test_one_epoch_has_one_tick(page):
    """No epochs that were not."""
    page.open(Record("short", curves={"loss": np.array([0.5])}))
    ticks = "return [...document.querySelectorAll('#loss .tick')].map(t => t.textContent)"
    assert "1" in page.run(ticks)
    assert not {"0", "-0", "2"} & set(page.run(ticks))


def test_exploding_and_one_layer(page):
    """The other sentences."""
    norms = {"first.weight": np.array([5000.0]), "last.weight": np.array([1.0])}
    page.open(Record("explodes", gradient_norms=norms))
    assert page.text("#verdict") == (
        "At epoch 1 the gradient of first, at the input, is 5,000 times larger than that of last: "
        "it explodes on the way back."
    )
    page.open(Record("one", gradient_norms={"w": np.array([0.5, 0.25])}))
    assert page.text("#verdict") == "At epoch 2: 0.25."
    page.open(Record("zero", gradient_norms={"a": np.array([0.0]), "b": np.array([1.0])}))
    assert page.text("#verdict") == "At epoch 1 the gradient of a, at the input, is 0: it has vanished."


def test_table_has_all_numbers(page):
    """Opened, it has a row for each epoch with six digits."""
    record = records.digits()
    page.open(record)
    page.driver.find_element("css selector", "summary").click()
    page.wait_until("return document.querySelector('tbody') !== null")
    assert page.count("tbody tr") == 23
    assert page.text("tbody tr:nth-child(5) td:nth-child(2)") == js_number(record.curves["loss"][4], 6)
    assert page.texts("thead th")[:3] == ["epoch", "loss", "validation loss"]


@pytest.mark.parametrize(
    "record",
    [
        Record(""),
        Record("one epoch", curves={"loss": np.array([0.5])}),
        Record("constant", curves={"loss": np.zeros(4), "rate": np.full(4, 0.001)}),
        Record("only nan", curves={"loss": np.full(3, np.nan)}, gradient_norms={"w": np.full(3, np.nan)}),
        Record("a frame", frames=[0], weights={"w": [np.ones(3)]}),
        Record("empty", curves={"loss": np.array([])}),
        Record("huge", curves={"loss": np.array([1e300, 1e-300]), "score": np.array([-1e20, 1e20])}),
        Record("nan weights", frames=[0, 1], weights={"w": [np.ones((2, 2)), np.full((2, 2), np.nan)]}),
    ],
    ids=lambda record: record.title or "nothing",
)
def test_little_to_show(page, record):
    """A page of what there is, without a complaint."""
    page.open(record)
    assert page.visible("#weights-panel") == bool(record.weights)
    assert page.visible("#loss-panel") == (len(record.curves.get("loss", ())) > 0)
    assert page.visible("#controls") == (len(record.frames) > 1)
    assert page.count("text") == len([t for t in page.texts("text") if "NaN" not in t])
    assert page.run("return [...document.querySelectorAll('path')].every(p => !/NaN/.test(p.getAttribute('d')))")


def test_many_epochs(page):
    """Of a long run some epochs are shown, the first, the last and the best among them, and the table says how many."""
    loss = np.linspace(1.0, 2.0, 20_000)
    loss[12_345] = 0.5
    page.open(Record("long", curves={"loss": loss}))
    assert page.text("#loss .note") == "best 0.5 at 12346"
    assert page.text("#loss .epoch") == "epoch 20,000"
    page.driver.find_element("css selector", "summary").click()
    page.wait_until("return document.querySelector('caption') !== null")
    assert page.text("caption") == "Numbers by epoch (1,501 of 20,000 epochs)"
