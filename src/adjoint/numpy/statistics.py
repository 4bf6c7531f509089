"""Averages, covariances, histograms."""

from __future__ import annotations

import builtins
import math
import operator
import warnings
from typing import Any

import numpy as np

from ..core.errors import BatchError, UnsupportedError, message
from ..core.values import dtype_of, plain, raw, shape_of
from ..ops.declare import CONSTANT, declare
from ..ops.indexing import HOLE, unindex
from ..rules.stacking import one_by_one
from .products import result_dtype
from .registry import NO_VALUE, as_value, axes_of, deliver, given, implements, is_true, ndim_of
from .shapes import same_dtype


@implements(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = NO_VALUE) -> Any:
    """`np.average`."""
    a = as_value(a)
    axis = tuple(axis) if isinstance(axis, list) else axis
    axes_of(axis, ndim_of(a))
    if weights is None:
        found = np.mean(a, axis, keepdims=is_true(keepdims))
        scale: Any = np.asarray(_size(a) / _size(found), dtype_of(found))
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
    return math.prod(shape_of(x))


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
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    m, y = as_value(m), None if y is None else as_value(y)
    kinds = [dtype_of(v) for v in (m, y) if v is not None]
    dtype = np.dtype(dtype) if given(dtype) else np.result_type(*kinds, np.float64)
    if dtype.kind not in "fc":
        raise TypeError(f"Cannot cast ufunc 'subtract' output to {dtype!r} with casting rule 'same_kind'")
    x = same_dtype(_rows(m, turned=not rowvar and ndim_of(m) != 1), dtype)
    if shape_of(x)[0] == 0:
        return np.zeros((0, 0))
    if y is not None:
        turned = not rowvar and ndim_of(y) == 2 and shape_of(y)[0] != 1
        x = np.concatenate([x, same_dtype(_rows(y, turned=turned), dtype)], 0)
    weights = None if fweights is None else np.asarray(fweights, float)
    if aweights is not None:
        weights = as_value(aweights) if weights is None else weights * as_value(aweights)
    for given_weights in (fweights, aweights):
        if given_weights is not None and np.any(raw(as_value(given_weights)) < 0):
            raise ValueError("weights cannot be negative")
    if fweights is not None and np.any(raw(as_value(fweights)) != np.round(raw(as_value(fweights)))):
        raise TypeError("fweights must be integer")
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
    return np.squeeze(same_dtype(found, dtype) if weights is None else found)


def _rows(m: Any, *, turned: bool) -> Any:
    """The data with a variable in each row."""
    if ndim_of(m) > 2:
        raise ValueError("m has more than 2 dimensions")
    m = np.reshape(m, (1, -1)) if ndim_of(m) < 2 else m
    return np.transpose(m) if turned else m


@implements(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """`np.corrcoef`."""
    c = np.cov(x, y, rowvar, dtype=dtype)
    if ndim_of(c) == 0:
        return c / c
    n = shape_of(c)[0]
    spread = np.sqrt(np.real(np.reshape(c, (n * n,))[:: n + 1]))
    c = same_dtype(c / spread[:, None] / spread[None, :], dtype_of(c))
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
    x, minlength = as_value(x), operator.index(minlength)
    x = np.astype(x, int) if dtype_of(x).kind == "b" and ndim_of(x) else x
    if ndim_of(x) != 1 or not np.can_cast(dtype_of(x), int, "safe"):
        raise ValueError("object too deep for desired array, or no integers")
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if _size(x) and np.any(raw(x) < 0):
        raise ValueError("'list' argument must have no negative elements")
    length = max(int(np.max(raw(x))) + 1 if _size(x) else 0, minlength)
    weights = np.ones(shape_of(x), int) if weights is None else np.astype(as_value(weights), float)
    if shape_of(weights) != shape_of(x):
        raise ValueError("The weights and list don't have the same length.")
    return unindex(weights, x, template=(HOLE,), shape=(length,))


@implements(np.histogram)
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """`np.histogram`: linear in the weights; the counts do not change with the data, the outermost edges may."""
    a = as_value(a)
    edges = np.histogram_bin_edges(a, bins, range, weights)
    counts = _binned([np.reshape(a, (-1,))], [edges], weights)
    if density:
        counts = counts / np.diff(edges) / np.sum(counts)
    return counts, edges


@implements(np.histogram_bin_edges)
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    """`np.histogram_bin_edges`: the outermost edges are the smallest and the largest number, the rest lies between."""
    a = as_value(a)
    a = np.astype(a, np.uint8) if dtype_of(a).kind == "b" else a
    _refuse_order(a)
    if weights is not None and shape_of(as_value(weights)) != shape_of(a):
        raise ValueError("weights should have the same shape as a.")
    if isinstance(bins, str) and weights is not None:
        raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
    return _edges(np.reshape(a, (-1,)), bins, range, same_precision=True)


def _refuse_order(a: Any) -> None:
    if dtype_of(a).kind == "c":
        raise UnsupportedError(
            message(
                "A histogram of complex numbers has no meaning.", fix="Take  np.real(z),  np.imag(z)  or  np.abs(z)."
            )
        )


@implements(np.histogram2d)
def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """`np.histogram2d`."""
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    if not isinstance(bins, (int, np.integer)) and len(bins) not in (1, 2):
        bins = [bins, bins]
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]


