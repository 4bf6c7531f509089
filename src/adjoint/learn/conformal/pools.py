"""Calibration scores in order, by group and fold, with weights: how many are as strange, and which is the threshold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..labels import Array
from .quantiles import ROUNDING, rank_of


@dataclass(frozen=True)
class Ordered:
    """Scores in rising order; `reached[k]` is the weight of the first k of them, None if each has weight 1."""

    scores: Array
    reached: Array | None = None

    @classmethod
    def of(cls, scores: Array, weights: Array | None = None) -> Ordered:
        """Scores in any order, with their weights."""
        order = slice(None) if weights is None else np.argsort(scores, kind="stable")
        ordered = np.sort(scores) if weights is None else scores[order]
        if len(ordered) and np.isnan(ordered[-1]):  # NaN is sorted to the end
            raise ValueError("scores of calibration rows are NaN: the estimator predicted NaN, or y has some.")
        return cls(ordered, None if weights is None else np.append(0.0, np.cumsum(weights[order])))

    @property
    def total(self) -> float:
        """The weight of all."""
        return float(len(self.scores) if self.reached is None else self.reached[-1])

    @property
    def mirrored(self) -> Ordered:
        """The scores with the other sign."""
        back = None if self.reached is None else (self.reached[-1] - self.reached)[::-1]
        return Ordered(-self.scores[::-1], back)

    def least(self, wanted: Any) -> Any:
        """The least score with a weight of `wanted` up to it, or of that rank; inf where there is less."""
        if self.reached is None:
            return self.scores[wanted - 1]
        return np.append(self.scores, np.inf)[np.searchsorted(self.reached[1:], wanted)]

    def up_to(self, values: Array) -> Array:
        """The weight of scores of at most `values`."""
        places = np.searchsorted(self.scores, values, side="right")
        return places if self.reached is None else self.reached[places]

    def as_strange(self, values: Array) -> Array:
        """The weight of scores of at least `values`."""
        places = np.searchsorted(self.scores, values, side="left")
        return len(self.scores) - places if self.reached is None else self.reached[-1] - self.reached[places]


@dataclass(frozen=True)
class Pool:
    """The scores of one group: a part for each fold, which may be empty."""

    parts: list[Ordered]

    @property
    def count(self) -> int:
        """How many scores there are."""
        return sum(len(part.scores) for part in self.parts)

    @property
    def total(self) -> float:
        """The weight of all."""
        return sum(part.total for part in self.parts)

    def wanted(self, coverage: float, own: Array | None) -> Any:
        """The weight that a threshold has to reach: a rank, or one number for each new example of weight `own`.

        A new example counts as infinitely strange, with its own weight.
        """
        if own is None:
            return rank_of(self.count, coverage)
        return (coverage - ROUNDING) * (self.total + own)

    def threshold(self, coverage: float, own: Array | None) -> Any:
        """For a single fold: the least score with a share of `coverage` up to it; inf where calibration has less."""
        (part,) = self.parts
        return part.least(self.wanted(coverage, own))


def pooled(folds: Iterable[tuple[Array, Array, Array | None]]) -> dict[Any, Pool]:
    """The scores of each group, from the scores, groups and weights of each fold."""
    every = list(folds)
    names = np.unique(np.concatenate([groups for _, groups, _ in every]))
    found: dict[Any, Pool] = {name: Pool([]) for name in names.tolist()}
    for scores, groups, weights in every:
        for name, pool in found.items():
            mine = groups == name if len(names) > 1 else slice(None)
            pool.parts.append(Ordered.of(scores[mine], None if weights is None else weights[mine]))
    return found
