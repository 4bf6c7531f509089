"""Weights for new examples that are distributed otherwise than those of calibration."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import _num_samples

from ..labels import Array
from ..scoring import logits_of

Weight = None | Callable[[Any], Any]


@dataclass(frozen=True)
class DensityRatio:
    """A function of X: how many times likelier rows are among new examples than among old ones."""

    estimator: Any
    offset: float

    def __call__(self, X: Any) -> Array:
        """The ratio for each row."""
        logits = logits_of(self.estimator, X)
        return np.exp(np.clip(logits[:, 1] - logits[:, 0] - self.offset, -LARGEST, LARGEST))


NONE = np.finfo(np.float64).tiny
"""A weight of 0, without divisions by it."""
LARGEST = 50.0
"""Ratios are kept between e^-50 and e^50: what is sure beyond that is no number to rely on."""


def density_ratio(X: Any, X_new: Any, estimator: Any = None) -> DensityRatio:
    """How many times likelier rows are among new examples than among old ones: learned, as a function of X.

    Parameters
    ----------
    X, X_new : arrays or frames with the same columns
        Old examples, as those of calibration, and new ones without labels.
    estimator : classifier, optional
        Tells old from new: the odds it gives are the ratio. Logistic regression on scaled columns by default.

    Returns
    -------
    callable
        The `weight` of `ConformalClassifier` and `ConformalRegressor`. A guarantee is as good as these weights: look at
        them, and do not use the rows that calibrate to choose among estimators.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> old, new = rng.normal(size=(4000, 1)), rng.normal(1.0, size=(4000, 1))
    >>> density_ratio(old, new)([[0.5]]).round(1)  # exp(x - 1/2), as 0.5 is half way
    array([1.])
    """
    counts = _num_samples(X), _num_samples(X_new)
    model = make_pipeline(StandardScaler(), LogisticRegression()) if estimator is None else clone(estimator)
    both = _stacked(X, X_new)
    model.fit(both, np.repeat([0, 1], counts))
    return DensityRatio(model, float(np.log(counts[1] / counts[0])))


def _stacked(X: Any, X_new: Any) -> Any:
    if hasattr(X, "columns") and hasattr(X_new, "columns"):  # pandas and polars have a function of the same name
        return import_module(type(X).__module__.partition(".")[0]).concat(
            [X, _safe_indexing(X_new, list(X.columns), axis=1)]
        )
    return np.concatenate([check_array(X, dtype=None), check_array(X_new, dtype=None)])


def weights_of(weight: Weight, X: Any, count: int) -> Array | None:
    """The weight of each row, or None; refused if they are no finite numbers of at least 0."""
    if weight is None:
        return None
    found = np.asarray(weight(X), dtype=np.float64)
    if found.shape != (count,) or not np.all(np.isfinite(found)) or np.any(found < 0.0):
        raise ValueError(f"weight has to give a finite number of at least 0 for each of {count} rows.")
    return np.maximum(found, NONE)


def all_weights(weight: Weight, X: Any, rows: Array, count: int) -> Array | None:
    """The weights of calibration rows; refused if all of them are 0."""
    found = weights_of(weight, X, count)
    if found is not None and not np.any(found[rows] > NONE):
        raise ValueError("weight gives 0 for all calibration rows: no new example is like any of them.")
    return found


def warn_of_everything(outweighed: int, count: int, what: str) -> None:
    """Say how many new examples are so unlike those of calibration that only everything surely holds the truth."""
    if outweighed:
        text = f"{outweighed} of {count} new examples outweigh those of calibration: {what}."
        warnings.warn(text, UserWarning, stacklevel=3)


def effective_count(weights: Array) -> float:
    """How many examples of equal weight are worth as much: (sum w)^2 / sum w^2."""
    return float(np.sum(weights) ** 2 / np.sum(weights**2))
