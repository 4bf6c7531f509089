"""What an interval is made of: where it begins, how its width is measured, how errors become scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_val_predict

from ..labels import Array
from .quantiles import rank_of

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
    if method == "distribution":
        return Distribution()
    raise ValueError(f"method has to be 'absolute', 'normalised', 'quantile' or 'distribution', got {method!r}.")


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

    def ranks(self, count: int, coverage: float) -> tuple[int, int]:
        """Which of so many scores, from 1, are the lower and the upper end."""
        rank = rank_of(count, coverage)
        return rank, rank

    def check(self, count: int, coverage: float) -> None:
        """Refuse a coverage for which there are too few scores."""
        self.ranks(count, coverage)


@dataclass(frozen=True)
class Normalised(Band):
    """f(x) -+ s d(x), with d the size of errors that is expected at x."""

    scale: Any = None

    def prepared(self, estimator: Any) -> Any:
        """One that predicts the size of its errors too."""
        return estimator if isinstance(estimator, FrozenEstimator) else WithScale(estimator, self.scale)

    def parts(self, estimator: Any, X: Any) -> tuple[Array, Array, Array]:
        """With the expected size of errors as the width."""
        middle, width = estimator.predict(X, return_std=True)
        return middle, middle, width


@dataclass(frozen=True)
class Distribution(Band):
    """Signed scores (y - f(x)) / d(x): their quantiles are those of a distribution around f(x)."""

    is_signed = True

    def parts(self, estimator: Any, X: Any) -> tuple[Array, Array, Array]:
        """With the deviation of the estimator as the width, if it gives one."""
        inner = estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator
        if "return_std" in getattr(type(inner).predict, "__code__", _nothing.__code__).co_varnames:
            middle, width = inner.predict(X, return_std=True)
            return middle, middle, width
        return super().parts(estimator, X)

    def scores(self, estimator: Any, X: Any, y: Array) -> Array:
        """With their sign."""
        middle, _, width = self.parts(estimator, X)
        return (y - middle) / width

    def ranks(self, count: int, coverage: float) -> tuple[int, int]:
        """Half of what is left out on either side."""
        above = rank_of(count, (1.0 + coverage) / 2)
        return count + 1 - above, above


def _nothing() -> None: ...


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


class WithScale(RegressorMixin, BaseEstimator):
    """A regressor beside one of the size of its errors."""

    def __init__(self, estimator: Any, scale: Any = None) -> None:
        self.estimator = estimator
        self.scale = scale

    def fit(self, X: Any, y: Any) -> WithScale:
        """Fit both; the second to errors on rows that were left out."""
        errors = np.abs(y - cross_val_predict(self.estimator, X, y))
        self.estimator_ = clone(self.estimator).fit(X, y)
        self.scale_ = clone(self.estimator if self.scale is None else self.scale).fit(X, errors)
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

    def fit(self, X: Any, y: Any) -> TwoQuantiles:
        """Fit both."""
        given = self.estimator.get_params()
        name = "quantile" if "quantile" in given else "alpha"
        if name not in given or given.get("loss", "quantile") != "quantile":
            raise ValueError(
                f"method='quantile' takes an estimator with a parameter quantile, or alpha with loss='quantile', "
                f"got {type(self.estimator).__name__}."
            )
        tail = (1.0 - self.coverage) / 2
        self.estimators_ = [clone(self.estimator).set_params(**{name: q}).fit(X, y) for q in (tail, 1.0 - tail)]
        return self

    def predict(self, X: Any) -> Array:
        """Lower and upper quantile, shape (n, 2)."""
        return np.stack([e.predict(X) for e in self.estimators_], axis=1)
