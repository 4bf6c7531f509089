"""Linear regression with any loss."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils._param_validation import Interval, StrOptions

from adjoint import losses

from ..labels import Array
from . import smooth
from .callables import differentiated
from .columns import Columns, columns_of, numbers_given, seen
from .kinks import KinkedProblem, with_absolute
from .parameters import PENALISED, check_converged
from .penalties import Penalty, strengths
from .quasi_newton import minimised

Name = Literal["huber", "squared", "absolute", "quantile", "poisson"]


class LinearRegressor(RegressorMixin, BaseEstimator):
    r"""Linear regression with any loss: robust, quantiles, counts, your own.

    .. math:: \min_{w, b} \frac{\sum_i s_i \, l(x_i \cdot w + b, y_i)}{\sum_i s_i} + \alpha R(w)

    where R is |w|^2 / 2 ("l2"), the sum of |w_j| ("l1"), or r of the second plus 1 - r of the first ("elastic", r is
    `l1_ratio`). Columns are scaled inside, with the penalty carried over.

    Parameters
    ----------
    loss : {"huber", "squared", "absolute", "quantile", "poisson"} or callable
        As in `adjoint.losses`; or any function of outputs and targets written with NumPy, differentiated by `adjoint`:
        it gives the mean, or one loss for each row. "absolute" and "quantile" are solved exactly: by HiGHS as a linear
        program, or with squares in the penalty by a primal-dual method; `duality_gap_` is the proof. The others are
        solved by Newton's method, callables by L-BFGS, which wants a loss without kinks.
    delta : float
        Where the line of "huber" begins.
    quantile : float
        For "quantile".
    penalty : {"l2", "l1", "elastic"} or None
    alpha, l1_ratio : float
        The strength of the penalty, or one for each column, and the share of "l1" in "elastic".
    fit_intercept : bool
        Whether there is a constant, which is not penalised.
    tol, max_iter : float, int
        When to stop; a `ConvergenceWarning` is given if steps run out.

    Attributes
    ----------
    coef_, intercept_ : array (columns,), float
    n_iter_ : int
    duality_gap_ : float
        For "absolute" and "quantile": by how much the objective can at most be above its minimum.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0.0, 1.0, 2.0, 3.0, 40.0]  # the last one is wrong
    >>> LinearRegressor("absolute", alpha=0.0).fit(X, y).coef_.round(6)
    array([1.])
    >>> def cauchy(outputs, targets):
    ...     return np.log1p((outputs - targets) ** 2)
    >>> LinearRegressor(cauchy, alpha=0.0).fit(X, y).coef_.round(1)
    array([1.])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "loss": [StrOptions({"huber", "squared", "absolute", "quantile", "poisson"}), callable],
        "delta": [Interval(Real, 0, None, closed="neither")],
        "quantile": [Interval(Real, 0, 1, closed="neither")],
        **PENALISED,
    }

    def __init__(
        self,
        loss: Name | Callable[..., Any] = "huber",
        *,
        delta: float = 1.0,
        quantile: float = 0.5,
        penalty: Penalty | None = "l2",
        alpha: Any = 1e-4,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        self.loss = loss
        self.delta = delta
        self.quantile = quantile
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows and their values."""
        self._validate_params()
        X, y, weights = numbers_given(self, X, y, sample_weight)
        if not np.all(weights > 0.0):
            X, y, weights = X[weights > 0.0], y[weights > 0.0], weights[weights > 0.0]
        columns = columns_of(X, weights, fit_intercept=self.fit_intercept)
        loss = "absolute" if self.loss is losses.absolute else self.loss
        if loss in ("absolute", "quantile"):
            theta = self._by_lines(columns, y, weights, self.quantile if loss == "quantile" else 0.5)
        elif callable(loss):
            theta = self._by_gradient(columns, y, weights, is_weighted=sample_weight is not None)
        else:
            theta = self._by_newton(columns, y, weights / np.sum(weights))
        self.coef_, intercept = columns.unscaled(theta)
        self.intercept_ = float(intercept)
        return self

    def predict(self, X: Any) -> Array:
        """Values; for "poisson" expected counts, exp(x . w + b)."""
        values = seen(self, X) @ self.coef_ + self.intercept_
        return np.exp(values) if self.loss == "poisson" else values

    def _by_lines(self, columns: Columns, y: Array, weights: Array, quantile: float) -> Array:
        """A quantile; the absolute error is twice the pinball loss of the median."""
        total = np.sum(weights) * (1.0 if self.loss == "quantile" else 0.5)
        absolute, squares = strengths(self, columns)
        lines = KinkedProblem(
            columns.scaled, y, quantile * weights / total, (1.0 - quantile) * weights / total, squares
        )  # fmt: skip
        theta, self.duality_gap_, self.n_iter_ = with_absolute(lines, absolute).solved()
        allowed = self.tol * max(lines.cost(theta), np.finfo(np.float64).tiny)
        check_converged(self, self.duality_gap_ <= allowed, stacklevel=3)
        return theta

    def _by_gradient(self, columns: Columns, y: Array, weights: Array, *, is_weighted: bool) -> Array:
        mean = differentiated(self.loss, y, weights, is_weighted=is_weighted)  # type: ignore[arg-type]
        absolute, squares = strengths(self, columns)

        def value_and_gradient(theta: Array) -> tuple[float, Array]:
            value, back = mean(columns.scaled @ theta)
            return value + 0.5 * float(squares @ theta**2), columns.scaled.T @ back + squares * theta

        theta, self.n_iter_, converged = minimised(
            value_and_gradient, np.zeros(len(squares)), absolute, tol=self.tol, max_iter=self.max_iter
        )
        check_converged(self, converged, stacklevel=3)
        return theta

    def _by_newton(self, columns: Columns, y: Array, share: Array) -> Array:
        loss = {"squared": smooth.squared, "poisson": smooth.poisson}.get(self.loss, lambda: smooth.huber(self.delta))()  # type: ignore[arg-type]
        start = np.zeros(columns.scaled.shape[1])
        if self.loss == "poisson" and (np.any(y < 0.0) or not np.any(y)):
            raise ValueError("y has to be counts for the loss 'poisson': none below 0, and not all of them 0.")
        if self.fit_intercept:
            start[-1] = np.log(share @ y) if self.loss == "poisson" else share @ y
        absolute, squares = strengths(self, columns)
        theta, self.n_iter_, converged = smooth.sparse(
            loss, columns.scaled, y, share, squares, absolute, start, tol=self.tol, max_iter=self.max_iter
        )
        check_converged(self, converged, stacklevel=3)
        return theta
