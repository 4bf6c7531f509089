"""Sorting: the order is a constant, the elements are differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.values import dtype_of
from ....ops import indexing, places, reduction
from ...dispatch.arguments import NO_VALUE, along, as_value, axis_of, is_true, ndim_of, same_dtype
from ...dispatch.registry import implements


@implements(np.sort, exact=True)
def sort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: Any = NO_VALUE
) -> Any:
    """`np.sort`; equal elements keep their order."""
    a, axis = (np.reshape(a, (-1,)), -1) if axis is None else (a, axis_of(axis, ndim_of(a)))
    places = reduction.argsort_down(a, axis=axis) if is_true(descending) else np.argsort(a, axis)
    return indexing.take_along(a, places, axis=axis)


@implements(np.argsort, exact=True)
def argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: Any = NO_VALUE
) -> Any:
    """`np.argsort`."""
    a, axis = along(as_value(a), axis)
    if kind is not None and str(kind)[:1].lower() not in ("q", "h", "s", "m"):
        raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})")
    return reduction.argsort_down(a, axis=axis) if is_true(descending) else reduction.argsort(a, axis=axis)


@implements(np.lexsort)
def lexsort(keys: Any, axis: int = -1) -> Any:
    """`np.lexsort`."""
    return places.lexsort(*[as_value(key) for key in keys], axis=axis)


def _flat(a: Any, axis: Any) -> tuple[Any, int]:
    """The array and its axis as a negative number; all elements in a row for None."""
    a = as_value(a)
    return (np.reshape(a, (-1,)), -1) if axis is None else (a, axis_of(axis, ndim_of(a)))


@implements(np.partition)
def partition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Any:
    """`np.partition`."""
    a, axis = _flat(a, axis)
    return indexing.take_along(a, places.partition_places(a, kth=kth, axis=axis, kind=kind), axis=axis)


@implements(np.argpartition)
def argpartition(a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Any:
    """`np.argpartition`."""
    a = as_value(a) if ndim_of(as_value(a)) else np.reshape(a, (1,))
    a, axis = _flat(a, axis)
    return places.argpartition(a, kth=kth, axis=axis, kind=kind)


@implements(np.sort_complex)
def sort_complex(a: Any) -> Any:
    """`np.sort_complex`."""
    wide = {"b": np.complex64, "h": np.complex64, "B": np.complex64, "H": np.complex64, "g": np.clongdouble}.get(
        dtype_of(a).char, np.complex128
    )
    return np.sort(a) if dtype_of(a).kind == "c" else same_dtype(np.sort(a), wide)
