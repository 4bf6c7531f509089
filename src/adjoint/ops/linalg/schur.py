"""Schur's form of a real matrix with real eigenvalues, all different: A = Z T Z^T with T upper triangular."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError, message
from ...core.primitive import Primitive
from ...core.values import Value, shape_of
from ...rules.opaque import Opaque
from ...rules.stacking import one_by_one
from .solving import solve, swapped


def _schur(a: Any) -> tuple[Any, Any]:
    import scipy.linalg

    t, z = scipy.linalg.schur(a)
    if np.any(np.diagonal(t, -1) != 0):
        raise UnsupportedError(
            message(
                "scipy.linalg.schur is not differentiated for complex eigenvalues: the blocks of T are not unique.",
                fix="Use  np.linalg.eig,  or  scipy.linalg.eigh  for a symmetric matrix.",
            )
        )
    return t, z


def _jvp(tangents: Sequence[Value], out: Any, args: Sequence[Value], params: dict[str, Any]) -> list[Value]:
    """dT = M + T X - X T is upper triangular for M = Z^T dA Z and X = Z^T dZ, which is antisymmetric.

    The elements of X below the diagonal are the unknowns of a system with as many equations.
    """
    t, z = out
    n = shape_of(t)[0]
    moved = swapped(z) @ tangents[0] @ z
    if n == 1:
        return [moved, z * 0.0]
    rows, columns = np.tril_indices(n, -1)
    count = len(rows)
    units = np.zeros((count, n, n))
    units[np.arange(count), rows, columns] = 1.0
    units[np.arange(count), columns, rows] = -1.0
    effect = t @ units - units @ t
    below = effect[:, rows, columns]
    turn = solve(swapped(below), -moved[rows, columns][:, None])[:, 0]
    x = np.reshape(turn @ np.reshape(units, (count, n * n)), (n, n))
    return [np.triu(moved + t @ x - x @ t), z @ x]


schur = Primitive("schur", _schur, derivative=Opaque(_jvp), stacking=one_by_one, multiple=True, fails_from=0)
