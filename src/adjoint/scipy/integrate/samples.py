"""Integrals of sampled functions: most of SciPy's code takes traced values as it stands."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.traced import Traced
from ...core.values import decidable, dtype_of, may_hold, shape_of
from ...numpy.dispatch.arguments import as_value, ndim_of
from ...numpy.patching.replacements import constant, replaces, runs_through

SCIPY = "scipy.integrate"

runs_through(SCIPY, "romb", "trapezoid", note="in the samples and in the places where they were taken")
runs_through(SCIPY, "newton_cotes", note="in the places of the samples; their number is an integer")
constant(SCIPY, "lebedev_rule", note="nodes and weights of a rule, found for an order")


@replaces(SCIPY, "fixed_quad", note="in the limits and in everything the integrand uses")
def fixed_quad(func: Callable[..., Any], a: Any, b: Any, args: Any = (), n: int = 5) -> Any:
    """`scipy.integrate.fixed_quad`."""
    from scipy.special import roots_legendre

    if may_hold(np.isinf(decidable(a))) or may_hold(np.isinf(decidable(b))):
        raise ValueError("Gaussian quadrature is only available for finite limits.")
    nodes, weights = roots_legendre(n)
    if not in_doubles():
        dtype = np.result_type(dtype_of(a), dtype_of(b), np.float32)
        nodes, weights = nodes.astype(dtype), weights.astype(dtype)
    y = (b - a) * (nodes + 1) / 2.0 + a
    return (b - a) / 2.0 * np.sum(weights * func(y, *args), axis=-1), None


@functools.cache
def in_doubles() -> bool:
    """Whether SciPy's rules have double precision whatever the samples have, as they do before 1.18."""
    import scipy

    return tuple([int(n) for n in scipy.__version__.split(".")[:2]]) < (1, 18)


@replaces(SCIPY, "simpson", note="in the samples and in the places where they were taken")
def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: int = -1) -> Any:
    """`scipy.integrate.simpson`: parabolas through three points; of an even number, the last interval by itself."""
    y = np.swapaxes(as_value(y), axis, -1)
    n = shape_of(y)[-1]
    if n == 2:
        return np.sum(cumulative_trapezoid(y, None if x is None else _moved(x, axis), dx), axis=-1)
    d = None if x is None else _differences(as_value(x), y, axis)
    if d is not None and in_doubles():
        d = d.astype(np.float64)
    last = n - 1 - (n % 2 == 0)  # the interval at which the pairs of intervals end
    left, middle, right = y[..., :last:2], y[..., 1 : last + 1 : 2], y[..., 2 : last + 1 : 2]
    if d is None:
        found = np.sum(left + 4.0 * middle + right, axis=-1) * (dx / 3.0)
        ends = (dx, dx)
    else:
        a, b = d[..., :last:2], d[..., 1 : last + 1 : 2]
        both = a + b
        weights = 2.0 - _quotient(b, a), both * _quotient(both, a * b), 2.0 - _quotient(a, b)
        found = np.sum(both / 6.0 * (left * weights[0] + middle * weights[1] + right * weights[2]), axis=-1)
        ends = (d[..., -2], d[..., -1]) if n > 2 else (0.0, 0.0)
    if n % 2 or n < 2:
        return found
    a, b = ends
    first, second = _quotient(2 * b**2 + 3 * a * b, 6 * (b + a)), _quotient(b**2 + 3.0 * a * b, 6 * a)
    return found + first * y[..., -1] + second * y[..., -2] - _quotient(b**3, 6 * a * (a + b)) * y[..., -3]


def _moved(x: Any, axis: int) -> Any:
    return as_value(x) if ndim_of(x) == 1 else np.swapaxes(as_value(x), axis, -1)


def _quotient(a: Any, b: Any) -> Any:
    """A quotient that is 0 where points fall together."""
    none = np.equal(b, 0)
    return np.where(none, 0.0, a / np.where(none, 1.0, b)) if isinstance(b, (Traced, np.ndarray)) else a / b


