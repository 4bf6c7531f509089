"""NumPy's choices: where, clip, real and imaginary parts, sorting."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.traced import Traced
from ..core.values import dtype_of, is_inexact, shape_of
from ..ops import complex as parts
from ..ops import indexing, reduction, selection
from .registry import NO_VALUE, as_value, axis_of, deliver, given, implements, is_true, ndim_of
from .views import view_of


@implements(np.where)
def where(condition: Any, x: Any = NO_VALUE, y: Any = NO_VALUE, /) -> Any:
    """`np.where`."""
    if x is NO_VALUE and y is NO_VALUE:
        return np.nonzero(condition)
    if x is NO_VALUE or y is NO_VALUE:
        raise ValueError("either both or neither of x and y should be given")
    condition = as_value(condition)
    if isinstance(condition, Traced) and is_inexact(condition):
        condition = condition != 0  # its truth is piecewise constant
    return selection.where(
        condition,
        x if isinstance(x, (Traced, int)) else as_value(x),
        y if isinstance(y, (Traced, int)) else as_value(y),
    )


@implements(np.clip)
def clip(
    a: Any,
    a_min: Any = NO_VALUE,
    a_max: Any = NO_VALUE,
    out: Any = None,
    *,
    min: Any = NO_VALUE,
    max: Any = NO_VALUE,
    **rest: Any,
) -> Any:
    """`np.clip`; the slope is 1 at the bounds themselves."""
    if a_min is NO_VALUE and a_max is NO_VALUE:
        a_min, a_max = (None if bound is NO_VALUE else bound for bound in (min, max))
    elif a_min is NO_VALUE or a_max is NO_VALUE:
        raise TypeError(f"clip() missing 1 required positional argument: 'a_m{'in' if a_min is NO_VALUE else 'ax'}'")
    elif min is not NO_VALUE or max is not NO_VALUE:
        raise ValueError("Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.")
    low, high = a_min, a_max
    a = as_value(a)
    if dtype_of(a).kind not in "fc":
        return deliver(_clipped(a, low, high), out)
    low = as_value(low) if given(low) else -np.inf
    high = as_value(high) if given(high) else np.inf
    return deliver(selection.clip(a, low, high), out)


def _clipped(a: Any, low: Any, high: Any) -> Any:
    """Of integers: infinite bounds would make floating-point numbers of them."""
    if not given(low) and not given(high):
        return np.positive(a)
    a = np.maximum(a, low) if given(low) else a
    return np.minimum(a, high) if given(high) else a


@implements(np.real)
def real(val: Any) -> Any:
    """`np.real`; a view."""
    val = as_value(val)
    if dtype_of(val).kind != "c":
        return val
    return view_of(val, parts.real, lambda base, new: np.astype(new, dtype_of(base)) + 1j * parts.imag(base))


@implements(np.imag)
def imag(val: Any) -> Any:
    """`np.imag`; a view."""
    val = as_value(val)
    if dtype_of(val).kind != "c":
        return np.zeros(shape_of(val), dtype_of(val))[()]
    return view_of(val, parts.imag, lambda base, new: np.astype(parts.real(base), dtype_of(base)) + 1j * new)


@implements(np.sort)
def sort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: Any = NO_VALUE
) -> Any:
    """`np.sort`; equal elements keep their order."""
    a, axis = (np.reshape(a, (-1,)), -1) if axis is None else (a, axis_of(axis, ndim_of(a)))
    places = reduction.argsort_down(a, axis=axis) if is_true(descending) else np.argsort(a, axis)
    return indexing.take_along(a, places, axis=axis)
