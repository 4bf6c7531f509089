"""Indexing: inserting data into arrays, in place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.traced import Traced, snapshot
from ....core.values import dtype_of, shape_of
from ....ops import indexing
from ....ops.keys import HOLE
from ...dispatch.arguments import as_value, axis_of, ndim_of
from ...dispatch.assignment import check_cast, check_target, store
from ...dispatch.registry import implements
from ..manipulation.shape import reshaped
from ..places import as_array, updated
from .picking import within


@implements(np.place, in_place=True)
def place(arr: Any, mask: Any, vals: Any) -> None:
    """`np.place`: the repeated values go to the chosen places, one after the other."""
    values = np.reshape(_checked(arr, vals, "place"), (-1,))
    places = np.flatnonzero(mask)
    if len(places) and not shape_of(values)[0]:
        raise ValueError("Cannot insert from an empty array!")
    put(arr, places, values)


@implements(np.put, in_place=True)
def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """`np.put`: the values are repeated as needed, and the last one counts where an index is repeated."""
    values = np.reshape(_checked(a, v, "put"), (-1,))
    size = math.prod(shape_of(a))
    places = np.reshape(within(as_array(ind), size, mode), (-1,))
    if not shape_of(values)[0] or not shape_of(places)[0]:
        return
    values = np.astype(np.resize(values, shape_of(places)), dtype_of(a))
    line = reshaped(snapshot(a), (size,))
    store(a, reshaped(indexing.assign(line, values, places, template=(HOLE,)), shape_of(a)))


@implements(np.put_along_axis, in_place=True)
def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """`np.put_along_axis`."""
    shape = shape_of(arr)
    whole = snapshot(arr)
    if axis is None:
        whole, axis = reshaped(whole, (math.prod(shape),)), -1
    where = axis_of(axis, ndim_of(whole))
    if ndim_of(indices) != ndim_of(whole):
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    grid = list(np.ogrid[tuple([slice(n) for n in shape_of(whole)])])
    grid[where] = snapshot(indices)
    values = _checked(arr, values, "put_along_axis")
    store(arr, reshaped(indexing.assign(whole, values, *grid, template=(HOLE,) * len(grid)), shape))


@implements(np.putmask, in_place=True)
def putmask(a: Any, /, mask: Any, values: Any) -> None:
    """`np.putmask`: element i of the repeated values goes to place i."""
    values, shape = _checked(a, values, "putmask"), shape_of(a)
    mask = as_value(mask)
    if shape_of(mask) != shape and math.prod(shape_of(mask)) != math.prod(shape):
        raise ValueError("putmask: mask and data must be the same size")
    repeated = np.resize(values, shape) if shape_of(values) != shape else values
    store(a, np.where(np.reshape(mask, shape), np.astype(repeated, dtype_of(a)), snapshot(a)))


@implements(np.copyto, in_place=True)
def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """`np.copyto`."""
    src = snapshot(as_value(src))
    if not np.can_cast(dtype_of(src), dtype_of(dst), casting):
        raise TypeError(
            f"Cannot cast array data from {dtype_of(src)!r} to {dtype_of(dst)!r} according to the rule '{casting}'"
        )
    src = _checked(dst, src, "copyto")
    src = np.astype(src, dtype_of(dst)) if dtype_of(src) != dtype_of(dst) else src
    store(dst, src if where is True else np.where(where, src, snapshot(dst)))


@implements(np.fill_diagonal, in_place=True)
def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """`np.fill_diagonal`."""
    val = _checked(a, val, "fill_diagonal")
    store(a, updated(lambda numbers, others: np.fill_diagonal(numbers, others, wrap), snapshot(a), val))


def _checked(a: Any, value: Any, name: str) -> Any:
    """The value to store into `a`, if it can be stored there."""
    if not isinstance(a, (Traced, np.ndarray)):
        raise TypeError(f"np.{name}: argument 1 must be numpy.ndarray, not {type(a).__name__}")
    value = snapshot(as_value(value))
    check_target(a, value)
    check_cast(a, value)
    return value if isinstance(value, (Traced, np.ndarray)) else np.asarray(value)
