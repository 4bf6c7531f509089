"""NumPy's functions that call a function of the user's on parts of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.values import shape_of
from .registry import as_value, axis_of, implements, ndim_of


@implements(np.apply_along_axis)
def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.apply_along_axis`: the function is called once for every line."""
    arr = as_value(arr)
    n = ndim_of(arr)
    axis = axis_of(axis, n) + n
    lines = np.moveaxis(arr, axis, -1)
    around = shape_of(lines)[:-1]
    if 0 in around:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    found = [as_value(func1d(lines[(*place, slice(None))], *args, **kwargs)) for place in np.ndindex(around)]
    inner = shape_of(found[0])
    whole = np.reshape(np.stack(found), around + inner)
    return np.moveaxis(whole, list(range(n - 1, n - 1 + len(inner))), list(range(axis, axis + len(inner))))


@implements(np.apply_over_axes)
def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """`np.apply_over_axes`."""
    value = as_value(a)
    n = ndim_of(value)
    for axis in np.atleast_1d(axes):
        axis = int(axis) + n if axis < 0 else int(axis)
        found = func(value, axis)
        if ndim_of(found) != n:
            found = np.expand_dims(found, axis)
            if ndim_of(found) != n:
                raise ValueError("function is not returning an array of the correct shape")
        value = found
    return value
