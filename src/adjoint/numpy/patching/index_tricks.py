"""NumPy's names that are objects or convert by themselves: r_, c_, ndenumerate, broadcast, asarray_chkfinite."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...core.errors import DerivativeDroppedError, message
from ...core.traced import Traced
from ...core.values import decidable, describe, dtype_of
from ..dispatch.arguments import holds_traced, ndim_of
from .constructors import array


class Joiner:
    """`np.r_` and `np.c_`, also for traced values: what they take is put together along an axis."""

    def __init__(self, original: Any) -> None:
        self.original = original

    def __getitem__(self, key: Any) -> Any:
        """Concatenate the entries; slices are ranges, a first string is a directive, as in NumPy."""
        entries = key if isinstance(key, tuple) else (key,)
        if not holds_traced(entries):
            return self.original[key]
        axis, rank, first_axis = self.original.axis, self.original.ndmin, self.original.trans1d
        if isinstance(entries[0], str):
            axis, rank, first_axis = _directive(entries[0], axis, rank, first_axis)
            entries = entries[1:]
        parts = [self.original[e] if isinstance(e, slice) and rank == 1 else e for e in entries]
        parts = [np.ravel(self.original[e]) if isinstance(e, slice) else e for e in parts]
        return np.concatenate([_placed(array(p, copy=None), rank, first_axis) for p in parts], axis)

    def __len__(self) -> int:
        return 0


def _directive(text: str, axis: int, rank: int, first_axis: int) -> tuple[int, int, int]:
    """The numbers in "axis,rank,first axis"."""
    if text in ("r", "c"):
        raise ValueError("np.matrix has no traced counterpart; join with np.concatenate")
    try:
        numbers = [int(n) for n in text.split(",")]
    except ValueError:
        raise ValueError(f"unknown special directive {text!r}") from None
    return tuple(numbers + [axis, rank, first_axis][len(numbers) :])  # type: ignore[return-value]


def _placed(x: Any, rank: int, first_axis: int) -> Any:
    """An array with at least `rank` axes, its own beginning at `first_axis`."""
    missing = rank - ndim_of(x)
    if missing <= 0:
        return x
    wide = np.reshape(x, (1,) * missing + x.shape)
    if first_axis == -1:
        return wide
    first = first_axis + missing + 1 if first_axis < 0 else first_axis
    axes = list(range(rank))
    return np.transpose(wide, axes[:first] + axes[missing:] + axes[first:missing])


def ndenumerate(arr: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """`np.ndenumerate`: every place with the traced element there."""
    if not isinstance(arr, Traced):
        return np.ndenumerate(arr)  # type: ignore[no-any-return]
    return iter([(place, arr[place]) for place in np.ndindex(arr.shape)])


class Broadcast:
    """`np.broadcast`: the shape that arrays have together, and their elements side by side."""

    def __new__(cls, *args: Any) -> Any:
        """NumPy's own, if nothing is traced."""
        return super().__new__(cls) if holds_traced(args) else np.broadcast(*args)

    def __init__(self, *args: Any) -> None:
        self._arrays = [array(a, copy=None) for a in args]
        self.shape = np.broadcast_shapes(*[a.shape for a in self._arrays])
        self.ndim = self.nd = len(self.shape)
        self.size, self.numiter = math.prod(self.shape), len(args)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return zip(*[np.broadcast_to(a, self.shape).flat for a in self._arrays], strict=True)


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    """`np.require`; how a traced array lies in memory is not the user's to say."""
    if not isinstance(a, Traced) and not holds_traced([a]):
        return np.require(a, dtype, requirements)
    return array(a, dtype, copy=None)


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    """`np.asarray_chkfinite`."""
    if not isinstance(a, Traced) and not holds_traced([a]):
        return np.asarray_chkfinite(a, dtype, order)
    found = array(a, dtype, copy=None)
    if dtype_of(found).kind in "fc" and not np.all(np.isfinite(decidable(found))):
        raise ValueError("array must not contain infs or NaNs")
    return found


def nditer(op: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.nditer`: its elements are plain memory, so there is no place for a derivative."""
    if not holds_traced([op]):
        return np.nditer(op, *args, **kwargs)
    raise DerivativeDroppedError(
        message(
            "np.nditer looks at plain memory, so a traced value would lose its derivative there.",
            got=describe(op),
            fix="Use  for element in x.flat  or  for place, element in np.ndenumerate(x).",
        )
    )


VERSIONS: dict[str, Any] = {
    "r_": Joiner(np.r_),
    "c_": Joiner(np.c_),
    "broadcast": Broadcast,
    "ndenumerate": ndenumerate,
    "nditer": nditer,
    "require": require,
    "asarray_chkfinite": asarray_chkfinite,
}
"""What these names stand for while a function is traced."""
