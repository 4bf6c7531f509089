"""Array creation: numerical ranges, and grids of them."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ....core.values import decidable, dtype_of, shape_of
from ...dispatch.arguments import as_value, ndim_of, same_dtype
from ...dispatch.registry import implements
from ..places import as_array


@implements(np.linspace)
def linspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
    axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    """`np.linspace`."""
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    kind = np.result_type(*[v if type(v) in (int, float, complex) else dtype_of(v) for v in (start, stop)], 0.0)
    start, stop = same_dtype(as_array(start), kind), same_dtype(as_array(stop), kind)
    steps = num - 1 if endpoint else num
    delta = np.subtract(stop, start)
    step = delta / steps if steps > 0 else np.nan
    counts = np.reshape(np.arange(num, dtype=kind), (-1,) + (1,) * ndim_of(delta))
    # where the step underflows, the fractions are taken first, as NumPy does
    spaced = np.where(np.equal(step, 0), counts / max(steps, 1) * delta, counts * step) if steps > 0 else counts * delta
    spaced = spaced + start
    if endpoint and num > 1:
        spaced = np.concatenate(
            [spaced[:-1], np.reshape(np.broadcast_to(stop, shape_of(delta)), (1, *shape_of(delta)))]
        )
    spaced = np.moveaxis(spaced, 0, axis) if axis != 0 else spaced
    if dtype is not None and np.issubdtype(dtype, np.integer):
        spaced = np.floor(spaced)
    spaced = same_dtype(spaced, dtype or kind)
    return (spaced, step) if retstep else spaced


@implements(np.logspace)
def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    """`np.logspace`."""
    if ndim_of(as_value(base)):
        rank = max(ndim_of(as_value(v)) for v in (start, stop, base))
        start, stop = (_with_rank(v, rank) for v in (start, stop))
        base = np.expand_dims(_with_rank(base, rank), axis)
    powers = np.power(base, linspace(start, stop, num, endpoint, axis=axis))
    return same_dtype(powers, dtype)


def _with_rank(x: Any, rank: int) -> Any:
    x = as_value(x)
    return x if ndim_of(x) == rank else np.reshape(x, (1,) * (rank - ndim_of(x)) + shape_of(x))


@implements(np.geomspace)
def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    """`np.geomspace`; both ends are exactly those given."""
    start, stop = as_value(start), as_value(stop)
    if np.any(decidable(start) == 0) or np.any(decidable(stop) == 0):
        raise ValueError("Geometric sequence cannot include zero")
    kind = np.result_type(dtype_of(start), dtype_of(stop), float(num), np.zeros((), dtype))
    start, stop = same_dtype(start * 1.0, kind), same_dtype(stop * 1.0, kind)
    both = np.zeros(np.broadcast_shapes(shape_of(start), shape_of(stop)))
    start, stop = start + both, stop + both
    sign = np.sign(start)
    first, last = start / sign, stop / sign
    spaced = logspace(np.log10(first), np.log10(last), num, endpoint)
    if num > 0:
        middle = spaced[1:]
        if num > 1 and endpoint:
            middle = np.concatenate([spaced[1:-1], np.reshape(last, (1, *shape_of(last)))])
        spaced = np.concatenate([np.reshape(first, (1, *shape_of(first))), middle])
    spaced = spaced * sign
    spaced = np.moveaxis(spaced, 0, axis) if axis != 0 else spaced
    return same_dtype(spaced, dtype or kind)


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
