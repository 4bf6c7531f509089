"""Averages, covariances, histograms."""

from __future__ import annotations

import builtins
import warnings
from typing import Any

import numpy as np

from ..core.errors import BatchError, message
from ..core.traced import Traced
from ..core.values import dtype_of, plain, raw, shape_of
from ..ops.declare import CONSTANT, declare
from ..ops.indexing import HOLE, unindex
from ..rules.stacking import one_by_one
from .products import result_dtype
from .registry import NO_VALUE, as_value, deliver, given, implements, is_true, ndim_of


@implements(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = NO_VALUE) -> Any:
    """`np.average`."""
    a = as_value(a)
    if weights is None:
        found = np.mean(a, axis, keepdims=is_true(keepdims))
        scale: Any = np.asarray(_size(a) / max(_size(found), 1), dtype_of(found))
    else:
        weights = _spread_weights(as_value(weights), a, axis)
        dtype = result_dtype(a, weights) if dtype_of(a).kind in "fc" else result_dtype(a, weights, np.float64(0))
        scale = np.sum(weights, axis, dtype, keepdims=is_true(keepdims))
        if np.any(raw(scale) == 0.0):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        found = np.sum(a * weights, axis, dtype, keepdims=is_true(keepdims)) / scale
    return (found, np.broadcast_to(scale, shape_of(found))) if returned else found


def _spread_weights(weights: Any, a: Any, axis: Any) -> Any:
    shape = shape_of(a)
    if shape_of(weights) == shape:
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    given_axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    places = [int(i) % len(shape) for i in given_axes]
    if shape_of(weights) != tuple([shape[i] for i in places]):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    ordered = np.transpose(weights, list(np.argsort(places)))
    return np.reshape(ordered, tuple([n if i in places else 1 for i, n in enumerate(shape)]))


def _size(x: Any) -> int:
    return int(np.prod(shape_of(x)))


@implements(np.ptp)
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE) -> Any:
    """`np.ptp`."""
    return deliver(np.max(a, axis, None, is_true(keepdims)) - np.min(a, axis, None, is_true(keepdims)), out)


@implements(np.cov)
def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    """`np.cov`."""
    x = _rows(as_value(m), rowvar)
    if y is not None:
        x = np.concatenate([x, _rows(as_value(y), rowvar)], 0)
    if given(dtype):
        x = np.astype(x, dtype)
    elif dtype_of(x) != (wide := np.result_type(dtype_of(x), np.float64)):
        x = np.astype(x, wide)
    weights = None if fweights is None else np.asarray(fweights, float)
    if aweights is not None:
        weights = as_value(aweights) if weights is None else weights * as_value(aweights)
    ddof = (0 if bias else 1) if ddof is None else ddof
    mean, total = np.average(x, 1, weights, returned=True)
    total = total[0]
    if weights is None:
        freedom: Any = shape_of(x)[1] - ddof
    elif ddof == 0:
        freedom = total
    elif aweights is None:
        freedom = total - ddof
    else:
        freedom = total - ddof * np.sum(weights * as_value(aweights)) / total
    if np.any(raw(freedom) <= 0):
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=2)
        freedom = 0.0
    gap = x - mean[:, None]
    scaled = gap if weights is None else gap * weights
    found = (gap @ np.conjugate(np.transpose(scaled))) * np.true_divide(1, freedom)
    return np.squeeze(found)


def _rows(m: Any, rowvar: bool) -> Any:
    if ndim_of(m) > 2:
        raise ValueError("m has more than 2 dimensions")
    if ndim_of(m) < 2:
        return np.reshape(m, (1, -1))
    return m if rowvar or shape_of(m)[0] == 1 else np.transpose(m)


