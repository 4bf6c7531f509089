"""Statistics: averages and variances, with and without nan."""

from __future__ import annotations

import builtins
import math
import warnings
from typing import Any

import numpy as np

from ....core.traced import Traced
from ....core.values import cast, decidable, dtype_of, may_hold, shape_of
from ...dispatch.arguments import (
    NO_VALUE,
    as_value,
    axes_of,
    given,
    is_true,
    ndim_of,
    result_dtype,
    same_dtype,
    size_of,
)
from ...dispatch.assignment import deliver
from ...dispatch.registry import implements
from ..mathematical.sums import nansum, sum


@implements(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: Any = NO_VALUE) -> Any:
    """`np.average`."""
    a = as_value(a)
    axis = tuple(axis) if isinstance(axis, list) else axis
    axes_of(axis, ndim_of(a))
    if weights is None:
        found = np.mean(a, axis, keepdims=is_true(keepdims))
        scale: Any = np.asarray(size_of(a) / size_of(found), dtype_of(found))
    else:
        weights = _spread_weights(as_value(weights), a, axis)
        dtype = result_dtype(a, weights) if dtype_of(a).kind in "fc" else result_dtype(a, weights, np.float64(0))
        scale = np.sum(weights, axis, dtype, keepdims=is_true(keepdims))
        if np.any(decidable(scale) == 0.0):
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


@implements(np.mean, unasked=True, by_column=True)
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
) -> Any:
    """`np.mean`; half precision is summed in single precision, as NumPy does."""
    a = as_value(a)
    half = dtype_of(a).char == "e" and not given(dtype)
    total = sum(a, axis, np.float32 if half else dtype, None, keepdims, where=where)
    found = total / count(total, a, axis, keepdims, where)
    return deliver(same_dtype(found, np.float16 if half else dtype), out)


def count(total: Any, a: Any, axis: Any, keepdims: Any, where: Any, ddof: float = 0) -> Any:
    """How many elements a reduction sees, less `ddof`, as a number that does not widen the total."""
    shape = shape_of(a)
    if not given(where) or where is True:
        seen = math.prod([shape[i] for i in axes_of(axis, len(shape))])
        return builtins.max(seen - ddof, 0)
    seen = np.sum(np.broadcast_to(where, shape), axis, keepdims=is_true(keepdims))
    real = np.zeros((), dtype_of(total)).real.dtype if dtype_of(total).kind in "fc" else np.dtype(float)
    return np.astype(np.maximum(seen - ddof, 0), real)


@implements(np.var, unasked=True, by_column=True)
def var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: Any = NO_VALUE, *,
    where: Any = NO_VALUE, mean: Any = NO_VALUE, correction: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """`np.var`."""
    a = as_value(a)
    ddof = freedom_lost(ddof, correction)
    dtype = np.float64 if dtype is None and dtype_of(a).kind in "biu" else dtype
    center = mean if given(mean) else np.mean(a, axis, dtype, keepdims=True, where=where)
    total = np.sum(squared(a - center, a), axis, dtype, keepdims=keepdims, where=where)
    return deliver(same_dtype(total / count(total, a, axis, keepdims, where, ddof), dtype), out)


def freedom_lost(ddof: float, correction: Any) -> Any:
    """By how much the count is lowered, which has two names."""
    if given(correction) and ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction if given(correction) else ddof


def squared(gap: Any, a: Any) -> Any:
    """The squares of differences; those of complex data are real."""
    return np.real(gap) ** 2 + np.imag(gap) ** 2 if dtype_of(a).kind == "c" else gap**2


@implements(np.std, unasked=True, by_column=True)
def std(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: Any = NO_VALUE, **rest: Any
) -> Any:
    """`np.std`; its slope is 0 where all elements are equal."""
    found = np.var(a, axis, dtype, None, ddof, keepdims, **rest)
    if given(dtype) and np.dtype(dtype).kind not in "fc" and ndim_of(found):
        raise TypeError(f"Cannot cast ufunc 'sqrt' output to {np.dtype(dtype)!r} with casting rule 'same_kind'")
    return deliver(same_dtype(np.sqrt(found), dtype), out)


@implements(np.nanmean, unasked=True)
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
) -> Any:
    """`np.nanmean`."""
    a = as_value(a)
    if dtype_of(a).kind not in "fc":
        return np.mean(a, axis, dtype, out, keepdims, where=where)
    _check_dtype(a, dtype)
    counts = _numbers_in(a, axis, keepdims, where)
    if np.any(decidable(counts) == 0):
        warnings.warn("Mean of empty slice", RuntimeWarning, stacklevel=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = nansum(a, axis, dtype, None, keepdims, where=where) / counts
    return deliver(same_dtype(found, dtype), out)


@implements(np.nanvar, unasked=True)
def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: Any = NO_VALUE, *,
    where: Any = NO_VALUE, mean: Any = NO_VALUE, correction: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """`np.nanvar`."""
    a = as_value(a)
    if dtype_of(a).kind not in "fc":
        return var(a, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction)
    _check_dtype(a, dtype)
    ddof = freedom_lost(ddof, correction)
    with np.errstate(invalid="ignore", divide="ignore"):
        center = (
            mean if given(mean) else nansum(a, axis, dtype, None, True, where=where) / _numbers_in(a, axis, True, where)
        )
        gap = same_dtype(np.where(np.isnan(a), 0, a - center), dtype_of(a))
        freedom = _numbers_in(a, axis, keepdims, where) - ddof
        found = np.sum(squared(gap, a), axis, dtype, keepdims=keepdims, where=where) / freedom
    if np.any(decidable(freedom) <= 0):
        warnings.warn("Degrees of freedom <= 0 for slice.", RuntimeWarning, stacklevel=2)
        found = np.where(freedom <= 0, np.nan, found)
    return deliver(same_dtype(found, dtype), out)


@implements(np.nanstd, unasked=True)
def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: Any = NO_VALUE, **rest: Any
) -> Any:
    """`np.nanstd`; its slope is 0 where all elements are equal."""
    if dtype_of(as_value(a)).kind not in "fc":
        return std(a, axis, dtype, out, ddof, keepdims, **rest)
    return deliver(same_dtype(np.sqrt(nanvar(a, axis, dtype, None, ddof, keepdims, **rest)), dtype), out)


def _numbers_in(a: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    """How many elements are numbers, in the precision of the array so that dividing keeps it."""
    is_number = ~np.isnan(a)
    seen = is_number if not given(where) else is_number & np.broadcast_to(where, shape_of(a))
    if isinstance(a, Traced) and may_hold(~is_number):  # a step away there may be more of them
        seen = np.where(seen, 1.0 + 0.0 * np.tanh(np.real(a)), 0.0)
    counts = np.sum(seen, axis, keepdims=is_true(keepdims))
    return cast(counts if hasattr(counts, "astype") else np.asarray(counts), _real(dtype_of(a)))


def _real(dtype: np.dtype) -> np.dtype:
    return np.zeros((), dtype).real.dtype


def _check_dtype(a: Any, dtype: Any) -> None:
    if given(dtype) and dtype_of(a).kind in "fc" and np.dtype(dtype).kind not in "fc":
        raise TypeError("If a is inexact, then dtype must be inexact")
