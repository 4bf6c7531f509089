"""NumPy's functions that move elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.traced import Traced
from ..core.values import dtype_of, shape_of
from ..ops import shape as ops
from .registry import NO_VALUE, as_value, axes_of, axis_of, deliver, given, implements, ndim_of


@implements(np.reshape)
def reshape(a: Any, /, shape: Any = None, order: str = "C", *, newshape: Any = NO_VALUE, copy: Any = None) -> Any:
    """`np.reshape`."""
    a = as_value(a)
    shape = newshape if given(newshape) else shape
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple([int(n) for n in shape])
    if -1 in shape:
        known = -int(np.prod(shape))
        size = int(np.prod(shape_of(a)))
        if known == 0 or size % known:
            raise ValueError(f"cannot reshape array of size {size} into shape {shape}")
        shape = tuple([size // known if n == -1 else n for n in shape])
    if shape == shape_of(a):
        return a
    if order == "F":
        return np.transpose(ops.reshape(np.transpose(a), shape=shape[::-1]))
    return ops.reshape(a, shape=shape)


@implements(np.ravel)
def ravel(a: Any, order: str = "C") -> Any:
    """`np.ravel`."""
    return np.reshape(a, (-1,), order)


@implements(np.transpose, np.permute_dims)
def transpose(a: Any, axes: Any = None) -> Any:
    """`np.transpose`."""
    a = as_value(a)
    n = ndim_of(a)
    if axes is None:
        axes = range(n - 1, -1, -1)
    axes = tuple([axis_of(x, n) + n for x in axes])
    if sorted(axes) != list(range(n)):
        raise ValueError("axes don't match array")
    return a if n < 2 else ops.transpose(a, axes=axes)


@implements(np.swapaxes)
def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """`np.swapaxes`."""
    axes = list(range(ndim_of(a)))
    axes[axis1], axes[axis2] = axes[axis2], axes[axis1]
    return np.transpose(a, axes)


@implements(np.squeeze)
def squeeze(a: Any, axis: Any = None) -> Any:
    """`np.squeeze`."""
    shape = shape_of(a)
    n = len(shape)
    drop = [i - n for i in range(n) if shape[i] == 1] if axis is None else axes_of(axis, n)
    if any(shape[i] != 1 for i in drop):
        raise ValueError("cannot select an axis to squeeze out which has size not equal to one")
    return np.reshape(a, tuple([m for i, m in enumerate(shape) if i - n not in drop]))


@implements(np.expand_dims)
def expand_dims(a: Any, axis: Any) -> Any:
    """`np.expand_dims`."""
    many = axis if isinstance(axis, (tuple, list)) else (axis,)
    n = ndim_of(a) + len(many)
    new = axes_of(axis, n)
    rest = iter(shape_of(a))
    return np.reshape(a, tuple([1 if i - n in new else next(rest) for i in range(n)]))


@implements(np.broadcast_to)
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    """`np.broadcast_to`."""
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    return array if shape == shape_of(array) else ops.broadcast_to(array, shape=shape)


@implements(np.concatenate)
def concatenate(arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """`np.concatenate`."""
    parts = [as_value(a) for a in arrays]
    if axis is None:
        parts, axis = [np.reshape(p, (-1,)) for p in parts], 0
    joined = ops.concatenate(*parts, axis=axis_of(axis, ndim_of(parts[0])))
    return deliver(np.astype(joined, dtype) if given(dtype) else joined, out)


@implements(np.stack)
def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    """`np.stack`."""
    parts = [as_value(a) for a in arrays]
    if not parts:
        raise ValueError("need at least one array to stack")
    if len({shape_of(p) for p in parts}) != 1:
        raise ValueError("all input arrays must have the same shape")
    where = axis_of(axis, ndim_of(parts[0]) + 1)
    return concatenate([np.expand_dims(p, where) for p in parts], where, out, dtype=dtype)


@implements(np.flip)
def flip(m: Any, axis: Any = None) -> Any:
    """`np.flip`."""
    return ops.flip(m, axis=axes_of(axis, ndim_of(m)))


@implements(np.astype)
def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """`np.astype`."""
    return x.astype(dtype) if isinstance(x, (Traced, np.ndarray)) else np.asarray(x).astype(dtype)[()]


@implements(np.moveaxis)
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """`np.moveaxis`."""
    n = ndim_of(a)
    sources = [axis_of(s, n) + n for s in (source if isinstance(source, (tuple, list)) else (source,))]
    targets = [axis_of(d, n) + n for d in (destination if isinstance(destination, (tuple, list)) else (destination,))]
    order = [i for i in range(n) if i not in sources]
    for target, origin in sorted(zip(targets, sources, strict=True)):
        order.insert(target, origin)
    return np.transpose(a, order)


def same_dtype(a: Any, dtype: Any) -> Any:
    """`a` cast to `dtype`, unless it was not given or is the same already."""
    return np.astype(a, dtype) if given(dtype) and dtype_of(a) != np.dtype(dtype) else a
