"""NumPy's matrices and grids made of given elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.values import dtype_of, shape_of
from ..ops import indexing, selection
from ..ops.indexing import HOLE
from .registry import as_value, deliver, implements, ndim_of
from .shapes import same_dtype


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


@implements(np.trace)
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    """`np.trace`."""
    return deliver(np.sum(np.diagonal(a, offset, axis1, axis2), -1, dtype), out)


@implements(np.tril)
def tril(m: Any, k: int = 0) -> Any:
    """`np.tril`."""
    return selection.where(np.tri(*shape_of(m)[-2:], k=k, dtype=bool), as_value(m), np.zeros(1, dtype_of(m)))


@implements(np.triu)
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


@implements(np.meshgrid)
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """`np.meshgrid`."""
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    n = len(xi)
    places = list(range(n))
    if indexing == "xy" and n > 1:
        places[0], places[1] = 1, 0
    grids = [np.reshape(as_value(x), (1,) * p + (-1,) + (1,) * (n - 1 - p)) for x, p in zip(xi, places, strict=True)]
    wide: Any = grids if sparse else np.broadcast_arrays(*grids)
    return tuple([np.copy(g) for g in wide]) if copy else (BARE_GRIDS if sparse else tuple)(wide)


BARE_GRIDS: Any = type(np.meshgrid(np.zeros(1), copy=False, sparse=True))
"""The container of grids that are neither copied nor spread: a list before NumPy 2.5."""


@implements(np.broadcast_arrays)
def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[Any, ...]:
    """`np.broadcast_arrays`."""
    values = [as_value(a) for a in args]
    shape = np.broadcast_shapes(*[shape_of(v) for v in values])
    return tuple([np.broadcast_to(v, shape) for v in values])


@implements(np.ix_)
def ix_(*args: Any) -> tuple[Any, ...]:
    """`np.ix_`."""
    values = [as_value(a) for a in args]
    if any(ndim_of(v) != 1 for v in values):
        raise ValueError("Cross index must be 1 dimensional")
    values = [np.nonzero(v)[0] if dtype_of(v).kind == "b" else v for v in values]
    n = len(values)
    return tuple([np.reshape(v, (1,) * i + shape_of(v) + (1,) * (n - i - 1)) for i, v in enumerate(values)])


@implements(np.sort_complex)
def sort_complex(a: Any) -> Any:
    """`np.sort_complex`."""
    wide = {"b": np.complex64, "h": np.complex64, "B": np.complex64, "H": np.complex64, "g": np.clongdouble}.get(
        dtype_of(a).char, np.complex128
    )
    return np.sort(a) if dtype_of(a).kind == "c" else same_dtype(np.sort(a), wide)
