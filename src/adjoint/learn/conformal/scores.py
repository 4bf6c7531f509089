"""How strange a class looks for an example: scores of conformal classification.

"lac" is -p, the order of 1 - p, which gives the smallest sets (with the 1, all p below 1e-16 would be alike); "aps"
adds up the probabilities of the classes before this one, largest first, so that hard examples get larger sets; "raps"
and "saps" are "aps" that likes short sets better.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from ..labels import Array

Method = Literal["lac", "aps", "raps", "saps"]
PENALTY, FREE = 0.01, 5  # of "raps": for each class after the first five
FURTHER = 0.1  # of "saps": what each class after the first adds


def of_all_classes(method: Method | Callable[[Array], Array], p: Array, luck: Array) -> Array:
    """The scores of all classes of all examples, shape (n, classes); `luck`, in [0, 1), breaks ties by chance."""
    if callable(method):
        return np.asarray(method(p), dtype=np.float64)
    if method == "lac":
        return -p
    order = np.argsort(-p, axis=1, kind="stable")
    ordered = np.take_along_axis(p, order, axis=1)
    scores = _by_rank(method, np.cumsum(ordered, axis=1), ordered, luck[:, None], np.arange(p.shape[1]))
    found = np.empty_like(scores)
    np.put_along_axis(found, order, scores, axis=1)
    return found


def of_one_class(method: Method | Callable[[Array], Array], p: Array, codes: Array, luck: Array) -> Array:
    """The score of one class of each example, shape (n,): without sorting the others."""
    rows = np.arange(len(codes))
    own = p[rows, codes]
    if callable(method):
        return np.asarray(method(p), dtype=np.float64)[rows, codes]
    if method == "lac":
        return -own
    # of equal probabilities the class with the smaller number comes first, as in a stable sort
    first = (p > own[:, None]) | ((p == own[:, None]) & (np.arange(p.shape[1]) < codes[:, None]))
    before = np.einsum("ij,ij->i", p, first)
    if method == "saps":
        return _by_rank(method, p.max(axis=1), own, luck, first.sum(axis=1))
    return _by_rank(method, before + own, own, luck, first.sum(axis=1))


def held_by(method: Method | Callable[[Array], Array], p: Array, luck: Array, threshold: Array) -> Array:
    """Whether each class is in the set: its score is at most the threshold, (1, classes), (n, 1) or a number.

    Scores grow with the rank, so that a set is the likeliest so many: probabilities are sorted, not their classes.
    """
    if callable(method) or method == "lac" or np.shape(threshold)[-1:] not in ((), (1,)):
        return of_all_classes(method, p, luck) <= threshold
    falling = -np.sort(-p, axis=1)
    sizes = np.sum(
        _by_rank(method, np.cumsum(falling, axis=1), falling, luck[:, None], np.arange(p.shape[1])) <= threshold, axis=1
    )
    last = np.take_along_axis(falling, np.maximum(sizes - 1, 0)[:, None], axis=1)
    held = (p >= last) & (sizes > 0)[:, None]
    tied = np.flatnonzero(held.sum(axis=1) != sizes)
    if len(tied):
        limit = threshold[tied] if np.ndim(threshold) else threshold
        held[tied] = of_all_classes(method, p[tied], luck[tied]) <= limit
    return held


def _by_rank(method: Method, reached: Array, own: Array, luck: Array, rank: Array) -> Array:
    """The score of the class at a rank, counted from 0, where the sum up to it is `reached`."""
    if method == "saps":  # of the probabilities the largest alone
        largest = reached[..., :1] if reached.ndim == 2 else reached
        return np.where(rank == 0, luck * largest, largest + FURTHER * (rank - 1 + luck))
    scores = reached - luck * own
    return scores + PENALTY * np.maximum(rank + 1 - FREE, 0) if method == "raps" else scores
