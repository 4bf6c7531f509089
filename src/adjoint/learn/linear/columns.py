"""Rows that are checked, and columns that are centred and scaled before anything is solved.

Solvers see columns of one size, so that no unit of measurement makes them slow; the penalty is carried over, so that
the optimum is that of the columns as they were given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ..labels import Array, check_several, encoded


@dataclass(frozen=True)
class Columns:
    """X = scaled * scale + centre; `scaled` has a last column of ones where there is an intercept."""

    scaled: Array
    centre: Array
    scale: Array
    has_intercept: bool

    @property
    def penalties(self) -> Array:
        """What 1 on the square of each coefficient is on that of the scaled column; nothing on intercepts."""
        return self.penalised(1.0)

    def penalised(self, strength: Array | float) -> Array:
        """The same for a strength, or one for each column."""
        found = strength * self.scale**-2
        return np.append(found, 0.0) if self.has_intercept else found

    def unscaled(self, theta: Array) -> tuple[Array, Array]:
        """Coefficients (columns, ...) and intercepts (...,) for columns as they were given."""
        if not self.has_intercept:
            return (theta.T / self.scale).T, np.zeros(theta.shape[1:])
        coef = (theta[:-1].T / self.scale).T
        return coef, theta[-1] - self.centre @ coef


def columns_of(X: Array, weights: Array, *, fit_intercept: bool) -> Columns:
    """Columns without their mean, if there is an intercept, and of mean square 1."""
    total = np.sum(weights)
    centre = weights @ X / total if fit_intercept else np.zeros(X.shape[1])
    scaled = np.empty((len(X), X.shape[1] + fit_intercept), order="F")
    inner = scaled[:, : X.shape[1]]
    np.subtract(X, centre, out=inner)
    size = np.sqrt(np.einsum("ij,ij,i->j", inner, inner, weights) / total)
    rounding = 10.0 * np.finfo(np.float64).eps * np.abs(centre)
    inner[:, size <= rounding] = 0.0  # constant columns, of which centring leaves rounding
    scale = np.where(size > rounding, size, 1.0)
    inner /= scale
    if fit_intercept:
        scaled[:, -1] = 1.0
    return Columns(scaled, centre, scale, fit_intercept)


def numbers_given(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Array, Array]:
    """Checked rows, values and weights for a regressor; rows of weight 0 are kept."""
    X, y = validate_data(estimator, X, y, dtype=np.float64, y_numeric=True)
    return X, y.astype(np.float64, copy=False), _checked_weights(sample_weight, X)


def labels_given(estimator: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Array, Array]:
    """Checked rows, encoded labels and weights for a classifier, which gets its `classes_`; rows of weight 0 go."""
    X, y = validate_data(estimator, X, y, dtype=np.float64)
    check_classification_targets(y)
    weights = _checked_weights(sample_weight, X)
    if sample_weight is not None and not np.all(weights > 0.0):
        X, y, weights = X[weights > 0.0], y[weights > 0.0], weights[weights > 0.0]
    estimator.classes_ = np.unique(y)
    check_several(estimator)
    return X, encoded(y, estimator.classes_), weights


def seen(estimator: Any, X: Any) -> Array:
    """Checked rows for a fitted estimator."""
    check_is_fitted(estimator)
    return validate_data(estimator, X, dtype=np.float64, reset=False)


def _checked_weights(sample_weight: Any, X: Array) -> Array:
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not np.sum(weights) > 0.0:
        raise ValueError("sample_weight has to have a weight above 0, got zeros only: no sample is left of any class.")
    return weights
