"""Products with the identity, which Jacobians begin with: all tangents at once are its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ir.fold import read_by
from ...ir.program import Program, Step, Type
from ...ops.contraction import matmul

SMALLEST = 16
"""Rows from which on a product is dearer than looking at the matrix once."""


def identities_of(program: Program) -> set[int]:
    """The constants of a program that are identity matrices, and stay so."""
    multiplied = read_by([s for s in program.steps if s.primitive is matmul])
    return {n for n in program.frozen & multiplied if _is_identity(program.constants.get(n))}


def _is_identity(x: object) -> bool:
    if not isinstance(x, np.ndarray) or x.ndim != 2 or x.dtype.kind != "f" or not SMALLEST <= len(x) == x.shape[1]:
        return False
    return bool(x[0, 0] == 1.0 and x[0, 1] == 0.0 and np.array_equal(x, np.eye(len(x))))


def multiplied_by_identity(types: Sequence[Type], step: Step, identities: set[int]) -> tuple[int | None, int]:
    """The matrix that a step multiplies with the identity, and the axis along which its elements meet; None if none."""
    if step.primitive is not matmul or not identities.intersection(step.args):
        return None, 0
    x, y = step.args
    matrix, axis = (y, -2) if x in identities else (x, -1)
    t, out = types[matrix], types[step.outs[0]]
    return (matrix, axis) if len(t.shape) == 2 and t.dtype == out.dtype else (None, 0)


def times_identity(x: Any, *, axis: int) -> Any:
    """The bits of the product: the matrix with zeros that are positive, and nan where another infinity meets a zero."""
    bad = np.astype(~np.isfinite(x), x.dtype)
    others = np.sum(bad, axis=axis, keepdims=True) - bad
    return np.where(others > 0.0, np.nan, x + 0.0)
