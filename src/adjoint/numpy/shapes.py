"""NumPy's functions that see the same elements in another shape or order: views, as NumPy's are."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..core.traced import Traced
from ..core.values import dtype_of, plain, shape_of, spreads
from ..ops import indexing
from ..ops import shape as ops
from .registry import NO_VALUE, as_value, axes_of, axis_of, given, implements, is_plain_number, ndim_of
from .views import View, own_copy, read_only, view_of


@implements(np.reshape)
def reshape(a: Any, /, shape: Any = None, order: str = "C", *, newshape: Any = NO_VALUE, copy: Any = None) -> Any:
    """`np.reshape`."""
    a = as_value(a)
    wanted = _full_shape(newshape if given(newshape) else shape, a)
    order = _order(a, order)
    found = view_of(
        a, lambda base: reshaped(base, wanted, order), lambda base, new: reshaped(new, shape_of(base), order)
    )
    if copy:
        return found.copy()
    if copy is False and np.size(plain(a)) and not np.may_share_memory(plain(found), plain(a)):
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return found


def reshaped(a: Any, shape: tuple[int, ...], order: str = "C") -> Any:
    """The elements in another shape, without the sharing."""
    if shape == shape_of(a):
        return a
    if order == "F":
        return turned(ops.reshape(turned(a), shape=shape[::-1]))
    return ops.reshape(a, shape=shape)


def lengths_of(shape: Any) -> tuple[int, ...]:
    """A shape as NumPy takes it: a number, an array without axes, or a sequence of numbers."""
    return tuple([operator.index(n) for n in shape]) if np.iterable(shape) else (operator.index(shape),)


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
    whole = np.asarray(plain(a))
    return whole[(0,) * (whole.ndim - ndim_of(a))] if whole.size else np.empty(shape_of(a), whole.dtype)


@implements(np.ravel)
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
    return line if (lies.c_contiguous if order == "C" else lies.f_contiguous) else own_copy(line)


@implements(np.transpose, np.permute_dims)
def transpose(a: Any, axes: Any = None) -> Any:
    """`np.transpose`."""
    a = as_value(a)
    n = ndim_of(a)
    axes = (axes,) if isinstance(axes, (int, np.integer)) else axes
    axes = tuple(range(n - 1, -1, -1)) if axes is None else tuple([axis_of(x, n) + n for x in axes])
    if sorted(axes) != list(range(n)):
        raise ValueError("axes don't match array" if len(axes) != n else "repeated axis in transpose")
    back = tuple([axes.index(i) for i in range(n)])
    return view_of(a, lambda base: turned(base, axes), lambda base, new: turned(new, back))


def turned(a: Any, axes: tuple[int, ...] | None = None) -> Any:
    """The axes in another order, without the sharing."""
    n = ndim_of(a)
    axes = tuple(range(n - 1, -1, -1)) if axes is None else axes
    return a if axes == tuple(range(n)) else ops.transpose(a, axes=axes)


@implements(np.matrix_transpose)
def matrix_transpose(x: Any, /) -> Any:
    """`np.matrix_transpose`."""
    if ndim_of(x) < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {ndim_of(x)}")
    return np.swapaxes(x, -1, -2)


@implements(np.swapaxes)
def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """`np.swapaxes`."""
    a = as_value(a)
    n = ndim_of(a)
    first, second = axis_of(axis1, n), axis_of(axis2, n)
    axes = list(range(n))
    axes[first], axes[second] = axes[second], axes[first]
    return np.transpose(a, axes)


@implements(np.moveaxis)
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    """`np.moveaxis`."""
    a = as_value(a)
    n = ndim_of(a)
    sources = [axis_of(s, n) + n for s in (source if np.iterable(source) else (source,))]
    targets = [axis_of(d, n) + n for d in (destination if np.iterable(destination) else (destination,))]
    for name, found in (("source", sources), ("destination", targets)):
        if len(set(found)) != len(found):
            raise ValueError(f"repeated axis in `{name}` argument")
    if len(sources) != len(targets):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [i for i in range(n) if i not in sources]
    for target, origin in sorted(zip(targets, sources, strict=True)):
        order.insert(target, origin)
    return np.transpose(a, order)


@implements(np.rollaxis)
def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    """`np.rollaxis`."""
    n = ndim_of(a)
    axis = axis_of(axis, n) + n
    start = start + n if start < 0 else start
    if not 0 <= start < n + 1:
        raise np.exceptions.AxisError(f"'start' arg requires {-n} <= start < {n + 1}, but {start} was passed in")
    return np.moveaxis(a, axis, start - 1 if axis < start else start)


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
    many = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
    n = ndim_of(a) + len(many)
    new = axes_of(many, n)
    rest = iter(shape_of(a))
    return np.reshape(a, tuple([1 if i - n in new else next(rest) for i in range(n)]))


def _at_least(*shapes: Any) -> Any:
    """A function that gives arrays axes of length 1, by the number they have."""

    def widen(*arys: Any) -> Any:
        found = [_widened(as_value(a), shapes) for a in arys]
        return found[0] if len(found) == 1 else tuple(found)

    return widen


def _widened(a: Any, shapes: Any) -> Any:
    n = ndim_of(a)
    return np.reshape(a, shapes[n](*shape_of(a))) if n < len(shapes) else a


implements(np.atleast_1d)(_at_least(lambda: (1,)))
implements(np.atleast_2d)(_at_least(lambda: (1, 1), lambda n: (1, n)))
implements(np.atleast_3d)(_at_least(lambda: (1, 1, 1), lambda n: (1, n, 1), lambda m, n: (m, n, 1)))


@implements(np.broadcast_to)
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    """`np.broadcast_to`: nobody may write to the result, as one element stands in many places."""
    shape = lengths_of(shape)
    array = as_value(array)
    if shape == shape_of(array):
        return array
    if not spreads(shape_of(array), shape):
        np.broadcast_to(np.broadcast_to(0.0, shape_of(array)), shape)  # raises
    return view_of(array, lambda base: ops.broadcast_to(base, shape=shape), read_only)


@implements(np.flip)
def flip(m: Any, axis: Any = None) -> Any:
    """`np.flip`."""
    axes = axes_of(axis, ndim_of(m))
    return view_of(m, lambda base: ops.flip(base, axis=axes), lambda base, new: ops.flip(new, axis=axes))


@implements(np.flipud)
def flipud(m: Any) -> Any:
    """`np.flipud`."""
    if ndim_of(m) < 1:
        raise ValueError("Input must be >= 1-d.")
    return np.flip(m, 0)


@implements(np.fliplr)
def fliplr(m: Any) -> Any:
    """`np.fliplr`."""
    if ndim_of(m) < 2:
        raise ValueError("Input must be >= 2-d.")
    return np.flip(m, 1)


@implements(np.rot90)
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """`np.rot90`."""
    axes, n = tuple(axes), ndim_of(m)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    if axes[0] == axes[1] or abs(axes[0] - axes[1]) == n:
        raise ValueError("Axes must be different.")
    if any(not -n <= a < n for a in axes):
        raise ValueError(f"Axes={axes} out of range for array of ndim={n}.")
    k %= 4
    if k % 2 == 0:
        return np.flip(m, axes) if k else m[...]
    return np.swapaxes(np.flip(m, axes[1]), *axes) if k == 1 else np.flip(np.swapaxes(m, *axes), axes[1])


@implements(np.astype)
def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """`np.astype`."""
    return x.astype(dtype) if isinstance(x, (Traced, np.ndarray)) else np.asarray(x).astype(dtype)[()]


@implements(np.diagonal)
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """`np.diagonal`: a view that nobody may write to."""
    n = ndim_of(a)
    if n < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    first, second = axis_of(axis1, n) + n, axis_of(axis2, n) + n
    if first == second:
        raise ValueError("axis1 and axis2 cannot be the same")
    rows = np.arange(max(min(shape_of(a)[first], shape_of(a)[second] - offset) - max(-offset, 0), 0)) + max(-offset, 0)
    order = (*[i for i in range(n) if i not in (first, second)], first, second)

    def read(base: Any) -> Any:
        return indexing.index(turned(base, order), rows, rows + offset, template=(..., indexing.HOLE, indexing.HOLE))

    found = read(a)
    return View(a, read, read_only, found) if isinstance(found, Traced) else found


def same_dtype(a: Any, dtype: Any) -> Any:
    """`a` cast to `dtype`, unless it was not given or is the same already."""
    if not given(dtype) or dtype_of(a) == np.dtype(dtype):
        return a
    return np.dtype(dtype).type(a) if is_plain_number(a) else np.astype(a, dtype)
