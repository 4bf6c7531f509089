"""Array manipulation: the shape, and changing it. Views, as NumPy's are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.traced import Traced
from ....core.values import concrete, shape_of
from ....ops import shape as ops
from ...dispatch.arguments import NO_VALUE, as_value, axes_of, given, lengths_of, ndim_of
from ...dispatch.registry import implements
from ...dispatch.views import as_method, fresh_handle, view_of
from .axes import turned


@implements(np.shape, exact=True, formal=True)
def shape(a: Any) -> tuple[int, ...]:
    """`np.shape`."""
    return shape_of(as_value(a))


@implements(np.ndim, exact=True, formal=True)
def ndim(a: Any) -> int:
    """`np.ndim`."""
    return ndim_of(as_value(a))


@implements(np.size, exact=True, formal=True)
def size(a: Any, axis: Any = None) -> int:
    """`np.size`."""
    lengths = shape_of(as_value(a))
    return math.prod([lengths[i] for i in axes_of(axis, len(lengths))])


@implements(np.reshape, exact=True)
def reshape(a: Any, /, shape: Any = None, order: str = "C", *, newshape: Any = NO_VALUE, copy: Any = None) -> Any:
    """`np.reshape`."""
    a = as_method(as_value(a))
    wanted = _full_shape(newshape if given(newshape) else shape, a)
    order = _order(a, order)
    found = view_of(
        a, lambda base: reshaped(base, wanted, order), lambda base, new: reshaped(new, shape_of(base), order)
    )
    if copy:
        return found.copy()
    if copy is False and np.size(concrete(a)) and not np.may_share_memory(concrete(found), concrete(a)):
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return found


def reshaped(a: Any, shape: tuple[int, ...], order: str = "C") -> Any:
    """The elements in another shape, without the sharing."""
    if shape == shape_of(a):
        return a
    if order == "F":
        return turned(ops.reshape(turned(a), shape=shape[::-1]))
    return ops.reshape(a, shape=shape)


def _full_shape(shape: Any, a: Any) -> tuple[int, ...]:
    """The shape with its unknown length, written -1, found out."""
    shape = lengths_of(shape)
    size = math.prod(shape_of(a))
    if -1 in shape:
        known = -math.prod(shape)
        if shape.count(-1) > 1:
            raise ValueError("can only specify one unknown dimension")
        if known == 0 or size % known:
            raise ValueError(f"cannot reshape array of size {size} into shape {shape}")
        return tuple([size // known if n == -1 else n for n in shape])
    if math.prod(shape) != size or any(n < 0 for n in shape):
        raise ValueError(f"cannot reshape array of size {size} into shape {shape}")
    return shape


def _order(a: Any, order: str) -> str:
    """The order, C or F; A asks how the array lies in memory."""
    order = "C" if order is None else order.upper() if isinstance(order, str) else order
    if order not in ("C", "F", "A"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got '{order}')")
    flags = _example(a).flags
    return ("F" if flags.f_contiguous and not flags.c_contiguous else "C") if order == "A" else order


def _example(a: Any) -> Any:
    """The plain array, inside vmap that of the first example: how it lies in memory decides what NumPy does."""
    whole = np.asarray(concrete(a))
    return whole[(0,) * (whole.ndim - ndim_of(a))] if whole.size else np.empty(shape_of(a), whole.dtype)


@implements(np.ravel, exact=True)
def ravel(a: Any, order: str = "C") -> Any:
    """`np.ravel`: a view of what lies in memory without gaps, else a copy."""
    a = as_value(a)
    if not isinstance(a, Traced):
        return np.ravel(np.asarray(a), order)
    if order == "K":
        strides = np.abs(np.array(_example(a).strides, int))
        a, order = np.transpose(a, np.argsort(-strides, kind="stable")), "C"
    order = _order(a, order)
    lies = _example(a).flags
    line = np.reshape(a, (-1,), order)
    return line if (lies.c_contiguous if order == "C" else lies.f_contiguous) else fresh_handle(line)


@implements(np.astype)
def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """`np.astype`."""
    return x.astype(dtype, copy=copy) if isinstance(x, (Traced, np.ndarray)) else np.asarray(x).astype(dtype)[()]
