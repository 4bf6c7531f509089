"""Array manipulation: transpose-like operations. Views, as NumPy's are."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....ops import shape as ops
from ...dispatch.arguments import as_value, axis_of, ndim_of
from ...dispatch.registry import implements
from ...dispatch.views import as_method, view_of


@implements(np.transpose, np.permute_dims, exact=True)
def transpose(a: Any, axes: Any = None) -> Any:
    """`np.transpose`."""
    a = as_method(as_value(a))
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


@implements(np.swapaxes, exact=True)
def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    """`np.swapaxes`."""
    a = as_value(a)
    n = ndim_of(a)
    first, second = axis_of(axis1, n), axis_of(axis2, n)
    axes = list(range(n))
    axes[first], axes[second] = axes[second], axes[first]
    return np.transpose(a, axes)


@implements(np.moveaxis, exact=True)
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
