"""What is timed: functions with sparse derivatives, and the same derivatives worked out by a person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Work:
    """One row of the table."""

    title: str
    function: Callable[[Any], Any]
    point: Callable[[int], Any]
    """Makes the argument, of a given size."""
    size: int
    dense: int
    """The size at which the dense derivatives are compared: the other one would not fit into memory."""
    second: bool
    by_hand: Callable[[int], Callable[[Any], Any]]
    """For a size, what makes the sparse array of a point; its indices are found beforehand."""


def chain(x: Any) -> Any:
    """Rosenbrock's function of many variables."""
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def chain_by_hand(n: int) -> Callable[[Any], Any]:
    """Its tridiagonal Hessian, written into the data of a sparse array."""
    pattern = sp.diags_array([np.ones(n), np.ones(n - 1), np.ones(n - 1)], offsets=[0, 1, -1]).tocsr()
    indices, indptr = pattern.indices, pattern.indptr

    def hessian(x: np.ndarray) -> Any:
        rows = np.zeros((n, 3))  # below, on and above the diagonal
        rows[1:, 1] = 200.0
        rows[:-1, 1] += 1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 2.0
        rows[1:, 0] = rows[:-1, 2] = -400.0 * x[:-1]
        return sp.csr_array((rows.reshape(-1)[1:-1], indices.copy(), indptr.copy()), shape=(n, n))

    return hessian


def reaction(u: Any) -> Any:
    """Diffusion on a grid by five points, and a reaction."""
    p = np.pad(u, 1)
    return 4.0 * u - p[2:, 1:-1] - p[:-2, 1:-1] - p[1:-1, 2:] - p[1:-1, :-2] + np.exp(u)


def reaction_by_hand(m: int) -> Callable[[Any], Any]:
    """Its Jacobian: all entries but those of the diagonal are known beforehand."""
    line = sp.diags_array([np.ones(m - 1), np.ones(m - 1)], offsets=[1, -1])
    around = sp.kron(line, sp.eye_array(m)) + sp.kron(sp.eye_array(m), line)
    known = (4.0 * sp.eye_array(m * m) - around).tocsr()
    rows = np.repeat(np.arange(m * m), np.diff(known.indptr))
    diagonal = np.flatnonzero(known.indices == rows)

    def jacobian(u: np.ndarray) -> Any:
        found = known.copy()
        found.data[diagonal] += np.exp(u).reshape(-1)
        return found

    return jacobian


def hub(x: Any) -> Any:
    """One input that meets all others: an arrow."""
    return np.sum(x[0] * np.sin(x[1:]))


def hub_by_hand(n: int) -> Callable[[Any], Any]:
    """Its Hessian: the first row, the first column, the diagonal."""
    others = np.arange(1, n)
    first = np.zeros(n - 1, int)
    rows, columns = np.concatenate([first, others, others]), np.concatenate([others, first, others])
    order = np.lexsort((columns, rows))
    pattern = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(n, n)).tocsr()

    def hessian(x: np.ndarray) -> Any:
        cosines = np.cos(x[1:])
        data = np.concatenate([cosines, cosines, -x[0] * np.sin(x[1:])])[order]
        return sp.csr_array((data, pattern.indices.copy(), pattern.indptr.copy()), shape=(n, n))

    return hessian


def numbers(n: int) -> np.ndarray:
    """A vector that looks like any other."""
    return np.random.default_rng(0).normal(size=n)


def square(m: int) -> np.ndarray:
    """A grid."""
    return np.random.default_rng(0).normal(size=(m, m))


WORKS = {
    "chain": Work("tridiagonal Hessian", chain, numbers, 100_000, 500, True, chain_by_hand),
    "grid": Work("five points on a grid, Jacobian", reaction, square, 300, 24, False, reaction_by_hand),
    "arrow": Work("arrow, Hessian", hub, numbers, 100_000, 500, True, hub_by_hand),
}
