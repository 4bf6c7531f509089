"""LU with row pivots: the permutation is constant in pieces, the factors of the permuted matrix move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.primitive import Primitive
from ...core.values import Value, dtype_of, shape_of
from ...rules.opaque import Opaque
from ...rules.stacking import one_by_one
from .matrix_functions import triangular_solve
from .solving import swapped


def lower_of(packed: Value) -> Value:
    """L, with ones on its diagonal."""
    m, n = shape_of(packed)
    k = min(m, n)
    return np.tril(packed[:, :k], -1) + np.eye(m, k, dtype=dtype_of(packed))


def upper_of(packed: Value) -> Value:
    """U."""
    return np.triu(packed[: min(shape_of(packed))])


def order_of(pivots: np.ndarray, size: int) -> np.ndarray:
    """The order in which rows are taken, after LAPACK's exchanges of pairs."""
    order = np.arange(size)
    for i, p in enumerate(pivots):
        order[[i, p]] = order[[p, i]]
    return order


def _packed(a: Any) -> tuple[Any, Any, Any]:
    from scipy.linalg import get_lapack_funcs

    (getrf,) = get_lapack_funcs(("getrf",), (a,))
    packed, pivots, info = getrf(a)
    if info < 0:
        raise ValueError(f"illegal value in argument {-info} of internal getrf")
    return packed, pivots, order_of(pivots, a.shape[0])


def _jvp(tangents: Sequence[Value], out: Any, args: Sequence[Value], params: dict[str, Any]) -> list[Value | None]:
    """With M = L^-1 dB U^-1 for the square part: dL = L tril(M, -1), dU = triu(M) U; the rest follows."""
    packed, _, order = out
    moved = np.take(tangents[0], order, axis=0)
    m, n = shape_of(packed)
    k = min(m, n)
    lower, upper = lower_of(packed), upper_of(packed)
    square_l, square_u = lower[:k], upper[:, :k]
    inner = triangular_solve(square_l, moved[:k, :k], lower=True, unit=True)
    inner = swapped(triangular_solve(swapped(square_u), swapped(inner), lower=True, unit=False))
    change_l, change_u = square_l @ np.tril(inner, -1), np.triu(inner) @ square_u
    found = np.tril(change_l, -1) + change_u
    if m > n:
        rest = moved[n:] - lower[n:] @ change_u
        below = swapped(triangular_solve(swapped(square_u), swapped(rest), lower=True, unit=False))
        found = np.concatenate([found, below])
    if n > m:
        beside = triangular_solve(square_l, moved[:, m:] - change_l @ upper[:, m:], lower=True, unit=True)
        found = np.concatenate([found, beside], 1)
    return [found, None, None]


lu_packed = Primitive("lu", _packed, derivative=Opaque(_jvp), stacking=one_by_one, multiple=True, fails_from=0)
"""L and U in one matrix, LAPACK's pivots, and the order of the rows."""
