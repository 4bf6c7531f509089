"""Scalings of each class against the others: by steps, and by the pair of steps that Venn-Abers prediction takes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.isotonic import IsotonicRegression, isotonic_regression

from ..labels import Array
from .scaling import given, seen


class IsotonicScaling(TransformerMixin, BaseEstimator):
    """Each class's probability by a rising step function, then normalised; takes some thousand rows for each class."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to logits of shape (n, classes), or (n,) for two classes, and labels."""
        logits, codes, share = given(self, X, y, sample_weight)
        p = softmax(logits, axis=1)
        never = 1.0 / (len(p) + 2.0)  # what has not been seen in so many rows may still be
        self.steps_ = [
            IsotonicRegression(y_min=never, y_max=1.0 - never, out_of_bounds="clip").fit(p[:, k], codes == k, share)
            for k in range(p.shape[1])
        ]
        return self

    def transform(self, X: Any) -> Array:
        """Probabilities of the classes."""
        p = softmax(seen(self, X), axis=1)
        return normalised(np.stack([step.predict(p[:, k]) for k, step in enumerate(self.steps_)], axis=1))


class VennAbersScaling(TransformerMixin, BaseEstimator):
    """Each class against the others by two step functions, with the new example as a member of either class, merged.

    Valid for two classes whatever the scores; for more it is one against all, normalised.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to logits of shape (n, classes), or (n,) for two classes, and labels; weights are not used."""
        logits, codes, _ = given(self, X, y, sample_weight)
        p = softmax(logits, axis=1)
        columns = range(1, 2) if p.shape[1] == 2 else range(p.shape[1])
        self.tables_ = [_VennAbers.of(p[:, k], codes == k) for k in columns]
        return self

    def transform(self, X: Any) -> Array:
        """Probabilities of the classes."""
        p = softmax(seen(self, X), axis=1)
        if p.shape[1] == 2:
            second = self.tables_[0].merged(p[:, 1])
            return np.stack([1.0 - second, second], axis=1)
        return normalised(np.stack([table.merged(p[:, k]) for k, table in enumerate(self.tables_)], axis=1))


class _VennAbers:
    """For scores between those of calibration: the values of the step functions if the example is no, or yes."""

    def __init__(self, scores: Array, low: Array, high: Array) -> None:
        self.scores, self.low, self.high = scores, low, high

    @classmethod
    def of(cls, scores: Array, hits: Array) -> _VennAbers:
        """From calibration scores and whether each came true; both tables by one walk over corners of a convex hull."""
        at, place = np.unique(scores, return_inverse=True)
        counts, sums = np.bincount(place).astype(float), np.bincount(place, hits)
        n = len(at)
        low, high = np.empty(n + 1), np.empty(n + 1)
        for k in range(n + 1):  # the example joins the scores at k, or comes after the last
            for found, label in ((low, 0.0), (high, 1.0)):
                found[k] = _joined(counts, sums, k, label)
        return cls(at, low, high)

    def merged(self, scores: Array) -> Array:
        """One probability from the two: high / (1 - low + high)."""
        places = np.searchsorted(self.scores, scores)
        low, high = self.low[places], self.high[places]
        return high / (1.0 - low + high)


def _joined(counts: Array, sums: Array, k: int, label: float) -> float:
    counts, sums = np.insert(counts, k, 1.0), np.insert(sums, k, label)
    return float(isotonic_regression(sums / counts, sample_weight=counts)[k])


def normalised(p: Array) -> Array:
    """Rows that sum to one; uniform where all are 0."""
    total = np.sum(p, axis=1, keepdims=True)
    return np.where(total > 0.0, p / np.where(total > 0.0, total, 1.0), 1.0 / p.shape[1])
