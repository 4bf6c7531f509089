"""NumPy's choices: where, clip, real and imaginary parts, sorting."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.values import dtype_of
from ..ops import complex as parts
from ..ops import indexing, selection
from .registry import NO_VALUE, as_value, axis_of, deliver, given, implements, ndim_of


@implements(np.where)
def where(condition: Any, x: Any = NO_VALUE, y: Any = NO_VALUE, /) -> Any:
    """`np.where`."""
    if x is NO_VALUE:
        return np.nonzero(condition)
    return selection.where(as_value(condition), as_value(x) if not isinstance(x, int) else x, as_value(y) if not isinstance(y, int) else y)


@implements(np.clip)
def clip(a: Any, a_min: Any = NO_VALUE, a_max: Any = NO_VALUE, out: Any = None, *, min: Any = NO_VALUE, max: Any = NO_VALUE, **rest: Any) -> Any:
    """`np.clip`; the slope is 1 at the bounds themselves."""
    low = a_min if given(a_min) else min
    high = a_max if given(a_max) else max
    low = as_value(low) if given(low) else -np.inf
    high = as_value(high) if given(high) else np.inf
    return deliver(selection.clip(as_value(a), low, high), out)


@implements(np.real)
def real(val: Any) -> Any:
    """`np.real`."""
    return parts.real(val) if dtype_of(val).kind == "c" else val


@implements(np.imag)
def imag(val: Any) -> Any:
    """`np.imag`."""
    return parts.imag(val) if dtype_of(val).kind == "c" else np.zeros_like(val) * 0.0


@implements(np.sort)
def sort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """`np.sort`; equal elements keep their order."""
    a, axis = (np.reshape(a, (-1,)), -1) if axis is None else (a, axis_of(axis, ndim_of(a)))
    return indexing.take_along(a, np.argsort(a, axis), axis=axis)


@implements(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    """`np.take_along_axis`."""
    arr, axis = (np.reshape(arr, (-1,)), -1) if axis is None else (arr, axis_of(axis, ndim_of(arr)))
    return indexing.take_along(arr, indices, axis=axis)


@implements(np.iscomplexobj)
def iscomplexobj(x: Any) -> bool:
    """`np.iscomplexobj`."""
    return dtype_of(x).kind == "c"
