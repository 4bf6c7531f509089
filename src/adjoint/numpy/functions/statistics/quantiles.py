"""Statistics: order statistics, with and without nan. Sort, then interpolate between two neighbours."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.errors import UnsupportedError, message
from ....core.traced import Traced
from ....core.values import decidable, dtype_of, shape_of
from ....ops.indexing import take_along
from ...dispatch.arguments import NO_VALUE, as_value, axes_of, given, is_plain_number, is_true, ndim_of, number
from ...dispatch.assignment import deliver
from ...dispatch.registry import implements


@implements(np.ptp)
def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE) -> Any:
    """`np.ptp`."""
    return deliver(np.max(a, axis, None, is_true(keepdims)) - np.min(a, axis, None, is_true(keepdims)), out)


PLOTTING_POSITIONS: dict[str, tuple[float, float]] = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "linear": (1.0, 1.0),
    "median_unbiased": (1.0 / 3.0, 1.0 / 3.0),
    "normal_unbiased": (3.0 / 8.0, 3.0 / 8.0),
}
"""The two numbers of Hyndman and Fan for each method that is continuous in q."""


@implements(np.median, whole=True)
def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = False) -> Any:
    """`np.median`."""
    return _median(a, axis, out, keepdims, skip_nan=False)


@implements(np.nanmedian, whole=True)
def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: Any = NO_VALUE
) -> Any:
    """`np.nanmedian`."""
    return _median(a, axis, out, keepdims, skip_nan=True)


def _median(a: Any, axis: Any, out: Any, keepdims: Any, *, skip_nan: bool) -> Any:
    a = as_value(a)
    a = a if dtype_of(a).kind in "fc" else np.astype(a, float)
    lines, shape = _lines(a, axis, is_true(keepdims))
    ordered, count = _ordered(lines, skip_nan=skip_nan)
    low, high = (_taken(ordered, place) for place in ((count - 1) // 2, np.minimum(count // 2, shape_of(lines)[0] - 1)))
    middle = np.where(low == high, low, 0.5 * (low + high)) if _has_infinite(a) else 0.5 * (low + high)
    found = np.reshape(_with_nan(middle, ordered, skip_nan=skip_nan), shape)
    return deliver(found if is_true(keepdims) else number(found), out)


def _has_infinite(a: Any) -> bool:
    return bool(np.any(np.isinf(decidable(a))))


@implements(np.quantile, whole=True)
def quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = False, *, weights: Any = None, interpolation: Any = None,
) -> Any:  # fmt: skip
    """`np.quantile`; differentiable in q too where the method is continuous."""
    a = as_value(a)
    return _quantile(a, _as_precise(q, a, method), axis, out, method, keepdims, weights, skip_nan=False)


@implements(np.nanquantile, whole=True)
def nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = NO_VALUE, *, weights: Any = None, interpolation: Any = None,
) -> Any:  # fmt: skip
    """`np.nanquantile`."""
    a = as_value(a)
    return _quantile(a, _as_precise(q, a, method), axis, out, method, keepdims, weights, skip_nan=True)


@implements(np.percentile, whole=True)
def percentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = False, *, weights: Any = None, interpolation: Any = None,
) -> Any:  # fmt: skip
    """`np.percentile`."""
    a = as_value(a)
    return _quantile(a, as_value(q) / _as_precise(100, a), axis, out, method, keepdims, weights, skip_nan=False)


@implements(np.nanpercentile, whole=True)
def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: Any = NO_VALUE, *, weights: Any = None, interpolation: Any = None,
) -> Any:  # fmt: skip
    """`np.nanpercentile`."""
    a = as_value(a)
    return _quantile(a, as_value(q) / _as_precise(100, a), axis, out, method, keepdims, weights, skip_nan=True)


def _as_precise(q: Any, a: Any, method: str = "") -> Any:
    """A number in the precision of the data, as NumPy takes it; 0 and 1 as integers name an element by itself."""
    if method == "linear" and isinstance(q, (int, np.integer)) and not isinstance(q, Traced):
        return np.asarray(q)
    return dtype_of(a).type(q) if is_plain_number(q) and dtype_of(a).kind == "f" else as_value(q)


def _quantile(a: Any, q: Any, axis: Any, out: Any, method: str, keepdims: Any, weights: Any, *, skip_nan: bool) -> Any:
    if dtype_of(a).kind == "c":
        raise TypeError("a must be an array of real numbers")
    if given(weights):
        raise UnsupportedError(
            message(
                "Quantiles are not differentiated with weights.",
                fix="Leave  weights=  out, or sort and accumulate the weights in the function itself.",
            )
        )
    if not np.all((decidable(q) >= 0) & (decidable(q) <= 1)):
        raise ValueError("Quantiles must be in the range [0, 1]")
    lines, shape = _lines(a, axis, is_true(keepdims))
    ordered, count = _ordered(lines, skip_nan=skip_nan)
    rank = np.reshape(q, (-1,) + (1,) * (ndim_of(lines) - 1)) if ndim_of(q) else q
    if skip_nan and dtype_of(q).kind == "f":
        count = count.astype(dtype_of(q))  # so that it does not widen the result
    before, after, share = _neighbours(rank, count, method)
    low, high = _taken(ordered, before), _taken(ordered, after)
    found = low if share is None else _between(low, high, share)
    return deliver(number(np.reshape(_with_nan(found, ordered, skip_nan=skip_nan), shape_of(q) + shape)), out)


def _neighbours(q: Any, count: Any, method: str) -> tuple[Any, Any, Any]:
    """The places to the left and right of each quantile in the sorted line, and how far it is between them."""
    last = _lowered(count)
    if dtype_of(q).kind in "biu" and method == "linear":
        return _at(last * q, last)
    if method in PLOTTING_POSITIONS:
        alpha, beta = PLOTTING_POSITIONS[method]
        place = last * q if method == "linear" else count * q + (alpha + q * (1.0 - alpha - beta)) - 1.0
        inside = np.clip(place, 0, last)
        left = np.minimum(np.floor(inside), _lowered(last))
        return left.astype(int), np.minimum(left + 1, last).astype(int), inside - left
    place = count * q - 1.0
    if method == "inverted_cdf":
        return _at(np.ceil(place), last)
    if method == "closest_observation":
        shifted = place - 0.5
        down = (shifted == np.floor(shifted)) & (np.floor(shifted) % 2 == 1)
        return _at(np.where(down, np.floor(shifted), np.floor(shifted) + 1), last)
    if method == "averaged_inverted_cdf":
        share = np.where(place == np.floor(place), _half(place), 2 * _half(place))
        before = np.clip(np.floor(place), 0, last).astype(int)
        return before, np.clip(np.floor(place) + 1, 0, last).astype(int), share
    if method == "lower":
        return _at(np.floor(last * q), last)
    if method == "higher":
        return _at(np.ceil(last * q), last)
    if method == "nearest":
        return _at(np.rint(last * q), last)
    if method == "midpoint":
        before, after = np.floor(last * q).astype(int), np.ceil(last * q).astype(int)
        return before, after, np.where(before == after, 0 * _half(place), _half(place))
    raise ValueError(f"{method!r} is not a valid method for quantiles")


def _lowered(count: Any) -> Any:
    """One less, but not below 0; a Python number stays one, so that it does not widen the result."""
    return max(count - 1, 0) if type(count) is int else np.maximum(count - 1, 0)


def _half(place: Any) -> Any:
    return dtype_of(place).type(0.5)


def _at(place: Any, last: Any) -> tuple[Any, Any, None]:
    found = np.clip(place, 0, last).astype(int)
    return found, found, None


def _between(low: Any, high: Any, share: Any) -> Any:
    """Linear interpolation, exact at both ends."""
    gap = high - low
    late = np.asarray(decidable(share)) >= 0.5
    return np.where(share >= 0.5, high - gap * (1 - share), low + gap * share) if np.any(late) else low + gap * share


def _lines(a: Any, axis: Any, keepdims: bool) -> tuple[Any, tuple[int, ...]]:
    """The reduced axes as one, in front, and the shape of the reduced array."""
    shape, axes = shape_of(a), axes_of(axis, ndim_of(a))
    rest = [i for i in range(len(shape)) if i - len(shape) not in axes]
    moved = np.transpose(a, [i + len(shape) for i in axes] + rest) if len(shape) > 1 else a
    lines = np.reshape(moved, (math.prod([shape[i] for i in axes]), *[shape[i] for i in rest]))
    kept = tuple([1 if i - len(shape) in axes else n for i, n in enumerate(shape)])
    return lines, kept if keepdims else tuple([shape[i] for i in rest])


def _ordered(lines: Any, *, skip_nan: bool) -> tuple[Any, Any]:
    """The sorted lines, nan last, and how many of their elements count."""
    length = shape_of(lines)[0]
    if length == 0:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    count = np.sum(~np.isnan(lines), axis=0) if skip_nan else length
    return np.sort(lines, axis=0), count


def _taken(ordered: Any, place: Any) -> Any:
    """The elements at some places along the first axis; places may differ from line to line."""
    rank = ndim_of(ordered)
    places = np.broadcast_to(place, _places_shape(place, shape_of(ordered)))
    return take_along(ordered, places, axis=-rank)


def _places_shape(place: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    count = shape_of(place)[0] if ndim_of(place) == len(shape) else 1
    return (count, *shape[1:])


def _with_nan(found: Any, ordered: Any, *, skip_nan: bool) -> Any:
    last = ordered[-1:]
    return found if skip_nan or not np.any(np.isnan(decidable(last))) else np.where(np.isnan(last), last, found)
