"""Patterns that users give: sparse or dense matrices, or what `ad.sparse.sparsity` returns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import InputError, message
from ...core.values import describe, dtype_of
from .sets import Sets, matrix, scipy_sparse
from .sparsity import Sparsity


def as_pattern(given: Any, shape: tuple[int, int], transform: str, *, second: bool) -> Sets:
    """The pattern as sets; of a symmetric one, one triangle is enough."""
    rows, columns, have = entries_of(given, transform)
    if have != shape:
        raise InputError(
            message(
                f"The pattern given to {transform} does not have the shape of the derivatives.",
                got=f"{have[0]} x {have[1]} for {shape[0]} x {shape[1]}",
                fix="Give a row for each number of the "
                + ("argument" if second else "result")
                + " and a column for each number of the argument.",
            )
        )
    if second:
        rows, columns = np.concatenate([rows, columns]), np.concatenate([columns, rows])
    return matrix(rows, columns, shape)


def entries_of(given: Any, transform: str) -> tuple[Any, Any, tuple[int, int]]:
    """The rows and columns of all entries, and the shape: those that a sparse matrix stores, or that are not 0."""
    given = given.matrix if isinstance(given, Sparsity) else given
    if scipy_sparse().issparse(given):
        found = given.tocoo()
        return found.row, found.col, (int(found.shape[0]), int(found.shape[1]))
    dense = np.asarray(given)
    if dense.ndim != 2 or dense.dtype.kind not in "biuf":
        raise InputError(
            message(
                f"The pattern given to {transform} has to be a matrix.",
                got=describe(given),
                fix="Give a sparse array of SciPy's, or a matrix of truth values.",
            )
        )
    rows, columns = np.nonzero(dense)
    return rows, columns, (dense.shape[0], dense.shape[1])


def trial_vector(size: int) -> Any:
    """A random vector, the same each time, that a pattern is tried with."""
    return np.random.default_rng(0).uniform(0.5, 1.5, size)


def lacking(found: Any, vector: Any, right: Any) -> tuple[Any, Any]:
    """The product of what was found with a vector, and which rows of it are wrong: there the pattern lacks entries."""
    have = found @ vector
    with np.errstate(invalid="ignore"):
        size = abs(found) @ vector + np.abs(right)
        differs = np.abs(have - right) > np.sqrt(np.finfo(dtype_of(right)).eps) * size
    return have, differs | (np.isfinite(have) & ~np.isfinite(right))
