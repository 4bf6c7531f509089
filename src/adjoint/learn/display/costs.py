"""What decisions cost: over the threshold for two classes, by decision and truth for more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..decision.deciding import checked_costs, decide, expected_cost
from ..labels import Array, Predictions, classes_of, predictions
from .axes import axes_for
from .reliability import AMBER, BLUE, GREY

MOST_NUMBERS = 12
"""Rows of a matrix up to which its cells have numbers."""


@dataclass(frozen=True)
class Thresholds:
    """The mean cost of deciding for the second class from a probability on, for all thresholds that differ.

    `observed` is what it has cost on these examples, `expected` what the probabilities say it costs. `rule` is the
    threshold of least expected cost, alarm / (alarm + missed): 1 / (1 + ratio); `best` is that of least observed cost,
    which is known in hindsight only.
    """

    at: Array
    observed: Array
    expected: Array
    rule: float
    best: float

    def cost(self, threshold: float) -> float:
        """The observed cost at a threshold."""
        return float(self.observed[np.searchsorted(self.at, threshold)])


class CostDisplay:
    """What decisions cost: for two classes over the threshold, for more by decision and truth.

    Made by `from_estimator` or `from_predictions`; `plot` draws it, and needs matplotlib.

    Parameters
    ----------
    matrix : array of shape (decisions, classes)
        Mean cost of an example that comes from each pair of decision and truth: the sum is `cost`.
    decisions : list of str
        What its rows stand for.
    classes : list of str
        What its columns stand for.
    expected : array of shape (decisions,)
        The mean expected cost if this decision were taken for everybody.
    thresholds : Thresholds or None
        For two classes and two decisions.

    Attributes
    ----------
    cost : float
        The mean cost of an example, deciding by least expected cost.
    ax_, figure_ : Axes, Figure
        After `plot`: where it was drawn.

    Examples
    --------
    >>> p = np.linspace(0.0, 1.0, 101)
    >>> y = np.random.default_rng(0).random(101) < p
    >>> display = CostDisplay.from_predictions(y, p, costs=[[0, 10], [1, 0]], plot=False)
    >>> round(display.thresholds.rule, 4), round(display.cost, 2), round(display.thresholds.cost(0.5), 2)
    (0.0909, 0.52, 1.44)
    """

    def __init__(
        self, matrix: Array, *, decisions: list[str], classes: list[str], expected: Array, thresholds: Thresholds | None
    ) -> None:
        self.matrix = matrix
        self.decisions = decisions
        self.classes = classes
        self.expected = expected
        self.thresholds = thresholds

    @property
    def cost(self) -> float:
        """The mean cost of an example."""
        return float(np.sum(self.matrix))

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, *, costs: Any = None, **options: Any) -> Self:
        """From a fitted classifier with `predict_proba`, and rows that it was not trained on.

        Parameters
        ----------
        estimator : classifier
            Fitted.
        X, y : array
            Rows and labels.
        costs : array of shape (decisions, classes), optional
            `costs[i, j]`: deciding i when j is true; by default those of the estimator.
        **options
            As in `from_predictions`.

        Returns
        -------
        CostDisplay
        """
        costs = getattr(estimator, "costs", None) if costs is None else costs
        costs = costs(X) if callable(costs) else costs
        options.setdefault("decisions", getattr(estimator, "decisions", None))
        return cls.from_predictions(y, estimator.predict_proba(X), labels=estimator.classes_, costs=costs, **options)

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        p: Any,
        *,
        costs: Any = None,
        decisions: Any = None,
        sample_weight: Any = None,
        labels: Any = None,
        ax: Any = None,
        plot: bool = True,
    ) -> Self:
        """From labels and probabilities.

        Parameters
        ----------
        y, p, sample_weight, labels
            As in `calibration_error`.
        costs : array of shape (decisions, classes), optional
            `costs[i, j]`: deciding i when j is true: rows are decisions. None is 1 for every wrong class.
        decisions : list, optional
            What rows of `costs` stand for; the classes by default.
        ax : matplotlib Axes, optional
            Where to draw.
        plot : bool
            False computes only, without matplotlib.

        Returns
        -------
        CostDisplay
        """
        given = predictions(y, p, labels=labels, sample_weight=sample_weight)
        count = given.p.shape[1]
        each = checked_costs(1.0 - np.eye(count) if costs is None else costs, count)
        share = given.weights / np.sum(given.weights)
        taken = decide(given.p, each)
        rows = np.arange(len(taken))
        paid = each[rows, taken, given.codes] if each.ndim == 3 else each[taken, given.codes]
        matrix = np.zeros(each.shape[-2:])
        np.add.at(matrix, (taken, given.codes), share * paid)
        classes = [str(c) for c in classes_of(y, count, labels)]
        names = classes if decisions is None else [str(d) for d in decisions]
        if len(names) != len(matrix):
            raise ValueError(f"costs has {len(matrix)} decisions, but there are {len(names)} names: say decisions=.")
        thresholds = over_thresholds(given, each, share) if each.shape == (2, 2) else None
        expected = share @ expected_cost(given.p, each)
        display = cls(matrix, decisions=names, classes=classes, expected=expected, thresholds=thresholds)
        return display.plot(ax=ax) if plot else display

    def plot(self, *, ax: Any = None) -> Self:
        """Draw: the cost over the threshold for two classes, else a matrix of decisions and truths.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new one by default.

        Returns
        -------
        CostDisplay
        """
        self.ax_, self.figure_ = axes_for(ax, "CostDisplay.plot")
        if self.thresholds is None:
            self._matrix()
        else:
            self._curve(self.thresholds)
        return self

    def _curve(self, found: Thresholds) -> None:
        edges = np.concatenate([[0.0], found.at[:-1], [1.0]])
        self.ax_.stairs(found.observed, edges, baseline=None, color=BLUE, lw=1.8, label="observed")
        self.ax_.stairs(found.expected, edges, baseline=None, color=GREY, lw=1, ls="--", label="by the probabilities")
        self.ax_.axvline(found.rule, color=AMBER, lw=1.2)
        at_rule, at_best = found.cost(found.rule), found.cost(found.best)
        chosen = f"chosen: p = {found.rule:.3g}, cost {at_rule:.3g}"
        self.ax_.plot([found.rule], [at_rule], "o", color=AMBER, label=chosen)
        hindsight = f"best in hindsight: p = {found.best:.3g}, cost {at_best:.3g}"
        self.ax_.plot([found.best], [at_best], "x", color=BLUE, label=hindsight)
        top = 1.1 * max(np.max(found.observed[1:-1], initial=at_rule), np.max(found.expected[1:-1], initial=0.0))
        self.ax_.set(xlim=(0, 1), ylim=(0, top or 1.0), ylabel="mean cost of an example")
        self.ax_.set_xlabel(f"{self.decisions[1]} is decided from this probability on")
        self.ax_.legend(fontsize="small")

    def _matrix(self) -> None:
        self.ax_.imshow(self.matrix, cmap="Oranges", vmin=0.0)
        if max(self.matrix.shape) <= MOST_NUMBERS:
            dark = np.max(self.matrix) / 2
            for (i, j), value in np.ndenumerate(self.matrix):
                color = "white" if value > dark > 0 else "black"
                self.ax_.text(j, i, f"{value:.3g}", ha="center", va="center", color=color, fontsize="small")
        self.ax_.set_xticks(range(len(self.classes)), self.classes)
        labels = [f"{d}\n(always: {e:.3g})" for d, e in zip(self.decisions, self.expected, strict=True)]
        self.ax_.set_yticks(range(len(self.decisions)), labels)
        self.ax_.set(xlabel="truth", ylabel="decision", title=f"cost of an example: {self.cost:.3g}")


def over_thresholds(given: Predictions, costs: Array, share: Array) -> Thresholds:
    """The cost of deciding for the second class from each probability on: one sort and running sums."""
    second = given.p[:, 1]
    order = np.argsort(second, kind="stable")
    at, first = np.unique(second[order], return_index=True)

    def running(decide_first: Array, decide_second: Array) -> Array:
        """The sum with the k examples of least probability decided for the first class."""
        below = np.concatenate([[0.0], np.cumsum((share * decide_first)[order])])
        above = np.concatenate([[0.0], np.cumsum((share * decide_second)[order])])
        return (below + above[-1] - above)[np.append(first, len(order))]

    observed = running(costs[0, given.codes], costs[1, given.codes])
    expected = running(given.p @ costs[0], given.p @ costs[1])
    at = np.append(at, np.inf)  # from there on nobody is decided for
    missed, alarm = costs[0, 1] - costs[1, 1], costs[1, 0] - costs[0, 0]
    rule = float(np.clip(alarm / (alarm + missed), 0.0, 1.0)) if alarm + missed > 0.0 else 0.5
    lowest = np.flatnonzero(observed <= np.min(observed) + 1e-12)
    middle = int(lowest[len(lowest) // 2])
    best = float(np.clip((at[middle - 1] if middle else 0.0) + at[middle], 0.0, 2.0) / 2)
    return Thresholds(at, observed, expected, rule, best)
