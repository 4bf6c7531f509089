"""NumPy's orders, searches and sets: where the elements are is a constant, the elements are differentiated."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.values import dtype_of, raw, shape_of
from ..ops import indexing, places
from .registry import as_value, axis_of, implements, ndim_of
from .shapes import lengths_of, same_dtype


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


@implements(np.lexsort)
def lexsort(keys: Any, axis: int = -1) -> Any:
    """`np.lexsort`."""
    return places.lexsort(*[as_value(key) for key in keys], axis=axis)


@implements(np.searchsorted)
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """`np.searchsorted`."""
    return places.searchsorted(as_value(a), as_value(v), *([] if sorter is None else [as_value(sorter)]), side=side)


@implements(np.digitize)
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """`np.digitize`."""
    return places.digitize(as_value(x), as_value(bins), right=right)


@implements(np.nonzero)
def nonzero(a: Any) -> tuple[Any, ...]:
    """`np.nonzero`."""
    if ndim_of(a) == 0:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    return tuple(places.nonzero(as_value(a)))


@implements(np.argwhere)
def argwhere(a: Any) -> Any:
    """`np.argwhere`."""
    a = as_value(a)
    if ndim_of(a) == 0:
        return np.argwhere(np.atleast_1d(a))[:, :0]
    return np.transpose(places.nonzero(a))


@implements(np.flatnonzero)
def flatnonzero(a: Any) -> Any:
    """`np.flatnonzero`."""
    return np.nonzero(np.ravel(as_value(a)))[0]


@implements(np.count_nonzero)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """`np.count_nonzero`."""
    return np.sum(np.not_equal(as_value(a), 0), axis, dtype=np.intp, keepdims=keepdims)


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


@implements(np.tril_indices_from)
def tril_indices_from(arr: Any, k: int = 0) -> Any:
    """`np.tril_indices_from`."""
    return _indices(np.tril_indices, arr, k)


@implements(np.triu_indices_from)
def triu_indices_from(arr: Any, k: int = 0) -> Any:
    """`np.triu_indices_from`."""
    return _indices(np.triu_indices, arr, k)


def _indices(function: Any, arr: Any, k: int) -> Any:
    rows, columns = _matrix_shape(arr)
    return function(rows, k, columns)


def _matrix_shape(arr: Any) -> tuple[int, int]:
    if ndim_of(arr) != 2:
        raise ValueError("input array must be 2-d")
    return shape_of(arr)  # type: ignore[return-value]


@implements(np.diag_indices_from)
def diag_indices_from(arr: Any) -> Any:
    """`np.diag_indices_from`."""
    return np.diag_indices_from(np.empty(shape_of(arr), bool))


@implements(np.unravel_index)
def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Any, ...]:
    """`np.unravel_index`, for indices that differ between the examples of a batch."""
    lengths = lengths_of(shape)
    found: list[Any] = []
    rest = _integers(indices)
    if any(n < 0 for n in lengths) or np.any((raw(rest) < 0) | (raw(rest) >= int(np.prod(lengths)))):
        raise ValueError(f"index is out of bounds for array with size {int(np.prod(lengths))}")
    if order not in ("C", "F", None):
        raise ValueError("only 'C' or 'F' order is permitted")
    for n in lengths if order == "F" else reversed(lengths):
        found.append(np.remainder(rest, n))
        rest = np.floor_divide(rest, n)
    return tuple(found if order == "F" else found[::-1])


@implements(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    """`np.ravel_multi_index`, for indices that differ between the examples of a batch."""
    from .picking import within

    lengths = lengths_of(dims)
    modes = (mode,) * len(lengths) if isinstance(mode, str) else tuple(mode)
    steps = list(zip(multi_index, lengths, modes, strict=True))
    total: Any = 0
    for index, n, how in steps if order == "C" else reversed(steps):
        total = total * n + within(_integers(index), n, how)
    return total


def _integers(indices: Any) -> Any:
    indices = as_value(indices)
    if dtype_of(indices).kind not in "iub":
        raise TypeError("only int indices permitted")
    return indices
