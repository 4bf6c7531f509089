"""Scalings of each class against the others: by steps, and by the pair of steps that Venn-Abers prediction takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import softmax
from sklearn.isotonic import IsotonicRegression

from ..labels import Array
from .scaling import Scaling, given, seen


class IsotonicScaling(Scaling):
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


class VennAbersScaling(Scaling):
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


@dataclass(frozen=True)
class _VennAbers:
    """At each score of calibration: the value of the step function if a new example there is no, and if it is yes."""

    scores: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, scores: Array, hits: Array) -> _VennAbers:
        """From calibration scores and whether each came true."""
        at, place = np.unique(scores, return_inverse=True)
        counts, sums = np.bincount(place).astype(float), np.bincount(place, hits)
        # yes and no change places if the order does
        low = 1.0 - _joined_by_yes(counts[::-1], (counts - sums)[::-1])[::-1]
        return cls(at, low, _joined_by_yes(counts, sums))

    def merged(self, scores: Array) -> Array:
        """One probability from the two: high / (1 - low + high).

        Between two scores of calibration a yes is pooled with the upper one, a no with the lower one.
        """
        high = np.append(self.high, 1.0)[np.searchsorted(self.scores, scores, side="left")]
        low = np.append(0.0, self.low)[np.searchsorted(self.scores, scores, side="right")]
        return high / (1.0 - low + high)


def _joined_by_yes(counts: Array, sums: Array) -> Array:
    """For each k: the rising step function through sums / counts at k, where one more yes is added at k.

    Its value is the slope over k of the lower hull of running counts and sums, where those before k are moved by
    (-1, -1). From k to k + 1 one corner moves, so that the hull is kept on a stack, its left end on top (Vovk,
    Petej, Fedorova 2015): linear time.
    """
    corners = list(zip(np.cumsum(counts).tolist(), np.cumsum(sums).tolist(), strict=True))
    hull: list[tuple[float, float]] = []
    for corner in [*reversed(corners), (-1.0, -1.0)]:
        _put(hull, corner)
    found = []
    for x, y in corners:
        left, right = hull[-1], hull[-2]
        found.append((right[1] - left[1]) / (right[0] - left[0]))
        moved = (x - 1.0, y - 1.0)
        if _turn(left, right, moved) < 0.0:
            hull.pop()
            _put(hull, moved)
    return np.array(found)


def _put(hull: list[tuple[float, float]], corner: tuple[float, float]) -> None:
    while len(hull) > 1 and _turn(corner, hull[-1], hull[-2]) <= 0.0:
        hull.pop()
    hull.append(corner)


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    """Above 0 if the way from a over b to c turns left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def normalised(p: Array) -> Array:
    """Rows that sum to one; uniform where all are 0."""
    total = np.sum(p, axis=1, keepdims=True)
    return np.where(total > 0.0, p / np.where(total > 0.0, total, 1.0), 1.0 / p.shape[1])
