"""Determinants and inverses of small matrices by sums of products: how they are written out number by number."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.values import Value

MOST_ROWS = 3
"""Determinants of larger matrices have more terms than anybody wants to read."""


def det_by_rows(a: Value) -> Value:
    """The determinant by its first row; a stack of matrices has one each."""
    columns = list(range(_few(a)))
    return _each_matrix(a, lambda m: _minor(m, columns, 0))


def inv_by_cofactors(a: Value) -> Value:
    """The inverse by cofactors."""
    n = _few(a)

    def inverted(m: Value) -> Value:
        size, found = _minor(m, list(range(n)), 0), np.empty((n, n), object)
        for i, j in np.ndindex(n, n):
            rest = np.delete(m, i, 0)
            found[j, i] = (-1.0) ** (i + j) * _minor(rest, [k for k in range(n) if k != j], 0) / size
        return found

    return _each_matrix(a, inverted)


def _few(a: Value) -> int:
    n = int(np.shape(a)[-1])
    if n > MOST_ROWS:
        raise ValueError("too many terms")
    return n


def _minor(m: Value, columns: list[int], row: int) -> Value:
    if not columns:
        return 1.0
    terms = [
        (m[row, c] if len(columns) == 1 else m[row, c] * _minor(m, [k for k in columns if k != c], row + 1))
        * (1.0 if j % 2 == 0 else -1.0)
        for j, c in enumerate(columns)
    ]
    return sum(terms[1:], terms[0])


def _each_matrix(a: Value, function: Callable[[Value], Value]) -> Value:
    parts = [function(m) for m in np.reshape(a, (-1, *np.shape(a)[-2:]))]
    if np.ndim(a) == 2:
        return parts[0]
    box = np.empty((len(parts), *np.shape(parts[0])), object)
    for k, part in enumerate(parts):
        box[k] = part
    return box.reshape((*np.shape(a)[:-2], *np.shape(parts[0])))
