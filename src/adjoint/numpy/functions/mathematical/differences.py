"""Mathematical functions: differences, gradients on grids, integrals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.values import dtype_of, shape_of
from ...dispatch.arguments import NO_VALUE, as_value, axis_of, given, ndim_of
from ...dispatch.registry import implements


def _along(axis: int, entry: Any) -> tuple[Any, ...]:
    """The key that takes `entry` on one (negative) axis."""
    return (..., entry, *[slice(None)] * (-axis - 1))


@implements(np.diff, exact=True)
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = NO_VALUE, append: Any = NO_VALUE) -> Any:
    """`np.diff`."""
    a = as_value(a)
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    if n == 0:
        return a
    axis = axis_of(axis, ndim_of(a))
    ends = [_end(x, a, axis) if given(x) else None for x in (prepend, append)]
    parts = [x for x in (ends[0], a, ends[1]) if x is not None]
    a = np.concatenate(parts, axis) if len(parts) > 1 else a
    for _ in range(n):
        after, before = a[_along(axis, slice(1, None))], a[_along(axis, slice(None, -1))]
        a = np.not_equal(after, before) if dtype_of(a).kind == "b" else after - before
    return a


def _end(x: Any, a: Any, axis: int) -> Any:
    x = as_value(x)
    if ndim_of(x):
        return x
    shape = list(shape_of(a))
    shape[axis] = 1
    return np.broadcast_to(x, tuple(shape))


@implements(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """`np.ediff1d`."""
    flat = np.reshape(ary, (-1,))
    parts = [to_begin, flat[1:] - flat[:-1], to_end]
    joined = [np.reshape(as_value(p), (-1,)) for p in parts if p is not None]
    return np.astype(np.concatenate(joined), dtype_of(flat)) if len(joined) > 1 else joined[0]


@implements(np.gradient)
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """`np.gradient`: second-order differences inside, one-sided at the ends."""
    f = as_value(f)
    rank = ndim_of(f)
    axes = [i - rank for i in range(rank)] if axis is None else [axis_of(i, rank) for i in _tuple(axis)]
    if len(set(axes)) != len(axes):
        raise ValueError("repeated axis")
    spacings = _spacings([as_value(v) for v in varargs], len(axes))
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    slopes = []
    for place, step in zip(axes, spacings, strict=True):
        if shape_of(f)[place] < edge_order + 1:
            raise ValueError(
                "Shape of array too small to calculate a numerical gradient, "
                "at least (edge_order + 1) elements are required."
            )
        if ndim_of(step) and shape_of(step)[0] != shape_of(f)[place]:
            raise ValueError("when 1d, distances must match the length of the corresponding dimension")
        line = np.moveaxis(f, place, -1)
        slopes.append(np.moveaxis(_slope(line, step, edge_order), -1, place))
    return slopes[0] if len(axes) == 1 else tuple(slopes)


def _tuple(axis: Any) -> tuple[Any, ...]:
    return tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)


def _spacings(given_spacings: list[Any], count: int) -> list[Any]:
    if not given_spacings:
        return [1.0] * count
    if len(given_spacings) == 1 and ndim_of(given_spacings[0]) == 0:
        return given_spacings * count
    if len(given_spacings) != count:
        raise TypeError("invalid number of arguments")
    return given_spacings


def _slope(f: Any, step: Any, edge_order: int) -> Any:
    """The gradient along the last axis; `step` is a number or the coordinates."""
    if ndim_of(step) == 0:
        inner = (f[..., 2:] - f[..., :-2]) / (2.0 * step)
        firsts = lasts = (step, step)
    else:
        gaps = np.diff(step)
        left, right = gaps[:-1], gaps[1:]
        inner = (
            -right / (left * (left + right)) * f[..., :-2]
            + (right - left) / (left * right) * f[..., 1:-1]
            + left / (right * (left + right)) * f[..., 2:]
        )
        firsts, lasts = (gaps[0], gaps[1 % shape_of(gaps)[0]]), (gaps[-1], gaps[-2 % shape_of(gaps)[0]])
    begin = _edge(f[..., 0:1], f[..., 1:2], f[..., 2:3], firsts, edge_order)
    end = _edge(f[..., -1:], f[..., -2:-1], f[..., -3:-2], lasts, edge_order)
    return np.concatenate([begin, inner, -end], -1)


def _edge(first: Any, second: Any, third: Any, gaps: tuple[Any, Any], edge_order: int) -> Any:
    """The one-sided slope at `first`, with the coordinate growing towards the inside."""
    near, far = gaps
    if edge_order == 1:
        return (second - first) / near
    a = -(2.0 * near + far) / (near * (near + far))
    b = (near + far) / (near * far)
    c = -near / (far * (near + far))
    return a * first + b * second + c * third


@implements(np.trapezoid)
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    """`np.trapezoid`."""
    y = as_value(y)
    place = axis_of(axis, ndim_of(y))
    widths = dx
    if x is not None:
        x = as_value(x)
        widths = np.diff(x, axis=axis if ndim_of(x) > 1 else -1)
        if ndim_of(x) == 1:
            widths = np.reshape(widths, (-1,) + (1,) * (-place - 1))
    return np.sum(widths * (y[_along(place, slice(1, None))] + y[_along(place, slice(None, -1))]) / 2.0, place)
