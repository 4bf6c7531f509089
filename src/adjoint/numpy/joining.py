"""NumPy's functions that put arrays together, and repeat them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.values import dtype_of, shape_of
from ..ops import shape as ops
from .conversions import places
from .places import as_array, moved
from .products import result_dtype
from .registry import as_value, axis_of, deliver, implements, ndim_of
from .shapes import same_dtype


@implements(np.concatenate)
def concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    """`np.concatenate`."""
    parts = [as_value(a) for a in arrays]
    if not parts:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        kind = result_dtype(*parts)  # Python's numbers give way to arrays
        parts = [np.asarray(p, kind) if type(p) in (int, float, complex) else p for p in parts]
        parts, axis = [np.reshape(p, (-1,)) for p in parts], 0
    ranks = [ndim_of(p) for p in parts]
    if 0 in ranks:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    _check_ranks(ranks)
    _check_casting(parts, dtype, casting)
    joined = ops.concatenate(*parts, axis=axis_of(axis, ranks[0]))
    return deliver(same_dtype(joined, dtype), out)


def _check_casting(parts: list[Any], dtype: Any, casting: str) -> None:
    """Whether all arrays may become the dtype that is asked for, or the one they have in common."""
    if dtype is None and casting == "same_kind":
        return
    wanted = np.dtype(dtype) if dtype is not None else np.result_type(*[dtype_of(p) for p in parts])
    for p in parts:
        if not np.can_cast(dtype_of(p), wanted, casting):  # type: ignore[arg-type] # NumPy knows which words there are
            raise TypeError(
                f"Cannot cast array data from {dtype_of(p)!r} to {wanted!r} according to the rule {casting!r}"
            )


def _check_ranks(ranks: list[int]) -> None:
    for i, rank in enumerate(ranks):
        if rank != ranks[0]:
            raise ValueError(
                "all the input array dimensions except for the concatenation axis must match exactly, but the array at "
                f"index 0 has {ranks[0]} dimension(s) and the array at index {i} has {rank} dimension(s)"
            )


@implements(np.stack)
def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """`np.stack`."""
    parts = [as_value(a) for a in arrays]
    if not parts:
        raise ValueError("need at least one array to stack")
    if len({shape_of(p) for p in parts}) != 1:
        raise ValueError("all input arrays must have the same shape")
    _check_casting(parts, dtype, casting)
    joined = ops.stack(*parts, axis=axis_of(axis, ndim_of(parts[0]) + 1))
    return deliver(same_dtype(joined, dtype), out)


@implements(np.vstack)
def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """`np.vstack`."""
    return concatenate([np.atleast_2d(a) for a in tup], 0, dtype=dtype, casting=casting)


@implements(np.hstack)
def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """`np.hstack`."""
    parts = [np.atleast_1d(a) for a in tup]
    return concatenate(parts, 0 if parts and ndim_of(parts[0]) == 1 else 1, dtype=dtype, casting=casting)


@implements(np.dstack)
def dstack(tup: Any) -> Any:
    """`np.dstack`."""
    return concatenate([np.atleast_3d(a) for a in tup], 2)


@implements(np.column_stack)
def column_stack(tup: Any) -> Any:
    """`np.column_stack`."""
    parts = [as_value(a) for a in tup]
    return concatenate([np.reshape(p, (-1, 1)) if ndim_of(p) < 2 else p for p in parts], 1)


@implements(np.block)
def block(arrays: Any) -> Any:
    """`np.block`."""
    leaves: list[Any] = []
    nested = _numbered(arrays, leaves)
    parts = [as_value(leaf) for leaf in leaves]
    return moved(lambda *numbers: np.block(_renamed(nested, numbers)), *parts)


def _numbered(arrays: Any, leaves: list[Any]) -> Any:
    """The nested lists with each array replaced by its number; other containers are for NumPy to refuse."""
    if isinstance(arrays, list):
        return [_numbered(a, leaves) for a in arrays]
    if isinstance(arrays, tuple):
        raise TypeError("arrays is a tuple. Only lists can be used to arrange blocks, and np.block does not allow "
                        "implicit conversion from tuple to ndarray.")  # fmt: skip
    leaves.append(arrays)
    return len(leaves) - 1


def _renamed(nested: Any, numbers: Any) -> Any:
    return [_renamed(n, numbers) for n in nested] if isinstance(nested, list) else numbers[nested]


@implements(np.append)
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """`np.append`."""
    if axis is None:
        return concatenate([np.ravel(as_value(arr)), np.ravel(as_value(values))], 0)
    return concatenate([arr, values], axis)


@implements(np.insert)
def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """`np.insert`."""
    arr = as_value(arr)
    values = same_dtype(as_array(values), dtype_of(arr))
    obj = places(obj)
    return moved(lambda a, v: np.insert(a, obj, v, axis), arr, values)


@implements(np.delete)
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """`np.delete`."""
    obj = places(obj)
    return moved(lambda a: np.delete(a, obj, axis), arr)


@implements(np.tile)
def tile(A: Any, reps: Any) -> Any:
    """`np.tile`."""
    A = as_value(A)
    reps = (int(reps),) if np.ndim(reps) == 0 else tuple([int(r) for r in reps])
    n = max(len(reps), ndim_of(A))
    reps, shape = (1,) * (n - len(reps)) + reps, (1,) * (n - ndim_of(A)) + shape_of(A)
    wide = np.reshape(A, tuple([m for length in shape for m in (1, length)]))
    wide = ops.broadcast_to(wide, shape=tuple([m for pair in zip(reps, shape, strict=True) for m in pair]))
    return np.copy(np.reshape(wide, tuple([r * length for r, length in zip(reps, shape, strict=True)])))


@implements(np.repeat)
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    """`np.repeat`."""
    a = as_value(a)
    a = np.reshape(a, (-1,)) if axis is None or ndim_of(a) == 0 else a
    where = axis_of(0 if axis is None else axis, ndim_of(a))
    return np.take(a, np.repeat(np.arange(shape_of(a)[where]), repeats), where)


@implements(np.resize)
def resize(a: Any, new_shape: Any) -> Any:
    """`np.resize`."""
    a = as_array(a)
    if 0 in shape_of(a):
        return np.zeros_like(a, shape=np.resize(np.zeros(shape_of(a)), new_shape).shape)
    return moved(lambda numbers: np.resize(numbers, new_shape), a)


@implements(np.roll)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """`np.roll`."""
    a = as_value(a)
    if axis is None:
        return np.reshape(roll(np.reshape(a, (-1,)), shift, 0), shape_of(a))
    pairs = np.broadcast(shift, axis)
    if pairs.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    total: dict[int, int] = {}
    for steps, where in pairs:
        where = axis_of(where.item() if isinstance(where, np.generic) else where, ndim_of(a))
        total[where] = total.get(where, 0) + int(steps)
    if not shape_of(a):
        raise ValueError("an array without axes cannot be rolled along an axis")
    return ops.roll(a, shift=tuple(total.values()), axis=tuple(total)) if total else np.copy(a)
