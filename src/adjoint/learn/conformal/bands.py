"""What an interval is made of: where it begins, how its width is measured, how errors become scores."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold
from sklearn.utils import _safe_indexing

from ..labels import Array
from ..scoring import Metadata, cross_fitted, fitted

FLOOR = 0.05
"""Predicted sizes of errors below this quantile of those seen are raised to it: none may be 0, or below."""


def band_of(method: str, scale: Any, coverage: float) -> Band:
    """The band that a name stands for."""
    if method == "absolute":
        return Band()
    if method == "normalised":
        return Normalised(scale)
    if method == "quantile":
        return Quantiles(coverage)
    return Distribution()


@dataclass(frozen=True)
class Band:
    """f(x) - s to f(x) + s, for the scores s = |y - f(x)|."""

    is_signed = False

    def prepared(self, estimator: Any) -> Any:
        """The estimator that is fitted in each fold."""
        return estimator

    def middle(self, estimator: Any, X: Any) -> Array:
        """What is predicted."""
        return np.asarray(estimator.predict(X))

    def parts(self, estimator: Any, X: Any) -> tuple[Array, Array, Array]:
        """The ends of an interval of score 0, and by how much a score of 1 moves them."""
        middle = np.asarray(estimator.predict(X), dtype=np.float64)
        return middle, middle, np.ones_like(middle)

    def scores(self, estimator: Any, X: Any, y: Array) -> Array:
        """How far each true value is outside an interval of score 0."""
        low, high, width = self.parts(estimator, X)
        return np.maximum(low - y, y - high) / width

    def level(self, coverage: float) -> float:
        """The share of scores that either end holds by itself."""
        return coverage


@dataclass(frozen=True)
class Normalised(Band):
    """f(x) -+ s d(x), with d the size of errors that is expected at x."""

    scale: Any = None

    def prepared(self, estimator: Any) -> Any:
        """One that predicts the size of its errors too."""
        if self.scale is None and gives_deviation(estimator):
            return estimator
        if isinstance(estimator, FrozenEstimator):
            raise ValueError(
                "method='normalised' takes a frozen estimator that has predict(X, return_std=True), and no scale, "
                f"got {type(estimator.estimator).__name__} and scale={self.scale!r}."
            )
        return WithScale(estimator, self.scale)

    def parts(self, estimator: Any, X: Any) -> tuple[Array, Array, Array]:
        """With the expected size of errors as the width."""
        return with_deviation(estimator, X)


@dataclass(frozen=True)
class Distribution(Band):
    """Signed scores (y - f(x)) / d(x): their quantiles are those of a distribution around f(x)."""

    is_signed = True

    def parts(self, estimator: Any, X: Any) -> tuple[Array, Array, Array]:
        """With the deviation of the estimator as the width, if it gives one."""
        return with_deviation(estimator, X) if gives_deviation(estimator) else super().parts(estimator, X)

    def scores(self, estimator: Any, X: Any, y: Array) -> Array:
        """With their sign."""
        middle, _, width = self.parts(estimator, X)
        return (y - middle) / width

    def level(self, coverage: float) -> float:
        """Half of what is left out on either side."""
        return (1.0 + coverage) / 2


@dataclass(frozen=True)
class Quantiles(Band):
    """Between two fitted quantiles, moved outwards by s, or inwards."""

    coverage: float = 0.9

    def prepared(self, estimator: Any) -> Any:
        """Two, for the quantiles on either side."""
        return estimator if isinstance(estimator, FrozenEstimator) else TwoQuantiles(estimator, self.coverage)

    def middle(self, estimator: Any, X: Any) -> Array:
        """Half way between the two."""
        return np.mean(estimator.predict(X), axis=1)

    def parts(self, estimator: Any, X: Any) -> tuple[Array, Array, Array]:
        """The two quantiles, the lower one first."""
        both = np.sort(estimator.predict(X), axis=1)
        return both[:, 0], both[:, 1], np.ones(len(both))


def gives_deviation(estimator: Any) -> bool:
    """Whether `predict(X, return_std=True)` gives deviations, too."""
    return "return_std" in signature(estimator.predict).parameters


def with_deviation(estimator: Any, X: Any) -> tuple[Array, Array, Array]:
    """What is predicted, twice, and the deviation, which has to be above 0."""
    middle, width = (np.asarray(part, dtype=np.float64) for part in estimator.predict(X, return_std=True))
    if not np.all(width > 0.0):
        raise ValueError(
            f"{type(estimator).__name__}.predict(X, return_std=True) gave a deviation that is not above 0."
        )
    return middle, middle, width


class WithScale(RegressorMixin, BaseEstimator):
    """A regressor beside one of the size of its errors."""

    def __init__(self, estimator: Any, scale: Any = None) -> None:
        self.estimator = estimator
        self.scale = scale

    def fit(self, X: Any, y: Any, **params: Any) -> WithScale:
        """Fit both; the second to errors on rows that were left out, with the same weights if it takes any."""
        metadata = Metadata(params, {})
        errors = np.empty(len(y))
        for estimator, rows in cross_fitted(self.estimator, X, y, cv=KFold(), metadata=metadata):
            errors[rows] = np.abs(y[rows] - estimator.predict(_safe_indexing(X, rows)))
        self.estimator_ = fitted(clone(self.estimator), X, y, metadata=metadata)
        if self.scale is not None:
            metadata = Metadata.of(self.scale, params.get("sample_weight"))
        self.scale_ = fitted(clone(self.estimator if self.scale is None else self.scale), X, errors, metadata=metadata)
        self.floor_ = max(float(np.quantile(errors, FLOOR)), np.finfo(np.float64).tiny)
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The value, and the size of its error."""
        middle = np.asarray(self.estimator_.predict(X), dtype=np.float64)
        if not return_std:
            return middle
        return middle, np.maximum(np.asarray(self.scale_.predict(X), dtype=np.float64), self.floor_)


class TwoQuantiles(RegressorMixin, BaseEstimator):
    """Two clones of a quantile regressor, for the ends of an interval."""

    def __init__(self, estimator: Any, coverage: float = 0.9) -> None:
        self.estimator = estimator
        self.coverage = coverage

    def fit(self, X: Any, y: Any, **params: Any) -> TwoQuantiles:
        """Fit both."""
        given = self.estimator.get_params()
        asks = {name[: -len("loss")] for name, loss in given.items() if name.endswith("loss") and loss == "quantile"}
        every = {name[: -len("quantile")] for name in given if name.rpartition("__")[2] == "quantile"}
        found = [f"{stem}quantile" for stem in every if stem in asks or f"{stem}loss" not in given]
        found = found or [f"{stem}alpha" for stem in asks - every if f"{stem}alpha" in given]
        if len(found) != 1:
            raise ValueError(
                f"method='quantile' takes an estimator with a parameter quantile, or alpha with loss='quantile', "
                f"got {type(self.estimator).__name__}."
            )
        tail = (1.0 - self.coverage) / 2
        self.estimators_ = [
            clone(self.estimator).set_params(**{found[0]: q}).fit(X, y, **params) for q in (tail, 1.0 - tail)
        ]
        return self

    def predict(self, X: Any) -> Array:
        """Lower and upper quantile, shape (n, 2)."""
        return np.stack([e.predict(X) for e in self.estimators_], axis=1)
