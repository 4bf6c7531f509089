"""What is beyond the edges of a signal or an image, for filters that need it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.values import dtype_of, shape_of

CONSTANT = "constant"


def extended(x: Any, axis: int, before: int, after: int, mode: str, value: Any = 0.0) -> Any:
    """The array with `before` and `after` further elements along an axis; the modes are those of `np.pad`."""
    if before <= 0 and after <= 0:
        return x
    before, after = max(before, 0), max(after, 0)
    if mode == CONSTANT:
        shape = list(shape_of(x))
        sides = []
        for n in (before, after):
            shape[axis] = n
            sides.append(np.broadcast_to(np.astype(np.asarray(value), dtype_of(x)), tuple(shape)))
        return np.concatenate([sides[0], x, sides[1]], axis)
    return np.take(x, places(shape_of(x)[axis], before, after, mode), axis)


def places(n: int, before: int, after: int, mode: str) -> Any:
    """Which element stands at each place of an extended axis of length n."""
    return np.pad(np.arange(n), (before, after), mode=mode)  # type: ignore[call-overload]


def windows(x: Any, sizes: Sequence[int]) -> list[Any]:
    """For each offset within a window of these sizes, the array of the elements there, one for each window."""
    shape = shape_of(x)
    cut = [n - size + 1 for n, size in zip(shape, sizes, strict=True)]
    offsets = np.ndindex(*sizes)
    return [x[tuple([slice(o, o + n) for o, n in zip(offset, cut, strict=True)])] for offset in offsets]
