"""Functional programming: a user function is called on parts of an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.traced import Traced
from ...core.values import dtype_of, shape_of
from ..dispatch.arguments import as_value, axis_of, ndim_of
from ..dispatch.registry import implements
from .places import as_array


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


@implements(np.piecewise)
def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """`np.piecewise`: each function sees only the elements its condition holds for."""
    x = as_value(x)
    conditions = _conditions(condlist, x)
    functions = list(funclist)
    if len(functions) == len(conditions) + 1:
        outside = ~conditions[0]
        for condition in conditions[1:]:
            outside = outside & ~condition
        conditions.append(outside)
    elif len(functions) != len(conditions):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} functions "
            "are expected"
        )
    y = np.zeros_like(x)
    for condition, function in zip(conditions, functions, strict=True):
        if isinstance(condition, Traced):
            # the examples of a batch choose differently, so the function sees all elements
            value = function(x, *args, **kw) if callable(function) else function
            y = np.where(condition, np.asarray(value).astype(dtype_of(x)), y)
        elif not callable(function):
            y[condition] = function
        elif np.any(condition):
            y[condition] = function(x[condition], *args, **kw)
    return y


def _conditions(condlist: Any, x: Any) -> list[Any]:
    if isinstance(condlist, (Traced, np.ndarray)):
        single = ndim_of(condlist) == 0 or (ndim_of(x) != 0 and ndim_of(condlist) < 2)
    else:
        single = not isinstance(condlist, (list, tuple)) or (
            ndim_of(x) != 0 and len(condlist) > 0 and ndim_of(as_array(condlist[0])) == 0
        )
    return [as_array(c).astype(bool) for c in ([condlist] if single else condlist)]
