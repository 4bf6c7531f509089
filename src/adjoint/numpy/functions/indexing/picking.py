"""Indexing: picking elements by index, by mask or by condition."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.traced import Traced
from ....core.values import decidable, dtype_of, shape_of
from ....ops import indexing
from ....ops.keys import HOLE
from ...dispatch.arguments import as_value, axis_of, ndim_of, same_dtype
from ...dispatch.assignment import deliver
from ...dispatch.registry import implements
from ...dispatch.views import ViewHandle, read_only
from ..manipulation.axes import turned
from ..places import as_array


@implements(np.take, exact=True)
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
    whole = decidable(places)
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


@implements(np.take_along_axis, exact=True)
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


@implements(np.choose)
def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Any:
    """`np.choose`."""
    a = as_array(a)
    if dtype_of(a).kind not in "iub":
        raise TypeError(f"Cannot cast array data from {dtype_of(a)!r} to integers according to the rule 'safe'")
    parts = np.broadcast_arrays(a, *choices)
    places, options = parts[0], np.stack(parts[1:])
    whole = decidable(places)
    if mode in ("raise", None) and np.any((whole < 0) | (whole >= len(parts) - 1)):
        raise ValueError("invalid entry in choice array")
    chosen = indexing.take_along(
        options, np.expand_dims(within(places.astype(int), len(parts) - 1, mode), 0), axis=-ndim_of(options)
    )
    return deliver(chosen[0], out)


@implements(np.compress)
def compress(condition: Any, a: Any, axis: Any = None, out: Any = None) -> Any:
    """`np.compress`."""
    if ndim_of(as_value(condition)) != 1:
        raise ValueError("condition must be a 1-d array")
    return take(a, np.flatnonzero(condition), axis, out)


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
        return indexing.index(turned(base, order), rows, rows + offset, template=(..., HOLE, HOLE))

    found = read(a)
    return ViewHandle(a, read, read_only, found) if isinstance(found, Traced) else found


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
