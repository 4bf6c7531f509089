"""The value up to which a + b s reaches some weight, for s among the scores of each fold: without an array of all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..labels import Array
from .pools import Ordered
from .quantiles import ROUNDING

FOLDS = 50
"""Above so many folds, as in leave-one-out, all numbers of some rows at a time are put in order."""
HALVINGS = 40
NUMBERS = 2**20
"""How many are put in order at a time, then."""


def ranked(at: Array, by: Array, parts: Sequence[Ordered], wanted: Any) -> Array:
    """For each column j the least v with a weight of `wanted` among all at[k, j] + by[k, j] s <= v, s in `parts[k]`.

    Without weights that is the r-th smallest, r from 1. `at` and `by` are (folds, m), `by` is positive; `wanted` is a
    number or (m,), and inf is given where there is less weight. Memory is that of a few arrays of that size.
    """
    if len(parts) == 1:
        return at[0] + by[0] * parts[0].least(wanted)
    filled = [k for k, part in enumerate(parts) if len(part.scores)]
    at, by, parts = at[filled], by[filled], [parts[k] for k in filled]
    total: Any = sum([part.total for part in parts])
    found = (_by_order if len(parts) > FOLDS else _by_halving)(at, by, parts, np.minimum(wanted, total))
    return np.where(np.asarray(wanted) > total, np.inf, found)


def _by_halving(at: Array, by: Array, parts: Sequence[Ordered], wanted: Any) -> Array:
    """Halve an interval with too little below it and enough up to its end; then look at those in it."""
    filled = list(zip(at, by, parts, strict=True))

    def up_to(values: Array) -> Any:
        return sum([part.up_to((values - a) / b) for a, b, part in filled])

    low = np.min([a + b * part.scores[0] for a, b, part in filled], axis=0)
    high = np.max([a + b * part.scores[-1] for a, b, part in filled], axis=0)
    low = low - (np.abs(low) + (high - low)) * 1e-9 - 1e-300
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = up_to(middle) >= wanted
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    while True:  # what comes next after `low`; more than one step only where numbers are as close as rounding
        following = np.full(low.shape, np.inf)
        for a, b, part in filled:
            places = np.searchsorted(part.scores, (low - a) / b, side="right")
            candidates = a + b * part.scores[np.minimum(places, len(part.scores) - 1)]
            inside = places < len(part.scores)
            np.minimum(following, np.where(inside, np.maximum(candidates, low), np.inf), out=following)
        short = up_to(following) < wanted
        if not np.any(short & (following > low)):
            return following
        low = np.where(short, following, low)


def _by_order(at: Array, by: Array, parts: Sequence[Ordered], wanted: Any) -> Array:
    fold = np.repeat(np.arange(len(parts)), [len(part.scores) for part in parts])
    flat = np.concatenate([part.scores for part in parts])
    weights = [np.diff(part.reached) for part in parts if part.reached is not None]
    target = np.broadcast_to(wanted, at.shape[1])
    step = max(1, NUMBERS // len(flat))
    found = np.empty(at.shape[1])
    for j in range(0, at.shape[1], step):
        block = slice(j, j + step)
        values = at[fold, block] + by[fold, block] * flat[:, None]
        if not weights:
            found[block] = np.partition(values, int(wanted) - 1, axis=0)[int(wanted) - 1]
            continue
        order = np.argsort(values, axis=0)
        short = np.cumsum(np.concatenate(weights)[order], axis=0) < target[block] * (1.0 - ROUNDING)
        place = np.minimum(np.sum(short, axis=0), len(flat) - 1)
        found[block] = np.take_along_axis(values, np.take_along_axis(order, place[None], axis=0), axis=0)[0]
    return found
