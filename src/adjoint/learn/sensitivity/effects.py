"""By how much a loss on new rows changes with the weight of each row that a model is fitted to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length, indexable

import adjoint as ad

from ..labels import Array
from .reading import FittedProblem, fitted_problem


@dataclass(frozen=True)
class Influence:
    """d loss / d weight_i for each row that was fitted to; rows with values above 0 do harm."""

    values: Array
    loss: float
    """The mean loss on the new rows."""

    def most(self, k: int = 10, *, helpful: bool = False) -> Array:
        """The k rows that raise the loss most, the worst first; or those that lower it most."""
        return np.argsort(self.values if helpful else -self.values, kind="stable")[:k]


def influence(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    on: tuple[Any, Any],
    sample_weight: Any = None,
    loss: Callable[..., Any] | None = None,
) -> Influence:
    r"""The derivative of the loss on new rows by the weight of each row, by differentiating the fit.

    .. math:: \frac{dL}{ds_i} = -\nabla L(\theta)^T H^{-1} \nabla l_i(\theta)

    where H is the Hessian of the objective at its minimum theta (the implicit function theorem). A weight of 1 + e in
    place of 1 changes the loss on the new rows by e times that, up to e^2; leaving the row out by about its negative.

    Parameters
    ----------
    estimator : estimator
        A linear model with a smooth loss, or a pipeline that ends in one, as in `leave_one_out`; a clone is fitted.
    X : array (n, columns)
        Rows.
    y : array (n,)
        Their labels or values.
    on : (X, y)
        New rows, whose mean loss is asked about.
    sample_weight : array (n,), optional
        The weights that rows have in the fit.
    loss : callable, optional
        `loss(predictions, targets)`, written with NumPy, gives the mean or one loss for each row; targets of a
        classifier are 0, 1, ... By default the loss that the estimator minimises.

    Returns
    -------
    Influence
        With `values` (n,), `loss`, `most(k)`. Steps before the last of a pipeline are held as fitted.

    Examples
    --------
    >>> from adjoint import learn
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 9.0]  # the last one is wrong
    >>> found = learn.influence(learn.LeastSquares(), X, y, on=([[4.0], [5.0]], [4.0, 5.0]))
    >>> found.most(1), bool(found.values[3] > 0.0)
    (array([3]), True)
    """
    X, y = indexable(X, y)
    fit = fitted_problem(estimator, X, y, sample_weight)
    problem = fit.problem
    value, back = _judged(fit, *on, loss)
    way = problem.solved(back)
    slopes = -np.sum((problem.X @ way) * problem.loss.slope(problem.outputs, problem.targets), axis=1)
    if problem.is_mean:
        slopes = slopes - np.sum(way * problem.pull) / np.sum(problem.weights)
    return Influence(fit.by_sample_weights(slopes), value)


def _judged(fit: FittedProblem, X: Any, y: Any, loss: Callable[..., Any] | None) -> tuple[float, Array]:
    """The mean loss on new rows and its gradient by theta."""
    check_consistent_length(X, y)
    rows, targets = fit.rows(X), fit.targets(y)
    outputs = rows @ fit.problem.theta
    if loss is None:
        values, slope = fit.problem.loss.judged(outputs, targets)
        return float(np.mean(values)), rows.T @ slope / len(rows)
    value, slope = ad.value_and_grad(lambda f: np.mean(loss(fit.problem.loss.predictions(f), targets)))(outputs)
    return float(value), rows.T @ slope
