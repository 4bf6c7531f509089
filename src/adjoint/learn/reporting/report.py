"""`report`: a page about a model, for any classifier or regressor."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from sklearn.base import is_classifier

from ..conformal.quantiles import check_coverage
from .asking import asked
from .classification import of_classes
from .learning import of_gap, of_learning
from .regression import of_values
from .rows import of_rows
from .writing import frame, page, write


@dataclass(frozen=True)
class Report:
    """What `report` found: `numbers`, a dict of plain numbers and texts, and the page that shows them."""

    numbers: dict[str, Any] = field(repr=False)

    @property
    def html(self) -> str:
        """The page, as one text."""
        return page(self.numbers)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page, in one move: a reader sees the old file or the new one. The path."""
        return write(self.numbers, path)

    def _repr_html_(self) -> str:
        return frame(self.numbers)

    def __str__(self) -> str:
        lines = [f"{self.numbers['name']}: {self.numbers['kind']}, scores on {self.numbers['how']}"]
        for name, each in self.numbers["scores"].items():
            lines.append(f"{name:28} {each['value']:9.4g}   {each['low']:.4g} to {each['high']:.4g}")
        return "\n".join(lines)


def report(
    model: Any,
    X: Any,
    y: Any,
    *,
    train: tuple[Any, Any] | None = None,
    costs: Any = None,
    coverage: float = 0.9,
    cv: Any = 5,
    progress: bool | None = None,
) -> Report:
    """Look at a model from all sides: scores with intervals, calibration, costs, sets or intervals, learning curve.

    A fitted model is asked about `X`, which it should not have been trained on. One that is not fitted is
    cross-validated: each row is predicted by a clone that has not seen it.

    Parameters
    ----------
    model : classifier or regressor
        Any with scikit-learn's interface, fitted or not.
    X, y : array or frame, array
        Rows and what is true of them.
    train : (X, y), optional
        What the model was fitted to: for the generalisation gap, the learning curve and the influence of its rows.
    costs : array of shape (decisions, classes), optional
        `costs[i, j]`: deciding i when j is true; by default those of the model.
    coverage : float
        For sets of classes or intervals: the model's own, or conformal ones from these rows.
    cv : int, splitter or None
        Folds: of the learning curve, for which the model is refitted 5 times as often, and of a model that is not
        fitted. None leaves the learning curve out.
    progress : bool, optional
        Whether to show how far the learning curve is; by default if it takes longer than half a second.

    Returns
    -------
    Report
        With `numbers`, `save(path)`, and the page itself where a notebook shows it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> found = report(GaussianNB().fit(X[::2], y[::2]), X[1::2], y[1::2], cv=None)
    >>> {name: round(value, 2) for name, value in found.numbers["scores"]["accuracy"].items()}
    {'value': 0.96, 'low': 0.92, 'high': 1.0}
    >>> found.numbers["confusion"]["counts"]  # decisions in rows, truths in columns
    [[25, 0, 0], [0, 24, 2], [0, 1, 23]]
    """
    check_coverage(coverage)
    answers = asked(model, X, y, train=train, cv=5 if cv is None else cv)
    classifies = is_classifier(model)
    name = type(model.steps[-1][1]).__name__ if hasattr(model, "steps") else type(model).__name__
    numbers: dict[str, Any] = {
        "name": name,
        "model": repr(model),
        "kind": "classification" if classifies else "regression",
        "rows": len(answers.y),
        "how": answers.how,
    }
    if classifies:
        numbers |= of_classes(answers, costs=costs, coverage=coverage)
    else:
        numbers |= of_values(answers, coverage=coverage)
    numbers["learning"] = of_learning(answers, train, cv, progress=progress)
    numbers["gap"] = of_gap(answers, train, numbers["learning"])
    numbers["rows to look at"] = of_rows(answers, train)
    return Report(numbers)
