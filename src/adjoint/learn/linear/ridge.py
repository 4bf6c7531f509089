"""Ridge regression from one decomposition: any penalty, leave-one-out, evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.linalg import svd
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils._param_validation import Interval, StrOptions

from ..labels import Array
from .columns import numbers_given, seen
from .least_squares import centred

SMALLEST, LARGEST = 1e-10, 1e6
"""Penalties that "loo" and "evidence" look at, in units of the largest squared singular value of X."""
GRID = 65


class Ridge(RegressorMixin, BaseEstimator):
    r"""Ridge regression with scikit-learn's objective.

    .. math:: \min_{w, b} |y - Xw - b|^2 + \alpha |w|^2, \qquad w = (X^T X + \alpha I)^{-1} X^T y

    (for centred X and y): objective and closed form have the same alpha. With the *mean* of the squares, or with half
    the penalty, the closed form would need n alpha, or alpha / 2.

    Parameters
    ----------
    alpha : float, "loo" or "evidence"
        The penalty; of least squared leave-one-out error; or of greatest marginal likelihood, for Gaussian noise of
        unknown variance sigma^2, coefficients N(0, sigma^2 / alpha), and an intercept that may be anything.
    fit_intercept : bool
        Whether there is a constant, which is not penalised.

    Attributes
    ----------
    coef_, intercept_ : array (columns,), float
    alpha_ : float
    loo_residuals_ : array (n,)
        y less what is predicted for it by all other rows: exact, without refitting. With weights, a row is left out
        with all its weight.
    effective_parameters_ : float
        The trace of the matrix that takes y to the fitted values, the intercept not counted.
    log_evidence_ : float
        The logarithm of the marginal likelihood at `alpha_`, sigma^2 at its best, up to a constant.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(40, 30))
    >>> y = X[:, 0] + rng.normal(size=40)
    >>> model = Ridge("loo").fit(X, y)
    >>> model.alpha_ > 1.0, model.effective_parameters_ < 30
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0, None, closed="left"), StrOptions({"loo", "evidence"})],
        "fit_intercept": ["boolean"],
    }

    def __init__(self, alpha: float | Literal["loo", "evidence"] = 1.0, *, fit_intercept: bool = True) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows and their values."""
        self._validate_params()
        X, y, weights = numbers_given(self, X, y, sample_weight)
        A, b, centre, middle = centred(X, y, weights, fit_intercept=self.fit_intercept)
        U, s, V = svd(A, full_matrices=False, check_finite=False)
        total = float(np.sum(weights))
        of_mean = weights / total if self.fit_intercept else np.zeros(len(b))
        parts = _Parts(U, s, U.T @ b, b, of_mean, total - self.fit_intercept)
        if self.alpha == "loo":
            self.alpha_ = _least(parts.loo, s)
        elif self.alpha == "evidence":
            self.alpha_ = _least(lambda alpha: -parts.evidence(alpha), s)
        else:
            self.alpha_ = float(self.alpha)
        shrunk = parts.shrunk(self.alpha_)
        self.coef_ = V.T @ (np.divide(shrunk, s, out=np.zeros_like(s), where=s > 0.0) * parts.along)
        self.intercept_ = float(middle - centre @ self.coef_)
        self.effective_parameters_ = float(np.sum(shrunk))
        rest = np.maximum(1.0 - parts.leverages(shrunk), np.finfo(np.float64).tiny)
        self.loo_residuals_ = (y - X @ self.coef_ - self.intercept_) / rest
        self.log_evidence_ = parts.evidence(self.alpha_)
        return self

    def predict(self, X: Any) -> Array:
        """Values."""
        return seen(self, X) @ self.coef_ + self.intercept_


@dataclass(frozen=True)
class _Parts:
    """X = U s V with weights in it, U^T y, y, the leverages of the mean, and rows less the intercept."""

    U: Array
    s: Array
    along: Array
    y: Array
    of_mean: Array
    count: float

    def shrunk(self, alpha: float) -> Array:
        """s^2 / (s^2 + alpha): what is left along each singular vector; 0 where X says nothing."""
        known = self.s > self.s[0] * max(self.U.shape) * np.finfo(np.float64).eps if alpha == 0.0 else self.s > 0.0
        square = self.s**2
        return np.divide(square, square + alpha, out=np.zeros_like(square), where=known)

    def leverages(self, shrunk: Array) -> Array:
        return self.of_mean + np.einsum("ij,ij,j->i", self.U, self.U, shrunk)

    def loo(self, alpha: float) -> float:
        """The sum of squared leave-one-out errors."""
        shrunk = self.shrunk(alpha)
        errors = (self.y - self.U @ (shrunk * self.along)) / (1.0 - self.leverages(shrunk))
        return float(errors @ errors)

    def evidence(self, alpha: float) -> float:
        """The logarithm of the marginal likelihood: that of N(0, sigma^2 (I + X X^T / alpha)), at the best sigma."""
        if alpha == 0.0 or self.count <= 0.0:
            return -np.inf
        outside = max(self.y @ self.y - self.along @ self.along, 0.0)
        square = outside + np.sum(self.along**2 / (1.0 + self.s**2 / alpha))
        if not square > 0.0:
            return np.inf
        variance = square / self.count
        return float(-0.5 * (np.sum(np.log1p(self.s**2 / alpha)) + self.count * (np.log(2 * np.pi * variance) + 1.0)))


def _least(cost: Callable[[float], float], s: Array) -> float:
    """The penalty of least cost: the best of a grid, then between its neighbours."""
    if not s[0] > 0.0:
        return 1.0
    unit = float(s[0] ** 2)
    grid = np.linspace(np.log(SMALLEST), np.log(LARGEST), GRID)

    def of(log_alpha: float) -> float:
        return cost(unit * float(np.exp(log_alpha)))

    best = int(np.argmin([of(x) for x in grid]))
    ends = grid[max(best - 1, 0)], grid[min(best + 1, GRID - 1)]
    found = minimize_scalar(of, bounds=ends, method="bounded", options={"xatol": 1e-8})
    return unit * float(np.exp(found.x if found.fun <= of(grid[best]) else grid[best]))
