"""Sparse matrices whose elements move: products and solutions, with respect to the elements and to what they meet.

A matrix is its pattern, which is constant, and a vector of elements in the order of the pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.primitive import Primitive
from ...core.traced import LOCAL
from ...core.values import Value, dtype_of, shape_of
from ...rules.multilinear import Multilinear
from ...rules.opaque import Opaque
from ...rules.stacking import one_by_one


class Pattern:
    """Where the elements of a sparse matrix are: row after row, in each row from left to right, none twice."""

    __slots__ = ("_factors", "columns", "rows", "shape", "starts")

    def __init__(self, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> None:
        self.rows, self.columns, self.shape = rows, columns, shape
        self.starts = np.searchsorted(rows, np.arange(shape[0] + 1))
        self._factors: tuple[np.ndarray, Any] | None = None

    @property
    def size(self) -> int:
        """How many elements there are."""
        return len(self.rows)

    def ends(self, transposed: bool) -> tuple[np.ndarray, np.ndarray]:
        """The place in the result and the place in the operand that each element connects."""
        return (self.columns, self.rows) if transposed else (self.rows, self.columns)

    def matrix(self, elements: np.ndarray, transposed: bool = False) -> Any:
        """The SciPy matrix with these elements."""
        from scipy.sparse import csc_array, csr_array

        parts = (elements, self.columns, self.starts)
        return csc_array(parts, shape=self.shape[::-1]) if transposed else csr_array(parts, shape=self.shape)

    def factors(self, elements: np.ndarray) -> Any:
        """The factors of the matrix; those of the last one are kept, as the sweep back asks for them again."""
        from scipy.sparse.linalg import splu

        kept = self._factors
        if kept is None or kept[0].dtype != elements.dtype or not np.array_equal(kept[0], elements):
            depth, LOCAL.depth = LOCAL.depth, 0  # the values are plain: SciPy's own function, whoever is tracing
            try:
                kept = self._factors = np.array(elements), splu(self.matrix(elements).tocsc())
            finally:
                LOCAL.depth = depth
        return kept[1]

    def __repr__(self) -> str:
        return f"<pattern {self.shape[0]} x {self.shape[1]}, {self.size} elements>"


def sampled(g: Value, x: Value, *, pattern: Pattern, transposed: bool) -> Value:
    """The elements of the outer product of g and x that the pattern has."""
    out, into = pattern.ends(transposed)
    found = g[out] * x[into]
    return np.sum(found, axis=-1) if len(shape_of(found)) > 1 else found


def _by_columns(primitive: Any, values: Sequence[Value], batched: Sequence[bool], params: dict, size: int) -> Value:
    """One matrix with a batch of operands: more columns."""
    elements, x = values
    if batched[0]:
        return one_by_one(primitive, values, batched, params, size)
    shape = shape_of(x)
    moved = np.moveaxis(x, 0, -1)
    found = primitive(elements, np.reshape(moved, (shape[1], -1)), **params)
    return np.moveaxis(np.reshape(found, (shape_of(found)[0], *shape[2:], size)), -1, 0)


def _product(elements: Any, x: Any, *, pattern: Pattern, transposed: bool) -> Any:
    return pattern.matrix(elements, transposed) @ x


pattern_product = Primitive(
    "pattern_product",
    _product,
    derivative=Multilinear(
        lambda g, out, d, x, *, pattern, transposed: sampled(g, x, pattern=pattern, transposed=transposed),
        lambda g, out, d, x, *, pattern, transposed: pattern_product(d, g, pattern=pattern, transposed=not transposed),
    ),
    stacking=_by_columns,
)
"""The matrix with these elements, or its transpose, times a vector or columns."""


def _solution(elements: Any, b: Any, *, pattern: Pattern, transposed: bool) -> Any:
    kind = np.result_type(elements, b, np.float64)
    factors = pattern.factors(np.asarray(elements, np.result_type(elements, np.float64)))
    way = "T" if transposed else "N"
    if kind.kind == "c" and dtype_of(elements).kind != "c":
        return factors.solve(np.ascontiguousarray(b.real), way) + 1j * factors.solve(np.ascontiguousarray(b.imag), way)
    return factors.solve(np.asarray(b, kind), way)


def _solution_jvp(tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> Value:
    moved, change = tangents
    right = 0.0 if change is None else change
    if moved is not None:
        right = right - pattern_product(moved, out, **params)
    return pattern_solution(args[0], right, **params)


def _solution_vjp(
    g: Value, out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]
) -> list[Value | None]:
    back = {"pattern": params["pattern"], "transposed": not params["transposed"]}
    to_b = pattern_solution(args[0], g, **back)
    return [-sampled(to_b, out, **params) if needed[0] else None, to_b if needed[1] else None]


pattern_solution = Primitive(
    "pattern_solution",
    _solution,
    derivative=Opaque(_solution_jvp, _solution_vjp),
    stacking=_by_columns,
    fails_from=0,
)
"""x with a x = b for the matrix with these elements, or its transpose; the sweep back takes the same factors."""


def _iterated(elements: Any, b: Any, *, pattern: Pattern, transposed: bool, solver: Any) -> Any:
    return solver(pattern.matrix(elements, transposed), b, transposed)


def _iterated_jvp(tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> list[Value | None]:
    moved, change = tangents
    right = 0.0 if change is None else change
    if moved is not None:
        product = {"pattern": params["pattern"], "transposed": params["transposed"]}
        right = right - pattern_product(moved, out[0], **product)
    return [iterated_solution(args[0], right, **{**params, "solver": params["solver"].exact})[0], None]


def _iterated_vjp(
    g: Any, out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]
) -> list[Value | None]:
    where = {"pattern": params["pattern"], "transposed": params["transposed"]}
    back = {**where, "transposed": not params["transposed"], "solver": params["solver"].exact}
    to_b = iterated_solution(args[0], g[0], **back)[0]
    return [-sampled(to_b, out[0], **where) if needed[0] else None, to_b if needed[1] else None]


iterated_solution = Primitive(
    "iterated_solution",
    _iterated,
    derivative=Opaque(_iterated_jvp, _iterated_vjp),
    stacking=one_by_one,
    multiple=True,
    fails_from=0,
)
"""x with a x = b by a solver that iterates, and what it says of its success; derivatives are those of the solution."""
