"""Sets of inputs, one for each element of a value: the rows of a sparse matrix of truth values.

None stands for a value that depends on no input. All that is done with sets is taking rows, joining them, and
multiplying with a matrix that says which of them are joined, each in time and memory proportional to the entries.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError, message

Sets = Any
"""A `scipy.sparse.csr_array` of truth values with sorted indices: a row for each element, a column for each input."""
Shape = tuple[int, ...]

MOST = 200_000_000
"""Entries of one matrix; with more of them, nothing is sparse."""


def scipy_sparse() -> Any:
    """SciPy's module, which is needed for sparse derivatives alone."""
    try:
        import scipy.sparse
    except ImportError:
        raise ImportError(
            message("Sparse derivatives need SciPy.", fix="Install it with  pip install 'adjoint[jit]'.")
        ) from None
    return scipy.sparse


def matrix(rows: Any, columns: Any, shape: tuple[int, int]) -> Sets:
    """The sets in which these columns are in these rows."""
    found = scipy_sparse().coo_array((np.ones(len(rows), bool), (rows, columns)), shape).tocsr()
    found.sum_duplicates()
    return found


def empty(count: int, width: int) -> Sets:
    """Sets with nothing in them."""
    return scipy_sparse().csr_array((count, width), dtype=bool)


def single(count: int, width: int, first: int = 0) -> Sets:
    """For each element the set of one input: the elements are the inputs from `first` on."""
    places = np.arange(count)
    return matrix(places, places + first, (count, width))


def taken(sets: Sets, rows: Any) -> Sets:
    """The sets of these elements, in this order."""
    rows = np.asarray(rows)
    _check(int(np.diff(sets.indptr)[rows].sum(dtype=float)))
    return sets[rows]


def joined(first: Sets | None, second: Sets | None) -> Sets | None:
    """Element by element, what is in one of two sets."""
    if first is None or second is None or first is second:
        return second if first is None else first
    both = first + second
    for had in (first, second):  # the same sets are the same object, so that they are known to be
        if had.nnz == both.nnz:
            return had
    return both


def product(joins: Any, sets: Sets) -> Sets:
    """What is in any of the sets that a row of `joins` names."""
    _check(int(np.diff(sets.indptr)[joins.indices].sum(dtype=float)), MOST * 10)
    found = joins @ sets
    found.sort_indices()
    return found


def grouped(sets: Sets, groups: Any, count: int) -> Sets:
    """The joint sets of `count` groups, of which each element is in one."""
    groups = np.asarray(groups).reshape(-1)
    return product(matrix(groups, np.arange(len(groups)), (count, len(groups))), sets)


def stacked(parts: Sequence[Sets | None], counts: Sequence[int], width: int) -> Sets:
    """The sets of several values, one after the other."""
    rows = [empty(n, width) if p is None else p for p, n in zip(parts, counts, strict=True)]
    if not rows:
        return empty(0, width)
    return rows[0] if len(rows) == 1 else scipy_sparse().vstack(rows, format="csr", dtype=bool)


def numbers(shape: Shape, first: int = 0) -> Any:
    """The numbers of the elements of an array, row by row."""
    return np.arange(first, first + math.prod(shape)).reshape(shape)


def with_short_indices(sets: Sets) -> Sets:
    """The same with indices of 32 bits where they suffice, as most of SciPy wants them."""
    kind = np.int32 if max(*sets.shape, sets.nnz) < 2**31 else np.int64
    parts = (sets.data, sets.indices.astype(kind), sets.indptr.astype(kind))
    return scipy_sparse().csr_array(parts, shape=sets.shape)


def broadcast(sets: Sets | None, have: Shape, want: Shape) -> Sets | None:
    """The sets of a value that is broadcast."""
    if sets is None or have == want:
        return sets
    return taken(sets, np.broadcast_to(numbers(have), want).reshape(-1))


def _check(entries: int, most: int = MOST) -> None:
    if entries > most:
        raise UnsupportedError(
            message(
                "There are too many dependences to write down: these derivatives are not sparse.",
                got=f"more than {most:.0e} in one step",
                fix="Use  ad.jacobian  or  ad.hvp,  or give the pattern yourself with  pattern=.",
            )
        )