@replaces(SCIPY, "cumulative_trapezoid")
def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None) -> Any:
    """`scipy.integrate.cumulative_trapezoid`."""
    y = np.swapaxes(as_value(y), axis, -1)
    d = dx if x is None else _differences(as_value(x), y, axis)
    found = np.cumsum(d * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)
    if initial is not None:
        if initial != 0:
            raise ValueError("`initial` must be `None` or `0`.")
        found = np.concatenate([np.zeros_like(y[..., :1]), found], axis=-1)
    return np.swapaxes(found, -1, axis)


@replaces(SCIPY, "cumulative_simpson")
def cumulative_simpson(y: Any, *, x: Any = None, dx: Any = 1.0, axis: int = -1, initial: Any = None) -> Any:
    """`scipy.integrate.cumulative_simpson`."""
    y = as_value(y)
    whole = shape_of(y)
    y = np.swapaxes(y, axis, -1)
    if shape_of(y)[-1] < 3:
        found = np.swapaxes(cumulative_trapezoid(np.swapaxes(y, axis, -1), x, dx, axis), axis, -1)
    elif x is not None:
        d = np.broadcast_to(_differences(as_value(x), y, axis), (*shape_of(y)[:-1], shape_of(y)[-1] - 1))
        if may_hold(np.less_equal(decidable(d), 0)):
            raise ValueError("Input x must be strictly increasing.")
        found = np.cumsum(_parts(y, d, _unequal), axis=-1)
    else:
        d = np.swapaxes(as_value(dx), axis, -1) if ndim_of(dx) else as_value(dx)
        d = np.broadcast_to(d, (*shape_of(y)[:-1], shape_of(y)[-1] - 1))
        found = np.cumsum(_parts(y, d, _equal), axis=-1)
    if initial is not None:
        alone = list(whole)
        alone[axis] = 1
        first = np.swapaxes(np.broadcast_to(as_value(initial), tuple(alone)), axis, -1)
        found = np.concatenate([first + np.zeros_like(y[..., :1]), found + first], axis=-1)
    return np.swapaxes(found, -1, axis)


def _differences(x: Any, y: Any, axis: int) -> Any:
    """The distances of the places along the last axis of `y`, to which `axis` was moved."""
    if ndim_of(x) not in (1, ndim_of(y)):
        raise ValueError("If given, shape of x must be 1-D or the same as y.")
    x = x if ndim_of(x) == 1 else np.swapaxes(x, axis, -1)
    if shape_of(x)[-1] != shape_of(y)[-1]:
        raise ValueError("If given, length of x along axis must be the same as y.")
    return np.diff(x, axis=-1)


def _parts(y: Any, d: Any, first_of_two: Any) -> Any:
    """The integral over each interval, of the parabola through three points: every second one looks backwards."""
    ahead = first_of_two(y, d)
    behind = first_of_two(y[..., ::-1], d[..., ::-1])[..., ::-1]
    looks_ahead = np.arange(shape_of(d)[-1] - 1) % 2 == 0
    inner = np.where(looks_ahead[1:], ahead[..., 1:], behind[..., :-1])
    return np.concatenate([ahead[..., :1], inner, behind[..., -1:]], axis=-1)


def _equal(y: Any, d: Any) -> Any:
    """The integral over the first of two intervals of the same length."""
    return d[..., :-1] / 3 * (5 * y[..., :-2] / 4 + 2 * y[..., 1:-1] - y[..., 2:] / 4)


def _unequal(y: Any, d: Any) -> Any:
    """The integral over the first of two intervals of any length."""
    a, b = d[..., :-1], d[..., 1:]
    share, product = a / (a + b), a / (a + b) * (a / b)
    return a / 6 * ((3 - share) * y[..., :-2] + (3 + product + share) * y[..., 1:-1] - product * y[..., 2:])
