"""The reliability diagram, for any number of classes."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from scipy.stats import beta

from ..calibration.binning import Bins, binned
from ..calibration.errors import Kind, Strategy, asked
from ..labels import Array, classes_of, predictions
from .axes import axes_for

AMBER, BLUE, GREY = "#c2500a", "#0b55ad", "#565d6b"
MOST_BANDS = 4
"""Curves up to which each has its band drawn: more would hide one another."""


class ReliabilityDisplay:
    """A reliability diagram: how often predictions of each confidence come true, for any number of classes.

    Made by `from_estimator` or `from_predictions`; `plot` draws it, and needs matplotlib.

    Parameters
    ----------
    bins : list of Bins
        Edges, counts, confidence and accuracy: one for each curve.
    low, high : list of array
        The band of each curve: an interval of the accuracy in each bin, nan where a bin is empty.
    names : list of str
        What the curves stand for.
    kind : {"top-label", "class-wise", "binary"}
        Which predictions are looked at.
    confidence : float
        That of the bands.

    Attributes
    ----------
    error : float
        The expected calibration error by these bins.
    ax_, figure_, histogram_ : Axes, Figure, Axes
        After `plot`: where it was drawn, and the strip with the share of examples in each bin.
    lines_ : list of Line2D
        After `plot`: the curves.

    Examples
    --------
    >>> p = np.linspace(0.05, 0.95, 1000)
    >>> y = np.random.default_rng(0).random(1000) < p**2
    >>> display = ReliabilityDisplay.from_predictions(y, p, kind="binary", bins=4, plot=False)
    >>> display.bins[0].confidence.round(2), display.bins[0].accuracy.round(2)
    (array([0.15, 0.37, 0.62, 0.85]), array([0.02, 0.11, 0.39, 0.75]))
    >>> bool(np.all(display.high[0] < display.bins[0].confidence))  # overconfident, beyond chance
    True
    """

    def __init__(
        self,
        bins: list[Bins],
        *,
        low: list[Array],
        high: list[Array],
        names: list[str],
        kind: Kind = "top-label",
        confidence: float = 0.95,
    ) -> None:
        self.bins = bins
        self.low = low
        self.high = high
        self.names = names
        self.kind = kind
        self.confidence = confidence

    @property
    def error(self) -> float:
        """The expected calibration error by these bins."""
        return float(np.mean([each.error() for each in self.bins]))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, name: str | None = None, **options: Any) -> Self:
        """From a fitted classifier with `predict_proba`, and rows that it was not trained on.

        Parameters
        ----------
        estimator : classifier
            Fitted.
        X, y : array
            Rows and labels.
        name : str, optional
            Its name in the legend, by default that of its class.
        **options
            As in `from_predictions`.

        Returns
        -------
        ReliabilityDisplay
        """
        name = type(estimator).__name__ if name is None else name
        return cls.from_predictions(y, estimator.predict_proba(X), labels=estimator.classes_, name=name, **options)

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        p: Any,
        *,
        kind: Kind = "top-label",
        bins: int = 15,
        strategy: Strategy = "uniform",
        bands: Literal["clopper-pearson"] | None = "clopper-pearson",
        confidence: float = 0.95,
        sample_weight: Any = None,
        labels: Any = None,
        name: str | None = None,
        ax: Any = None,
        plot: bool = True,
    ) -> Self:
        """From labels and probabilities.

        Parameters
        ----------
        y, p, kind, bins, strategy, sample_weight, labels
            As in `calibration_error`.
        bands : {"clopper-pearson"} or None
            The exact interval of the accuracy in each bin; with weights, for as many examples of equal weight.
        confidence : float
            That of the bands, for each bin by itself.
        name : str, optional
            The name in the legend.
        ax : matplotlib Axes, optional
            Where to draw.
        plot : bool
            False computes only, without matplotlib.

        Returns
        -------
        ReliabilityDisplay
        """
        if bands not in ("clopper-pearson", None):
            raise ValueError(f"bands has to be 'clopper-pearson' or None, got {bands!r}.")
        given = predictions(y, p, labels=labels, sample_weight=sample_weight)
        found, low, high = [], [], []
        for certainty, hit, weights in asked(given, kind):
            found.append(binned(certainty, hit, weights, bins, strategy))
            squares, _ = np.histogram(np.clip(certainty, 0.0, 1.0), found[-1].edges, weights=weights**2)
            ends = clopper_pearson(found[-1], squares, confidence)
            low.append(ends[0] if bands else found[-1].accuracy)
            high.append(ends[1] if bands else found[-1].accuracy)
        classes = classes_of(y, given.p.shape[1], labels)
        names = [str(c) for c in classes] if kind == "class-wise" else [name or "accuracy"]
        display = cls(found, low=low, high=high, names=names, kind=kind, confidence=confidence)
        return display.plot(ax=ax) if plot else display

    def plot(self, *, ax: Any = None, name: str | None = None) -> Self:
        """Draw: the accuracy in each bin with its band, the diagonal, and above it the share of examples in each bin.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new one by default.
        name : str, optional
            The name in the legend, for a single curve.

        Returns
        -------
        ReliabilityDisplay
        """
        self.ax_, self.figure_ = axes_for(ax, "ReliabilityDisplay.plot")
        names = [name] if name is not None and len(self.bins) == 1 else self.names
        is_single = len(self.bins) == 1
        self.ax_.plot([0, 1], [0, 1], "--", color=GREY, lw=1, label="calibrated")
        self.lines_ = []
        for each, low, high, called in zip(self.bins, self.low, self.high, names, strict=True):
            filled = each.count > 0
            at, accuracy = each.confidence[filled], each.accuracy[filled]
            if is_single:
                self._bars(each, filled)
            style = {"color": BLUE} if is_single else {}
            (line,) = self.ax_.plot(at, accuracy, "o-", ms=4, lw=1.6, label=called, **style)
            self.lines_.append(line)
            if is_single:
                lengths = np.maximum([accuracy - low[filled], high[filled] - accuracy], 0.0)
                self.ax_.errorbar(at, accuracy, lengths, fmt="none", ecolor=line.get_color(), capsize=2.5, lw=1.2)
            elif len(self.bins) <= MOST_BANDS:
                self.ax_.fill_between(at, low[filled], high[filled], color=line.get_color(), alpha=0.12, lw=0)
        asks = {"top-label": "confidence in the predicted class", "class-wise": "probability of the class"}
        self.ax_.set(xlim=(0, 1), ylim=(0, 1), ylabel="how often it comes true")
        self.ax_.set_xlabel(asks.get(self.kind, "probability of the second class"))
        self.ax_.set_aspect("equal")
        beside = {"loc": "center left", "bbox_to_anchor": (1.02, 0.5)} if len(self.bins) > MOST_BANDS else {}
        self.ax_.legend(**{"loc": "upper left", "fontsize": "small", **beside}, title=f"error {self.error:.3f}")
        self._histogram()
        return self

    def _bars(self, each: Bins, filled: Array) -> None:
        """The bins themselves, with what lies between confidence and accuracy."""
        left, width = each.edges[:-1][filled], np.diff(each.edges)[filled]
        at, accuracy = each.confidence[filled], each.accuracy[filled]
        self.ax_.bar(left, accuracy, width, align="edge", color=BLUE, alpha=0.15, ec=BLUE, lw=0.5)
        self.ax_.bar(left, at - accuracy, width, accuracy, align="edge", color=AMBER, alpha=0.2, label="gap")

    def _histogram(self) -> None:
        self.histogram_ = self.ax_.inset_axes((0.0, 1.03, 1.0, 0.16), sharex=self.ax_)
        for each, line in zip(self.bins, self.lines_, strict=True):
            share = each.count / np.sum(each.count)
            filled = len(self.bins) == 1
            self.histogram_.stairs(share, each.edges, color=line.get_color(), fill=filled, alpha=0.7 if filled else 1)
        self.histogram_.tick_params(labelbottom=False)
        self.histogram_.set_ylabel("share", fontsize="small")


def clopper_pearson(bins: Bins, squares: Array, confidence: float) -> tuple[Array, Array]:
    """The exact interval of the accuracy in each bin; `squares` are sums of squared weights, for uneven ones."""
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence has to be between 0 and 1, got {confidence!r}.")
    filled = bins.count > 0
    total = bins.count[filled] ** 2 / squares[filled]
    right = np.clip(bins.accuracy[filled], 0.0, 1.0) * total
    tail = (1.0 - confidence) / 2
    low, high = np.full(len(filled), np.nan), np.full(len(filled), np.nan)
    with np.errstate(invalid="ignore"):
        low[filled] = np.where(right > 0, beta.ppf(tail, right, total - right + 1), 0.0)
        high[filled] = np.where(right < total, beta.ppf(1 - tail, right + 1, total - right), 1.0)
    return low, high
