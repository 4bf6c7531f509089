"""Sets: which elements are equal is a constant, the elements are differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.values import dtype_of
from ...ops import places
from ..dispatch.arguments import as_value, axis_of, ndim_of, same_dtype
from ..dispatch.registry import implements


@implements(np.unique)
def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: Any = None, *,
    equal_nan: bool = True, sorted: bool = True,
) -> Any:  # fmt: skip
    """`np.unique`: each value is the first of its equals."""
    ar = as_value(ar)
    axis = axis if axis is None else axis_of(axis, ndim_of(ar)) + ndim_of(ar)
    first, inverse, counts = places.unique(ar, axis=axis, equal_nan=equal_nan, sorted=sorted)
    values = np.take(ar, first, axis)
    wanted = [first] * return_index + [inverse] * return_inverse + [counts] * return_counts
    return (values, *wanted) if wanted else values


@implements(np.unique_values)
def unique_values(x: Any) -> Any:
    """`np.unique_values`."""
    return unique(x, equal_nan=False, sorted=False)


def _unique_parts(function: Any, *flags: bool) -> Any:
    """The functions of the array standard: the same results in a named tuple."""
    result = type(function(np.zeros(1)))

    def find(x: Any) -> Any:
        return result(*unique(x, *flags, equal_nan=False))

    return find


implements(np.unique_all)(_unique_parts(np.unique_all, True, True, True))


implements(np.unique_inverse)(_unique_parts(np.unique_inverse, False, True, False))


implements(np.unique_counts)(_unique_parts(np.unique_counts, False, False, True))


@implements(np.isin)
def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Any:
    """`np.isin`."""
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: {kind!r}. Please use None, 'sort' or 'table'.")
    found = places.isin(as_value(element), as_value(test_elements), kind=kind)
    return np.logical_not(found) if invert else found


@implements(np.union1d)
def union1d(ar1: Any, ar2: Any) -> Any:
    """`np.union1d`."""
    return unique(np.concatenate([ar1, ar2], None))


@implements(np.intersect1d)
def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """`np.intersect1d`: the values are those of the first array."""
    first, second = np.ravel(as_value(ar1)), np.ravel(as_value(ar2))
    first = same_dtype(first, np.result_type(dtype_of(first), dtype_of(second)))
    values, here = unique(first, return_index=True)
    kept = np.isin(values, second)
    if not return_indices:
        return values[kept]
    others, there = unique(second, return_index=True)
    return values[kept], here[kept], there[np.isin(others, first)]


@implements(np.setdiff1d)
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """`np.setdiff1d`."""
    values = np.ravel(as_value(ar1)) if assume_unique else unique(ar1)
    return values[np.isin(values, ar2, invert=True)]


@implements(np.setxor1d)
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    """`np.setxor1d`."""
    first, second = unique(ar1), unique(ar2)
    parts = [first[np.isin(first, second, invert=True)], second[np.isin(second, first, invert=True)]]
    return np.sort(np.concatenate(parts))