@implements(np.histogramdd)
def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """`np.histogramdd`."""
    if isinstance(sample, (list, tuple)):
        data = [as_value(part) for part in sample]
        if any(ndim_of(part) > 1 for part in data):
            raise ValueError("too many values to unpack (expected 2)")
        data = [np.reshape(part, (-1,)) for part in data]
    else:
        columns = np.reshape(sample, (-1, 1)) if ndim_of(sample) < 2 else sample
        if ndim_of(columns) > 2:
            raise ValueError("too many values to unpack (expected 2)")
        data = [columns[:, k] for k in builtins.range(shape_of(columns)[1])]
    count = len(data)
    for part in data:
        _refuse_order(part)
    if not isinstance(bins, (int, np.integer)) and len(bins) != count:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    bins = [bins] * count if isinstance(bins, (int, np.integer)) else bins
    ranges = [None] * count if range is None else range
    edges = [_edges(d, b, r) for d, b, r in zip(data, bins, ranges, strict=True)]
    if weights is not None and shape_of(as_value(weights)) != shape_of(data[0]):
        raise ValueError("The weights and list don't have the same length.")
    counts = _binned(data, edges, weights)
    wide = np.complex128 if dtype_of(counts).kind == "c" else np.float64
    counts = counts if dtype_of(counts) == wide else np.astype(counts, wide)
    if density:
        total = np.sum(counts)
        for k, edge in enumerate(edges):
            counts = counts / np.reshape(np.diff(edge), tuple([-1 if i == k else 1 for i in builtins.range(count)]))
        counts = counts / total
    return counts, tuple(edges)


def _edges(a: Any, bins: Any, range: Any, *, same_precision: bool = False) -> Any:
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
    if ndim_of(as_value(bins)):
        return _ascending(as_value(bins))
    bins = operator.index(bins)
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    empty = range is None and 0 in shape_of(a)
    low, high = (0, 1) if empty else (np.min(a), np.max(a)) if range is None else range
    if np.any(raw(low) > raw(high)):
        raise ValueError("max must be larger than min in range parameter.")
    if not np.all(np.isfinite(raw(low)) & np.isfinite(raw(high))):
        raise ValueError(f"range of [{raw(low)}, {raw(high)}] is not finite")
    if np.all(raw(low) == raw(high)):
        low, high = low - 0.5, high + 0.5
    elif np.any(raw(low) == raw(high)):
        widened = np.where(low == high, 0.5, 0.0)
        low, high = low - widened, high + widened
    if not same_precision:
        return np.linspace(low, high, bins + 1)
    kind = result_dtype(low, high, a)
    return np.linspace(low, high, bins + 1, dtype=kind if kind.kind == "f" else np.result_type(kind, float))


def _ascending(edges: Any) -> Any:
    if ndim_of(edges) > 1 or np.any(raw(edges)[..., :-1] > raw(edges)[..., 1:]):
        raise ValueError("`bins` must increase monotonically, when an array")
    return edges


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
