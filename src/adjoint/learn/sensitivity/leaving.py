"""What a model says of each row if the row is left out of the fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing, column_or_1d, indexable
from sklearn.utils.validation import _num_samples

from ..labels import Array, encoded
from ..linear.newton import covariances
from ..scoring import SMALLEST, fitted
from .problem import LinearProblem
from .reading import FittedProblem, fitted_problem

OWN_WEIGHT = 1e-6
"""Rows that decide their own prediction up to this share are refitted: the closed form would divide by nothing."""


@dataclass(frozen=True)
class LeaveOneOut:
    """What is predicted for each row by all other rows."""

    predictions: Array
    """Values (n,) of regressors; probabilities (n, classes) of classifiers, or what they have in place of them."""
    losses: Array
    """The estimator's own loss of each row, or the one given."""
    exact: bool
    """Whether these are the numbers of n refits; else each row was left out by one Newton step."""


def leave_one_out(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    method: Literal["auto", "refit"] = "auto",
    loss: Callable[..., Any] | None = None,
) -> LeaveOneOut:
    """Predictions and losses for each row from a fit to all other rows, for the price of one fit.

    For least squares and ridge regression, f_i - r_i h_i / (1 - h_i), with h_i the leverage: exactly the n refits. For
    other smooth losses, one Newton step from the fit to all rows to that without row i.

    Parameters
    ----------
    estimator : estimator
        A clone of it is fitted. `LeastSquares`, `Ridge`, `LinearRegressor`, `LinearClassifier`, `LogisticRegression`,
        scikit-learn's `LinearRegression`, `Ridge`, `LogisticRegression`, or a `Pipeline` that ends in one; with
        `method="refit"` any.
    X : array (n, columns)
        Rows.
    y : array (n,)
        Their labels or values.
    sample_weight : array (n,), optional
        A row is left out with all its weight.
    method : {"auto", "refit"}
        "refit" fits n times.
    loss : callable, optional
        `loss(predictions, targets)` gives one loss for each row; targets of a classifier are 0, 1, ... By default the
        loss that the estimator minimises; with "refit" the log loss, or the squared error.

    Returns
    -------
    LeaveOneOut
        With `predictions`, `losses`, `exact`. Steps before the last of a pipeline, class weights and penalties that
        the estimator chooses are those of all rows: `exact` is False then.

    Examples
    --------
    >>> from adjoint import learn
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 9.0]
    >>> found = learn.leave_one_out(learn.LeastSquares(), X, y)
    >>> found.predictions.round(2), found.exact  # the line through the first three is at 3 in 3
    (array([-4.  ,  1.86,  5.43,  3.  ]), True)
    """
    X, y = indexable(X, y)
    if method not in ("auto", "refit"):
        raise ValueError(f"method has to be 'auto' or 'refit', got {method!r}.")
    if method == "refit":
        return _refitted(estimator, X, y, sample_weight, loss)
    fit = fitted_problem(estimator, X, y, sample_weight)
    problem = fit.problem
    outputs, alone = without_each(problem)
    if np.any(alone):
        outputs[alone] = _outputs_refitted(fit, estimator, X, y, sample_weight, np.flatnonzero(alone))
    predictions = problem.loss.predictions(outputs)
    losses = problem.loss.judged(outputs, problem.targets)[0] if loss is None else loss(predictions, problem.targets)
    return LeaveOneOut(predictions, np.asarray(losses), fit.is_exact and problem.is_quadratic)


def without_each(problem: LinearProblem) -> tuple[Array, Array]:
    """Outputs of each row after one Newton step without it, and which rows have a step that divides by nothing.

    With A = x H^-1 x, W and g the curvature and slope of the row's loss: f + (I - A W)^-1 A g. The penalty of a mean
    of losses gets smaller by the row's weight w, so H is that of the smaller one, one for each w, and (I - A W)^-1
    x H^-1 (w / sum of weights) (gradient of the penalty) is added.
    """
    if not problem.is_mean:
        return _stepped(problem, problem.inverse, np.zeros_like(problem.theta), np.arange(len(problem.X)))
    outputs, alone = np.empty_like(problem.outputs), np.empty(len(problem.X), dtype=bool)
    total = float(np.sum(problem.weights))
    for weight in np.unique(problem.weights):
        rows = np.flatnonzero(problem.weights == weight)
        smaller = problem.with_penalties(problem.penalties * (1.0 - weight / total))
        outputs[rows], alone[rows] = _stepped(problem, smaller.inverse, weight / total * problem.pull, rows)
    return outputs, alone


def _stepped(problem: LinearProblem, inverse: Array, pull: Array, rows: Array) -> tuple[Array, Array]:
    X, slope = problem.X[rows], problem.slope[rows]
    A = covariances(X, inverse)
    moved = (inverse @ pull.T.ravel()).reshape(pull.shape[::-1]).T
    rest = np.eye(A.shape[1]) - A @ problem.curvature[rows]
    alone = ~(np.abs(np.linalg.det(rest)) > OWN_WEIGHT)
    rest[alone] = np.eye(A.shape[1])
    right = np.einsum("iab,ib->ia", A, slope) + X @ moved
    return problem.outputs[rows] + np.linalg.solve(rest, right[:, :, None])[:, :, 0], alone


def _outputs_refitted(fit: FittedProblem, estimator: Any, X: Any, y: Any, weight: Any, rows: Array) -> Array:
    """Outputs of some rows by fits without them."""
    found = np.empty((len(rows), fit.problem.theta.shape[1]))
    for k, i in enumerate(rows):
        others = np.delete(np.arange(_num_samples(X)), i)
        part = None if weight is None else np.asarray(weight)[others]
        refit = fitted_problem(estimator, _safe_indexing(X, others), _safe_indexing(y, others), part)
        found[k] = (refit.rows(_safe_indexing(X, [i])) @ refit.problem.theta)[0]
    return found


def _refitted(estimator: Any, X: Any, y: Any, weight: Any, loss: Any) -> LeaveOneOut:
    n = _num_samples(X)
    classes = np.unique(column_or_1d(y)) if is_classifier(estimator) else None
    found = []
    for i in range(n):
        model = fitted(clone(estimator), X, y, np.delete(np.arange(n), i), weight)
        found.append(_predicted(model, _safe_indexing(X, [i]), classes))
    predictions = np.array(found)
    targets = column_or_1d(y, dtype=np.float64) if classes is None else encoded(y, classes)
    if loss is None:
        loss = _squared if classes is None else _log_loss if predictions.ndim == 2 else np.not_equal
    return LeaveOneOut(predictions, np.asarray(loss(predictions, targets), dtype=np.float64), True)


def _predicted(model: Any, row: Any, classes: Array | None) -> Any:
    """A value; probabilities of all classes, 0 of one that only the row has; or the number of a class."""
    if classes is None:
        return float(np.ravel(model.predict(row))[0])
    if not hasattr(model, "predict_proba"):
        return encoded(model.predict(row), classes)[0]
    p = np.zeros(len(classes))
    p[encoded(model.classes_, classes)] = np.asarray(model.predict_proba(row))[0]
    return p


def _squared(predictions: Array, targets: Array) -> Array:
    return (predictions - targets) ** 2


def _log_loss(p: Array, codes: Array) -> Array:
    return -np.log(np.maximum(p[np.arange(len(p)), codes], SMALLEST))
