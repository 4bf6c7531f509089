"""Ridge regression from one decomposition: any penalty, leave-one-out, evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.linalg import svd
from scipy.optimize import brentq, minimize_scalar
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils._param_validation import Interval, StrOptions

from ..labels import Array
from .columns import numbers_given, seen
from .least_squares import centred
from .parameters import WITH_INTERCEPT
from .penalties import by_column

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
    alpha : float, array (columns,), "loo" or "evidence"
        The penalty, or one for each column; the one of least squared leave-one-out error; or of greatest marginal
        likelihood, for Gaussian noise of unknown variance sigma^2, coefficients N(0, sigma^2 / alpha), and an
        intercept that may be anything.
    fit_intercept : bool
        Whether there is a constant, which is not penalised.

    Attributes
    ----------
    coef_, intercept_ : array (columns,), float
    alpha_ : float or array
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
        "alpha": [Interval(Real, 0, None, closed="left"), StrOptions({"loo", "evidence"}), "array-like"],
        **WITH_INTERCEPT,
    }

    def __init__(self, alpha: Any = 1.0, *, fit_intercept: bool = True) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows and their values."""
        self._validate_params()
        X, y, weights = numbers_given(self, X, y, sample_weight)
        A, b, centre, middle = centred(X, y, weights, fit_intercept=self.fit_intercept)
        each = by_column("alpha", self.alpha, X.shape[1])
        root = np.sqrt(each) if np.ndim(each) else 1.0  # a penalty for each column is one for all on other columns
        U, s, V = svd(A / root, full_matrices=False, check_finite=False)
        total = float(np.sum(weights))
        of_mean = weights / total if self.fit_intercept else np.zeros(len(b))
        parts = _Parts(U, s, U.T @ b, b, of_mean, total - self.fit_intercept)
        if not isinstance(self.alpha, str):
            alpha = 1.0 if np.ndim(each) else float(each)
        elif self.alpha == "loo":
            alpha = _least(lambda alphas: np.array([parts.loo(a) for a in alphas]), s)
        else:
            alpha = _least(lambda alphas: -parts.evidences(alphas), s, parts.evidence_slope)
        self.alpha_ = each if np.ndim(each) else alpha
        shrunk = parts.shrunk(alpha)
        self.coef_ = V.T @ (np.divide(shrunk, s, out=np.zeros_like(s), where=s > 0.0) * parts.along) / root
        self.intercept_ = float(middle - centre @ self.coef_)
        self.effective_parameters_ = float(np.sum(shrunk))
        rest = np.maximum(1.0 - parts.leverages(shrunk), np.finfo(np.float64).tiny)
        self.loo_residuals_ = (y - X @ self.coef_ - self.intercept_) / rest
        self.log_evidence_ = float(parts.evidences(np.array([alpha]))[0])
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

    def evidences(self, alphas: Array) -> Array:
        """The logarithm of the marginal likelihood: that of N(0, sigma^2 (I + X X^T / alpha)), at the best sigma."""
        if self.count <= 0.0:
            return np.full(alphas.shape, -np.inf)
        outside = max(self.y @ self.y - self.along @ self.along, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = self.s**2 / alphas[:, None]
            squares = outside + np.sum(self.along**2 / (1.0 + ratios), axis=1)
            widths = np.sum(np.log1p(ratios), axis=1)
            found = -0.5 * (widths + self.count * (np.log(2 * np.pi * squares / self.count) + 1.0))
        return np.where(alphas == 0.0, -np.inf, np.where(squares > 0.0, found, np.inf))

    def evidence_slope(self, alpha: float) -> float:
        """How the evidence moves with the logarithm of alpha."""
        left = alpha / (self.s**2 + alpha)
        inside = self.along**2 * left
        outside = max(self.y @ self.y - self.along @ self.along, 0.0)
        return 0.5 * float(np.sum(1.0 - left) - self.count * (inside @ (1.0 - left)) / (outside + np.sum(inside)))


def _least(costs: Callable[[Array], Array], s: Array, slope: Callable[[float], float] | None = None) -> float:
    """The penalty of least cost: the best of a grid, then between its neighbours, at the root of the slope."""
    if not s[0] > 0.0:
        return 1.0
    unit = float(s[0] ** 2)
    grid = np.linspace(np.log(SMALLEST), np.log(LARGEST), GRID)
    known = costs(unit * np.exp(grid))
    best = int(np.argmin(known))
    ends = grid[max(best - 1, 0)], grid[min(best + 1, GRID - 1)]
    if slope is not None:
        if not np.isfinite(known[best]) or slope(unit * np.exp(ends[0])) * slope(unit * np.exp(ends[1])) >= 0.0:
            return unit * float(np.exp(grid[best]))
        return unit * float(np.exp(brentq(lambda t: slope(unit * np.exp(t)), *ends, xtol=1e-10)))

    def of(log_alpha: float) -> float:
        return float(costs(np.array([unit * np.exp(log_alpha)]))[0])

    found = minimize_scalar(of, bounds=ends, method="bounded", options={"xatol": 1e-8})
    return unit * float(np.exp(found.x if found.fun <= known[best] else grid[best]))
