"""Least squares, with what it says about its own errors."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.linalg import LinAlgWarning, qr, solve_triangular, svd, svdvals
from scipy.stats import t as student
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils._param_validation import StrOptions

from ..labels import Array
from .columns import numbers_given, seen
from .parameters import WITH_INTERCEPT

ILL_CONDITIONED = 1e8
"""Half of the digits of a coefficient are lost."""


class LeastSquares(RegressorMixin, BaseEstimator):
    r"""Least squares: coefficients, their errors, and intervals that are exact for Gaussian noise.

    .. math:: \min_{w, b} \sum_i s_i (x_i \cdot w + b - y_i)^2

    The gradient of the mean of the squares is (2/n) X^T (Xw - y).

    Parameters
    ----------
    solver : {"auto", "closed", "svd", "gradient"}
        By QR; by the pseudo-inverse, which gives the shortest of all solutions if columns are dependent; by conjugate
        gradients. "auto" and "closed" take QR where columns are independent, else the pseudo-inverse.
    fit_intercept : bool
        Whether there is a constant, b.

    Attributes
    ----------
    coef_, intercept_ : array (columns,), float
    sigma2_ : float
        The unbiased estimate of the variance of the noise: the sum of squares over `degrees_of_freedom_`. (Likelihood
        would divide by n, which is too small on average.)
    degrees_of_freedom_ : float
        Rows, or the sum of their weights, less `rank_` and the intercept.
    covariance_, standard_errors_ : array (columns, columns), array (columns,)
        Of the coefficients; `intercept_standard_error_` is the intercept's.
    rank_, condition_number_ : int, float
        Of X without its means, if there is an intercept. A `LinAlgWarning` is given where columns are dependent, or
        nearly so whatever their units are (a condition number above 1e8 once they all have length 1).

    Notes
    -----
    A weight of 2 is the same row twice, here as everywhere. Weights that are known precisions, 1 / variance of each
    row up to a factor, have to be scaled so that they sum to the number of rows.

    Examples
    --------
    >>> model = LeastSquares().fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 3.1, 4.9, 7.0])
    >>> model.coef_.round(2), round(model.intercept_, 2), round(model.sigma2_, 4)
    (array([1.98]), 1.03, 0.009)
    >>> model.predict_interval([[4.0]], coverage=0.95).round(2)
    array([[8.3, 9.6]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "solver": [StrOptions({"auto", "closed", "svd", "gradient"})],
        **WITH_INTERCEPT,
    }

    def __init__(
        self, *, solver: Literal["auto", "closed", "svd", "gradient"] = "auto", fit_intercept: bool = True
    ) -> None:
        self.solver = solver
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows and their values."""
        self._validate_params()
        X, y, weights = numbers_given(self, X, y, sample_weight)
        A, b, self._centre, middle = centred(X, y, weights, fit_intercept=self.fit_intercept)
        Q, R = qr(A, mode="economic", check_finite=False)
        U, s, V = svd(R, full_matrices=False, check_finite=False)
        self.rank_ = self._rank(R, s, A.shape)
        s, V = s[: self.rank_], V[: self.rank_]
        inverse = V / s[:, None]
        if self.solver == "gradient":
            self.coef_ = _by_gradients(A, b)
        elif self.solver == "svd" or self.rank_ < A.shape[1]:
            self.coef_ = inverse.T @ (U[:, : self.rank_].T @ (Q.T @ b))
        else:
            self.coef_ = solve_triangular(R, Q.T @ b, check_finite=False)
        self.intercept_ = float(middle - self._centre @ self.coef_)
        self._total = float(np.sum(weights))
        self.degrees_of_freedom_ = self._total - self.rank_ - self.fit_intercept
        square = float(np.sum((b - A @ self.coef_) ** 2))
        self.sigma2_ = square / self.degrees_of_freedom_ if self.degrees_of_freedom_ > 0.0 else np.nan
        self.covariance_ = self.sigma2_ * (inverse.T @ inverse)
        self.standard_errors_ = np.sqrt(np.diag(self.covariance_))
        self.intercept_standard_error_ = float(self._spread(np.zeros((1, len(self.coef_))))[0])
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Values, and with `return_std` the deviation of a new observation from them, noise included."""
        X = seen(self, X)
        values = X @ self.coef_ + self.intercept_
        return (values, np.hypot(np.sqrt(self.sigma2_), self._spread(X))) if return_std else values

    def predict_interval(self, X: Any, coverage: float = 0.95) -> Array:
        """Ends of intervals, shape (n, 2), that hold a new observation in `coverage` of all cases: Student's t."""
        if not 0.0 < coverage < 1.0:
            raise ValueError(f"coverage has to be a float in the range (0.0, 1.0), got {coverage!r}.")
        values, deviation = self.predict(X, return_std=True)
        if not self.degrees_of_freedom_ > 0.0:
            raise ValueError(
                f"predict_interval needs more rows than coefficients, got {self._total:g} rows for "
                f"{self.rank_ + self.fit_intercept}."
            )
        half = student.ppf(0.5 + 0.5 * coverage, self.degrees_of_freedom_) * deviation
        return np.stack([values - half, values + half], axis=1)

    def _spread(self, X: Array) -> Array:
        """The deviation of the fitted values."""
        moved = X - self._centre
        of_mean = self.sigma2_ / self._total if self.fit_intercept else 0.0
        return np.sqrt(np.einsum("ij,jk,ik->i", moved, self.covariance_, moved) + of_mean)

    def _rank(self, R: Array, s: Array, shape: tuple[int, ...]) -> int:
        """How many columns are independent, whatever their units are; warns where not all of them surely are."""
        length = np.sqrt(np.sum(R**2, axis=0))
        unit = svdvals(R / np.where(length > 0.0, length, 1.0), check_finite=False)
        rank = int(np.sum(unit > unit[0] * max(shape) * np.finfo(np.float64).eps)) if unit[0] > 0.0 else 0
        full = rank == shape[1]
        self.condition_number_ = float(s[0] / s[-1]) if full else np.inf
        if not full:
            warnings.warn(
                f"The columns of X are dependent: their rank is {rank}, there are {shape[1]}. Of all solutions the "
                "shortest is taken; single coefficients mean nothing.",
                LinAlgWarning,
                stacklevel=3,
            )
        elif unit[0] > ILL_CONDITIONED * unit[-1]:
            warnings.warn(
                f"X is ill-conditioned: columns of length 1 have a condition number of {unit[0] / unit[-1]:.1e}, so "
                "coefficients are inaccurate. Leave columns out, or take Ridge.",
                LinAlgWarning,
                stacklevel=3,
            )
        return rank


def centred(X: Array, y: Array, weights: Array, *, fit_intercept: bool) -> tuple[Array, Array, Array, float]:
    """X and y less their means, times the root of the weights; and the means, 0 if there is no intercept."""
    root = np.sqrt(weights)
    if not fit_intercept:
        return X * root[:, None], y * root, np.zeros(X.shape[1]), 0.0
    total = np.sum(weights)
    centre, middle = weights @ X / total, weights @ y / total
    A = (X - centre) * root[:, None]
    size = np.sqrt(np.sum(A**2, axis=0) / total)
    A[:, size <= 10.0 * np.finfo(np.float64).eps * np.abs(centre)] = 0.0  # constant: what is left is rounding
    return A, (y - middle) * root, centre, float(middle)


def _by_gradients(A: Array, b: Array) -> Array:
    """Conjugate gradients on the normal equations, from 0: the shortest solution, too."""
    w, rest = np.zeros(A.shape[1]), b.copy()
    downhill = A.T @ rest
    direction, square = downhill, downhill @ downhill
    smallest = np.finfo(np.float64).eps ** 2 * square
    for _ in range(20 * A.shape[1]):
        if square <= smallest:
            break
        along = A @ direction
        step = square / (along @ along)
        w += step * direction
        rest -= step * along
        downhill = A.T @ rest
        square, before = downhill @ downhill, square
        direction = downhill + square / before * direction
    return w
