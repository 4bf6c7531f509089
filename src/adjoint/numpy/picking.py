"""NumPy's functions that pick elements by index, by mask or by condition."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.traced import Traced
from ..core.values import dtype_of, raw, shape_of
from ..ops import indexing
from ..ops.indexing import HOLE
from .places import as_array
from .registry import as_value, axis_of, deliver, implements, ndim_of
from .shapes import same_dtype


@implements(np.take)
def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """`np.take`."""
    a = as_value(a)
    a = np.reshape(a, (-1,)) if axis is None or ndim_of(a) == 0 else a
    axis = axis_of(-1 if axis is None else axis, ndim_of(a))
    places = indices if hasattr(indices, "dtype") else np.array(indices, np.intp)
    if dtype_of(places).kind not in "iub":
        raise TypeError("Cannot cast array data to integers according to the rule 'safe': indices have to be integers")
    places = within(places.astype(int), shape_of(a)[axis], mode)
    key = (slice(None),) * (ndim_of(a) + axis)
    return deliver(indexing.index(a, places, template=(*key, HOLE)), out)


def within(places: Any, length: int, mode: str) -> Any:
    """Indices into an axis of this length, out-of-bounds ones brought inside as the mode says."""
    whole = raw(places)
    if length == 0 and np.size(whole):
        raise IndexError("cannot do a non-empty take from an empty axes.")
    if mode in ("raise", None):
        if np.any((whole < -length) | (whole >= length)):
            bad = np.ravel(whole)[np.argmax(np.ravel((whole < -length) | (whole >= length)))]
            raise IndexError(f"index {bad} is out of bounds for axis 0 with size {length}")
        return places
    if mode == "wrap":
        return np.remainder(places, length)
    if mode == "clip":
        return np.minimum(np.maximum(places, 0), length - 1)
    raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")


@implements(np.take_along_axis)
def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    """`np.take_along_axis`."""
    arr, axis = (np.reshape(arr, (-1,)), -1) if axis is None else (as_value(arr), axis_of(axis, ndim_of(arr)))
    if not hasattr(indices, "dtype"):
        raise AttributeError(f"{type(indices).__name__!r} object has no attribute 'dtype'")
    if ndim_of(arr) != ndim_of(indices):
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    if dtype_of(indices).kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    rest = tuple([n for i, n in enumerate(shape_of(arr)) if i != ndim_of(arr) + axis])
    if rest == tuple([n for i, n in enumerate(shape_of(indices)) if i != ndim_of(arr) + axis]):
        return indexing.take_along(arr, indices, axis=axis)
    grid = list(np.ogrid[tuple([slice(n) for n in shape_of(arr)])])
    grid[axis] = indices
    return indexing.index(arr, *grid, template=(HOLE,) * len(grid))


@implements(np.compress)
def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    """`np.compress`."""
    if ndim_of(as_value(condition)) != 1:
        raise ValueError("condition must be a 1-d array")
    return take(a, np.flatnonzero(condition), axis, out)


@implements(np.extract)
def extract(condition: Any, arr: Any) -> Any:
    """`np.extract`."""
    return take(np.ravel(as_value(arr)), np.flatnonzero(condition))


@implements(np.choose)
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """`np.choose`."""
    a = as_array(a)
    if dtype_of(a).kind not in "iub":
        raise TypeError(f"Cannot cast array data from {dtype_of(a)!r} to integers according to the rule 'safe'")
    parts = np.broadcast_arrays(a, *choices)
    places, options = parts[0], np.stack(parts[1:])
    whole = raw(places)
    if mode in ("raise", None) and np.any((whole < 0) | (whole >= len(parts) - 1)):
        raise ValueError("invalid entry in choice array")
    chosen = indexing.take_along(
        options, np.expand_dims(within(places.astype(int), len(parts) - 1, mode), 0), axis=-ndim_of(options)
    )
    return deliver(chosen[0], out)


@implements(np.select)
def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """`np.select`: the first condition that holds decides."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if len(condlist) == 0:
        raise ValueError("select with an empty condition list is not possible")
    choices = [c if type(c) in (int, float, complex) else as_value(c) for c in [*choicelist, default]]
    kind = np.result_type(*[c if type(c) in (int, float, complex) else dtype_of(c) for c in choices])
    conditions = [as_value(c) for c in condlist]
    for i, condition in enumerate(conditions):
        if dtype_of(condition).kind != "b":
            raise TypeError(f"invalid entry {i} in condlist: should be boolean ndarray")
    shape = np.broadcast_shapes(*[shape_of(v) for v in [*conditions, *choices]])
    found = choices[-1]
    for condition, choice in zip(reversed(conditions), reversed(choices[:-1]), strict=True):
        found = np.where(condition, choice, found)
    found = same_dtype(found, kind)
    return found if shape_of(found) == shape else np.copy(np.broadcast_to(found, shape))


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
            y = np.where(condition, value, y).astype(dtype_of(x))
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
