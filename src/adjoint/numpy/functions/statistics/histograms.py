"""Statistics: histograms."""

from __future__ import annotations

import builtins
import operator
from typing import Any

import numpy as np

from ....core.errors import BatchError, UnsupportedError, message
from ....core.values import concrete, decidable, dtype_of, shape_of
from ....ops import places
from ....ops.indexing import unindex
from ....ops.keys import HOLE
from ....ops.places import bin_of
from ...dispatch.arguments import as_value, ndim_of, result_dtype, size_of
from ...dispatch.registry import implements


@implements(np.bincount)
def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Any:
    """`np.bincount`; linear in the weights."""
    x, minlength = as_value(x), operator.index(minlength)
    x = np.astype(x, int) if dtype_of(x).kind == "b" and ndim_of(x) else x
    if ndim_of(x) != 1 or not np.can_cast(dtype_of(x), int, "safe"):
        raise ValueError("object too deep for desired array, or no integers")
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if size_of(x) and np.any(decidable(x) < 0):
        raise ValueError("'list' argument must have no negative elements")
    length = max(int(np.max(decidable(x))) + 1 if size_of(x) else 0, minlength)
    weights = np.ones(shape_of(x), int) if weights is None else np.astype(as_value(weights), float)
    if shape_of(weights) != shape_of(x):
        raise ValueError("The weights and list don't have the same length.")
    return unindex(weights, x, template=(HOLE,), shape=(length,))


@implements(np.histogram, whole=True)
def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """`np.histogram`: linear in the weights; the counts do not change with the data, the outermost edges may."""
    a = as_value(a)
    edges = np.histogram_bin_edges(a, bins, range, weights)
    counts = _binned([np.reshape(a, (-1,))], [edges], weights)
    if density:
        counts = counts / np.diff(edges) / np.sum(counts)
    return counts, edges


@implements(np.histogram_bin_edges, whole=True)
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


@implements(np.histogram2d, whole=True)
def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """`np.histogram2d`."""
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    if not isinstance(bins, (int, np.integer)) and len(bins) not in (1, 2):
        bins = [bins, bins]
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]


@implements(np.histogramdd, whole=True)
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
        if np.shape(concrete(a)) != shape_of(a):
            raise BatchError(
                message(
                    "Inside vmap the number of bins cannot depend on the data.",
                    got=f"bins={bins!r}",
                    fix="Give the number of bins, or their edges.",
                )
            )
        bins = len(np.histogram_bin_edges(decidable(a), bins, range)) - 1
    if ndim_of(as_value(bins)):
        return _ascending(as_value(bins))
    bins = operator.index(bins)
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    empty = range is None and 0 in shape_of(a)
    low, high = (0, 1) if empty else (np.min(a), np.max(a)) if range is None else range
    if np.any(decidable(low) > decidable(high)):
        raise ValueError("max must be larger than min in range parameter.")
    if not np.all(np.isfinite(decidable(low)) & np.isfinite(decidable(high))):
        raise ValueError(f"range of [{decidable(low)}, {decidable(high)}] is not finite")
    if np.all(decidable(low) == decidable(high)):
        low, high = low - 0.5, high + 0.5
    elif np.any(decidable(low) == decidable(high)):
        widened = np.where(low == high, 0.5, 0.0)
        low, high = low - widened, high + widened
    if not same_precision:
        return np.linspace(low, high, bins + 1)
    kind = result_dtype(low, high, a)
    return np.linspace(low, high, bins + 1, dtype=kind if kind.kind == "f" else np.result_type(kind, float))


def _ascending(edges: Any) -> Any:
    if ndim_of(edges) > 1 or np.any(decidable(edges)[..., :-1] > decidable(edges)[..., 1:]):
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


@implements(np.digitize)
def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    """`np.digitize`."""
    return places.digitize(as_value(x), as_value(bins), right=right)
