"""Solving with a banded matrix, of which only the diagonals are stored, as LAPACK does: `ab[u + i - j, j] == a[i, j]`.

The derivative never makes the matrix whole: transposes and products go diagonal by diagonal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.primitive import Primitive
from ...core.values import Value, dtype_of, shape_of
from ...rules.opaque import Opaque
from ...rules.stacking import one_by_one


def shifted(x: Value, by: int) -> Value:
    """The elements of the first axis moved ahead by so many places, with zeros behind them."""
    n = shape_of(x)[0]
    if by == 0:
        return x
    if abs(by) >= n:
        return x * 0.0
    gap = np.zeros((abs(by), *shape_of(x)[1:]), dtype_of(x))
    return np.concatenate([x[by:], gap]) if by > 0 else np.concatenate([gap, x[:by]])


def _masks(lower: int, upper: int, n: int) -> np.ndarray:
    """Which of the stored elements are inside the matrix."""
    rows = np.arange(lower + upper + 1)[:, None] - upper + np.arange(n)
    return (rows >= 0) & (rows < n)


def within(ab: Value, *, lower: int, upper: int) -> Value:
    """The diagonals with zeros in the corners that belong to no element of the matrix."""
    mask = _masks(lower, upper, shape_of(ab)[-1])
    return ab if mask.all() else np.where(mask, ab, 0.0)


def banded_transpose(ab: Value, *, lower: int, upper: int) -> Value:
    """The diagonals of the transposed matrix, which has `upper` and `lower` exchanged."""
    ab = within(ab, lower=lower, upper=upper)
    return np.stack([shifted(ab[upper + k], -k) for k in range(lower, -upper - 1, -1)])


def banded_product(ab: Value, x: Value, *, lower: int, upper: int) -> Value:
    """The matrix times columns: each diagonal times the rows that it meets."""
    ab = within(ab, lower=lower, upper=upper)
    total: Any = 0.0
    for row in range(lower + upper + 1):  # of a[i, i - k], k = row - upper
        total = total + shifted(ab[row][:, None] * x, upper - row)
    return total


def _outer(g: Value, x: Value, *, lower: int, upper: int) -> Value:
    """The elements of the outer product of g and x that are on the diagonals."""
    rows = [np.sum(shifted(g, row - upper) * x, axis=-1) for row in range(lower + upper + 1)]
    return within(np.stack(rows), lower=lower, upper=upper)


def _solved(ab: Any, b: Any, *, lower: int, upper: int) -> Any:
    from scipy.linalg import solve_banded

    return solve_banded((lower, upper), ab, b)


def _jvp(tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict[str, int]) -> Value:
    (ab, _), (moved, change) = args, tangents
    right = 0.0 if change is None else change
    if moved is not None:
        right = right - banded_product(moved, out, **params)
    return banded_solve(ab, right, **params)


def _vjp(
    g: Value, out: Value, args: Sequence[Value], params: dict[str, int], needed: Sequence[bool]
) -> list[Value | None]:
    turned = banded_transpose(args[0], **params)
    to_b = banded_solve(turned, g, lower=params["upper"], upper=params["lower"])
    return [-_outer(to_b, out, **params) if needed[0] else None, to_b if needed[1] else None]


banded_solve = Primitive("banded_solve", _solved, derivative=Opaque(_jvp, _vjp), stacking=one_by_one, fails_from=0)
"""x with a x = b, for the diagonals `ab` of a, and columns b."""