@implements(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """`np.corrcoef`."""
    c = np.cov(x, y, rowvar, dtype=dtype)
    if ndim_of(c) == 0:
        return c / c
    n = shape_of(c)[0]
    spread = np.sqrt(np.real(np.reshape(c, (n * n,))[:: n + 1]))
    c = c / spread[:, None] / spread[None, :]
    if dtype_of(c).kind == "c":
        return np.clip(np.real(c), -1, 1) + 1j * np.clip(np.imag(c), -1, 1)
    return np.clip(c, -1, 1)


bin_of = declare(
    "bin_of",
    lambda x, edges: np.searchsorted(edges, x, side="right") - 1,
    CONSTANT,
    stacking=one_by_one,
    note="which of the bins, of ascending edges, a number is in",
)


@implements(np.bincount)
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    """`np.bincount`; linear in the weights."""
    length = max(int(np.max(raw(x))) + 1 if _size(x) else 0, int(minlength))
    weights = np.ones(shape_of(x), int) if weights is None else np.astype(as_value(weights), float)
    return unindex(weights, as_value(x), template=(HOLE,), shape=(length,))


@implements(np.histogram)
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """`np.histogram`: linear in the weights; the counts do not change with the data, the outermost edges may."""
    a = np.reshape(as_value(a), (-1,))
    edges = _edges(a, bins, range)
    counts = _binned([a], [edges], weights)
    if density:
        counts = counts / np.diff(edges) / np.sum(counts)
    return counts, edges


@implements(np.histogram2d)
def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """`np.histogram2d`."""
    if not isinstance(bins, (int, np.integer)) and len(bins) not in (1, 2):
        bins = [bins, bins]
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]


@implements(np.histogramdd)
def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """`np.histogramdd`."""
    if isinstance(sample, (list, tuple)):
        data = [as_value(part) for part in sample]
    else:
        columns = np.reshape(sample, (-1, 1)) if ndim_of(sample) == 1 else sample
        data = [columns[:, k] for k in builtins.range(shape_of(columns)[1])]
    count = len(data)
    bins = [bins] * count if isinstance(bins, (int, np.integer)) else bins
    ranges = [None] * count if range is None else range
    edges = [_edges(d, b, r) for d, b, r in zip(data, bins, ranges, strict=True)]
    counts = _binned(data, edges, weights)
    wide = np.complex128 if dtype_of(counts).kind == "c" else np.float64
    counts = counts if dtype_of(counts) == wide else np.astype(counts, wide)
    if density:
        total = np.sum(counts)
        for k, edge in enumerate(edges):
            counts = counts / np.reshape(np.diff(edge), tuple([-1 if i == k else 1 for i in builtins.range(count)]))
        counts = counts / total
    return counts, tuple(edges)


def _edges(a: Any, bins: Any, range: Any) -> Any:
    if isinstance(bins, str):
        if np.shape(plain(a)) != shape_of(a):
            raise BatchError(
                message(
                    "Inside vmap the number of bins cannot depend on the data.",
                    got=f"bins={bins!r}",
                    fix="Give the number of bins, or their edges.",
                )
            )
        bins = len(np.histogram_bin_edges(raw(a), bins, range)) - 1
    if not isinstance(bins, (int, np.integer)):
        return as_value(bins)
    low, high = (np.min(a), np.max(a)) if range is None else range
    if np.any(same := raw(low) == raw(high)):
        low, high = np.where(same, low - 0.5, low), np.where(same, high + 0.5, high)
    if not isinstance(low, Traced) and not isinstance(high, Traced):
        return np.linspace(low, high, bins + 1)
    steps = np.astype(np.arange(bins + 1) / bins, np.result_type(dtype_of(low), dtype_of(high), dtype_of(a)))
    return np.where(steps == 1, high, low + steps * (high - low))


def _binned(data: list[Any], edges: list[Any], weights: Any) -> Any:
    """Add up the weights in each bin; the last bin includes its right edge."""
    places: list[Any] = []
    inside: Any = True
    for a, edge in zip(data, edges, strict=True):
        count = shape_of(edge)[0] - 1
        place = bin_of(a, edge)
        place = np.where(a == edge[-1], count - 1, place)
        inside = (place >= 0) & (place < count) & inside
        places.append(np.clip(place, 0, count - 1).astype(int))
    weights = np.ones(shape_of(data[0]), int) if weights is None else as_value(weights)
    counted = np.where(inside, np.reshape(weights, shape_of(data[0])), 0)
    shape = tuple([shape_of(edge)[0] - 1 for edge in edges])
    return unindex(counted, *places, template=(HOLE,) * len(places), shape=shape)
