"""Array manipulation: tiling, adding and removing elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.values import dtype_of, shape_of
from ....ops import shape as ops
from ...dispatch.arguments import as_value, axis_of, ndim_of, same_dtype
from ...dispatch.conversions import places
from ...dispatch.registry import implements
from ...dispatch.views import arrayed
from ..places import as_array, moved
from .joining import concatenate


@implements(np.tile, exact=True)
def tile(A: Any, reps: Any) -> Any:
    """`np.tile`."""
    A = as_value(A)
    reps = (int(reps),) if np.ndim(reps) == 0 else tuple([int(r) for r in reps])
    n = max(len(reps), ndim_of(A))
    reps, shape = (1,) * (n - len(reps)) + reps, (1,) * (n - ndim_of(A)) + shape_of(A)
    wide = np.reshape(A, tuple([m for length in shape for m in (1, length)]))
    wide = ops.broadcast_to(wide, shape=tuple([m for pair in zip(reps, shape, strict=True) for m in pair]))
    return np.copy(np.reshape(wide, tuple([r * length for r, length in zip(reps, shape, strict=True)])))


@implements(np.repeat, exact=True)
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """`np.repeat`."""
    a = as_value(a)
    a = np.reshape(a, (-1,)) if axis is None or ndim_of(a) == 0 else a
    where = axis_of(0 if axis is None else axis, ndim_of(a))
    return np.take(a, np.repeat(np.arange(shape_of(a)[where]), repeats), where)


@implements(np.delete)
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """`np.delete`."""
    obj = places(obj)
    return moved(lambda a: np.delete(a, obj, axis), arr)


@implements(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """`np.insert`."""
    arr = as_value(arr)
    values = same_dtype(as_array(values), dtype_of(arr))
    obj = places(obj)
    return moved(lambda a, v: np.insert(a, obj, v, axis), arr, values)


@implements(np.append)
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """`np.append`."""
    if axis is None:
        return concatenate([np.ravel(as_value(arr)), np.ravel(as_value(values))], 0)
    return concatenate([arr, values], axis)


@implements(np.resize)
def resize(a: Any, new_shape: Any) -> Any:
    """`np.resize`."""
    a = as_array(a)
    if 0 in shape_of(a):
        return np.zeros_like(a, shape=np.resize(np.zeros(shape_of(a)), new_shape).shape)
    return arrayed(moved(lambda numbers: np.resize(numbers, new_shape), a))


@implements(np.trim_zeros)
def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """`np.trim_zeros`; how much is trimmed is a constant. Of a list a list is left."""
    given, filt = filt, as_value(filt)
    trim = trim.lower()
    if trim not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    n = ndim_of(filt)
    axes = range(n) if axis is None else [axis_of(a, n) + n for a in (axis if np.iterable(axis) else (axis,))]
    if len(set(axes)) != len(axes):
        raise ValueError("repeated axis in `axis` argument")
    if not axes:
        return given
    found = np.argwhere(filt)
    cut: list[slice] = [slice(None)] * n
    for a in axes:
        start, stop = (int(found[:, a].min()), int(found[:, a].max()) + 1) if len(found) else (0, 0)
        cut[a] = slice(
            start if "f" in trim or not len(found) else None, stop if "b" in trim or not len(found) else None
        )
    return given[cut[0]] if n == 1 else given[tuple(cut)]
