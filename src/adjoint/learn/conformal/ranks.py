"""The r-th smallest of all a_k + b_k s, for s among the sorted scores of fold k: without an array of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..labels import Array

FOLDS = 50
"""Above so many folds, as in leave-one-out, all numbers of some rows at a time are put in order."""
HALVINGS = 40
NUMBERS = 2**20
"""How many are put in order at a time, then."""


def ranked(at: Array, by: Array, scores: Sequence[Array], rank: int) -> Array:
    """For each column j the r-th smallest, r from 1, of at[k, j] + by[k, j] s over all folds k and s in `scores[k]`.

    `at` and `by` are (folds, m), `by` is positive; memory is that of a few of them.
    """
    if len(scores) == 1:
        return at[0] + by[0] * scores[0][rank - 1]
    return _by_order(at, by, scores, rank) if len(scores) > FOLDS else _by_halving(at, by, scores, rank)


def _by_halving(at: Array, by: Array, scores: Sequence[Array], rank: int) -> Array:
    """Halve an interval with fewer than r numbers below it and r or more up to its end; then look at those in it."""
    filled = [(a, b, s) for a, b, s in zip(at, by, scores, strict=True) if len(s)]

    def up_to(values: Array) -> Any:
        return sum([np.searchsorted(s, (values - a) / b, side="right") for a, b, s in filled])

    low = np.min([a + b * s[0] for a, b, s in filled], axis=0)
    high = np.max([a + b * s[-1] for a, b, s in filled], axis=0)
    low = low - (np.abs(low) + (high - low)) * 1e-9 - 1e-300
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = up_to(middle) >= rank
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    while True:  # what comes next after `low`; more than one step only where numbers are as close as rounding
        following = np.full(low.shape, np.inf)
        for a, b, s in filled:
            places = np.searchsorted(s, (low - a) / b, side="right")
            candidates = a + b * s[np.minimum(places, len(s) - 1)]
            np.minimum(following, np.where(places < len(s), np.maximum(candidates, low), np.inf), out=following)
        short = up_to(following) < rank
        if not np.any(short & (following > low)):
            return following
        low = np.where(short, following, low)


def _by_order(at: Array, by: Array, scores: Sequence[Array], rank: int) -> Array:
    fold = np.repeat(np.arange(len(scores)), [len(s) for s in scores])
    flat = np.concatenate(list(scores))
    step = max(1, NUMBERS // len(flat))
    parts = [
        np.partition(at[fold, j : j + step] + by[fold, j : j + step] * flat[:, None], rank - 1, axis=0)[rank - 1]
        for j in range(0, at.shape[1], step)
    ]
    return np.concatenate(parts)
