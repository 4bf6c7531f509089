"""Array creation: building matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.values import dtype_of, shape_of
from ....ops import indexing, selection
from ....ops.keys import HOLE
from ...dispatch.arguments import as_value, ndim_of, same_dtype
from ...dispatch.registry import implements


@implements(np.diag)
def diag(v: Any, k: int = 0) -> Any:
    """`np.diag`: a matrix of its diagonal, or the diagonal of a matrix."""
    v = as_value(v)
    if ndim_of(v) == 1:
        n = shape_of(v)[0]
        rows = np.arange(n) + max(-k, 0)
        shape = (n + abs(k),) * 2
        return indexing.unindex(v, rows, rows + k, template=(HOLE, HOLE), shape=shape)
    if ndim_of(v) == 2:
        return np.diagonal(v, k)
    raise ValueError("Input must be 1- or 2-d.")


@implements(np.diagflat)
def diagflat(v: Any, k: int = 0) -> Any:
    """`np.diagflat`."""
    return diag(np.ravel(as_value(v)), k)


@implements(np.tril, exact=True)
def tril(m: Any, k: int = 0) -> Any:
    """`np.tril`."""
    return selection.where(np.tri(*shape_of(m)[-2:], k=k, dtype=bool), as_value(m), np.zeros(1, dtype_of(m)))


@implements(np.triu, exact=True)
def triu(m: Any, k: int = 0) -> Any:
    """`np.triu`."""
    return selection.where(np.tri(*shape_of(m)[-2:], k=k - 1, dtype=bool), np.zeros(1, dtype_of(m)), as_value(m))


@implements(np.vander)
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    """`np.vander`: the powers as running products, as NumPy forms them."""
    if ndim_of(x) != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    count = shape_of(x)[0] if N is None else N
    if count < 0:
        raise ValueError("negative dimensions are not allowed")
    x = same_dtype(x, np.promote_types(dtype_of(x), int))
    powers: list[Any] = [np.ones(shape_of(x), dtype_of(x)), x][:count]
    while len(powers) < count:
        powers.append(powers[-1] * x)
    if not powers:
        return np.zeros((shape_of(x)[0], 0), dtype_of(x))
    return np.stack(powers if increasing else powers[::-1], 1)
