"""The figure of a training run: what is drawn where."""

from __future__ import annotations

import builtins
import dataclasses

import numpy as np
import pytest

from adjoint.training import plot
from adjoint.training.record import Record
from tests.training import records

pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def no_window():
    """Figures are drawn in memory, and closed at the end."""
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def lines(axes):
    """The curves by their labels."""
    return {line.get_label(): (line.get_xdata().tolist(), line.get_ydata().tolist()) for line in axes.lines}


def test_curves_and_norms():
    """One axes for each quantity and one for the norms, by epoch from 1."""
    record = records.digits()
    figure = plot.figure(record)
    assert [a.get_ylabel() for a in figure.axes] == ["loss", "accuracy", "norm of the gradient"]
    loss = lines(figure.axes[0])
    assert loss["validation loss"] == (list(range(1, 24)), record.curves["validation_loss"].tolist())
    assert list(lines(figure.axes[2])) == ["layers.0", "layers.1", "layers.2"]
    assert [a.get_yscale() for a in figure.axes] == ["log", "linear", "log"]
    assert figure.get_suptitle() == record.title
    figure.canvas.draw()


@pytest.mark.parametrize("classes", [0, 5])
def test_last_boundary(classes):
    """The plane of the last frame, the points of each class, and for one output the line of the decision."""
    record = records.moons(classes=classes)
    axes = plot.figure(record).axes[-1]
    assert axes.get_title() == "epoch 60"
    labels = [t.get_text() for t in axes.get_legend().get_texts()]
    assert labels == [f"class {k}" for k in range(classes or 2)]
    plane = axes.collections[0].get_array()
    np.testing.assert_array_equal(np.asarray(plane), record.boundary.values[-1])
    axes.figure.canvas.draw()


def test_regression():
    """Labels that are many numbers have no legend."""
    record = records.moons()
    labels = np.linspace(-1.0, 3.0, len(record.boundary.labels))
    record = dataclasses.replace(record, boundary=dataclasses.replace(record.boundary, labels=labels))
    axes = plot.figure(record).axes[-1]
    assert axes.get_legend() is None
    assert axes.collections[-1].get_clim() == (-1.0, 3.0)


def test_given_axes():
    """One axes gets the loss; an array of them as much as it has room for; the figure is theirs."""
    record = records.digits()
    figure, one = pyplot.subplots()
    assert plot.figure(record, one) is figure
    assert one.get_ylabel() == "loss"
    figure, two = pyplot.subplots(2, 1)
    assert plot.figure(record, axes=two) is figure
    assert [a.get_ylabel() for a in two] == ["loss", "accuracy"]


@pytest.mark.parametrize(
    "record",
    [
        Record("nothing"),
        Record("", curves={"loss": np.array([0.5])}),
        Record("nan", curves={"loss": np.full(3, np.nan)}, gradient_norms={"w": np.zeros(3)}),
        records.vanishing(),
    ],
    ids=lambda record: record.title or "no title",
)
def test_little_to_draw(record):
    """Whatever there is, without a warning."""
    plot.figure(record).canvas.draw()


def test_notebooks_show_a_figure_once(monkeypatch):
    """In a notebook the figure is not one of pyplot's, which would be shown a second time."""
    monkeypatch.setattr(plot, "is_notebook", lambda: True)
    plot.figure(records.vanishing())
    assert pyplot.get_fignums() == []


def test_without_matplotlib(monkeypatch):
    """The error says what to install."""
    real = builtins.__import__

    def without(name, *rest):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError) as caught:
        plot.figure(records.vanishing())
    first, _, last = str(caught.value).splitlines()
    assert first == "A plot of a training run needs Matplotlib, which is not installed."
    assert last == "  Install it with  pip install 'adjoint[viz]',  or write a page, which needs nothing."
