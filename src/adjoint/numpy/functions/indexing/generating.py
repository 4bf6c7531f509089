"""Indexing: generating index arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.values import decidable, dtype_of, shape_of
from ...dispatch.arguments import as_value, lengths_of, ndim_of
from ...dispatch.registry import implements
from .picking import within


@implements(np.ix_)
def ix_(*args: Any) -> tuple[Any, ...]:
    """`np.ix_`."""
    values = [as_value(a) for a in args]
    if any(ndim_of(v) != 1 for v in values):
        raise ValueError("Cross index must be 1 dimensional")
    values = [np.nonzero(v)[0] if dtype_of(v).kind == "b" else v for v in values]
    n = len(values)
    return tuple([np.reshape(v, (1,) * i + shape_of(v) + (1,) * (n - i - 1)) for i, v in enumerate(values)])


@implements(np.ravel_multi_index)
def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Any:
    """`np.ravel_multi_index`, for indices that differ between the examples of a batch."""
    lengths = lengths_of(dims)
    modes = (mode,) * len(lengths) if isinstance(mode, str) else tuple(mode)
    steps = list(zip(multi_index, lengths, modes, strict=True))
    total: Any = 0
    for index, n, how in steps if order == "C" else reversed(steps):
        total = total * n + within(_integers(index), n, how)
    return total


@implements(np.unravel_index)
def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Any, ...]:
    """`np.unravel_index`, for indices that differ between the examples of a batch."""
    lengths = lengths_of(shape)
    found: list[Any] = []
    rest = _integers(indices)
    if any(n < 0 for n in lengths) or np.any((decidable(rest) < 0) | (decidable(rest) >= int(np.prod(lengths)))):
        raise ValueError(f"index is out of bounds for array with size {int(np.prod(lengths))}")
    if order not in ("C", "F", None):
        raise ValueError("only 'C' or 'F' order is permitted")
    for n in lengths if order == "F" else reversed(lengths):
        found.append(np.remainder(rest, n))
        rest = np.floor_divide(rest, n)
    return tuple(found if order == "F" else found[::-1])


def _integers(indices: Any) -> Any:
    indices = as_value(indices)
    if dtype_of(indices).kind not in "iub":
        raise TypeError("only int indices permitted")
    return indices


@implements(np.diag_indices_from)
def diag_indices_from(arr: Any) -> Any:
    """`np.diag_indices_from`."""
    return np.diag_indices_from(np.empty(shape_of(arr), bool))


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
