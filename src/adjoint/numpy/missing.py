"""Reductions that pass over nan: a nan contributes nothing, and receives nothing on the way back."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.values import cast, dtype_of, raw, shape_of
from .reductions import freedom_lost, squared, std, var
from .registry import NO_VALUE, as_value, deliver, given, implements, is_true, ndim_of
from .shapes import same_dtype


def _filled(a: Any, fill: Any) -> Any:
    return np.where(np.isnan(a), fill, a)


@implements(np.nansum)
def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE, where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """`np.nansum`."""
    return np.sum(_filled(as_value(a), 0), axis, dtype, out, keepdims, initial, where)


@implements(np.nanprod)
def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE, where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """`np.nanprod`."""
    return np.prod(_filled(as_value(a), 1), axis, dtype, out, keepdims, initial, where)


@implements(np.nancumsum)
def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """`np.nancumsum`."""
    return np.cumsum(_filled(as_value(a), 0), axis, dtype, out)


@implements(np.nancumprod)
def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """`np.nancumprod`."""
    return np.cumprod(_filled(as_value(a), 1), axis, dtype, out)


def _count(a: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    """How many elements are numbers, in the precision of the array so that dividing keeps it."""
    is_number = ~np.isnan(a)
    seen = is_number if not given(where) else is_number & np.broadcast_to(where, shape_of(a))
    counts = np.sum(seen, axis, keepdims=is_true(keepdims))
    return cast(counts if hasattr(counts, "astype") else np.asarray(counts), _real(dtype_of(a)))


def _real(dtype: np.dtype) -> np.dtype:
    return np.zeros((), dtype).real.dtype


@implements(np.nanmean)
def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
) -> Any:
    """`np.nanmean`."""
    a = as_value(a)
    if dtype_of(a).kind not in "fc":
        return np.mean(a, axis, dtype, out, keepdims, where=where)
    _check_dtype(a, dtype)
    counts = _count(a, axis, keepdims, where)
    if np.any(raw(counts) == 0):
        warnings.warn("Mean of empty slice", RuntimeWarning, stacklevel=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        found = nansum(a, axis, dtype, None, keepdims, where=where) / counts
    return deliver(same_dtype(found, dtype), out)


def _check_dtype(a: Any, dtype: Any) -> None:
    if given(dtype) and dtype_of(a).kind in "fc" and np.dtype(dtype).kind not in "fc":
        raise TypeError("If a is inexact, then dtype must be inexact")


@implements(np.nanvar)
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
        center = mean if given(mean) else nansum(a, axis, dtype, None, True, where=where) / _count(a, axis, True, where)
        gap = same_dtype(np.where(np.isnan(a), 0, a - center), dtype_of(a))
        freedom = _count(a, axis, keepdims, where) - ddof
        found = np.sum(squared(gap, a), axis, dtype, keepdims=keepdims, where=where) / freedom
    if np.any(raw(freedom) <= 0):
        warnings.warn("Degrees of freedom <= 0 for slice.", RuntimeWarning, stacklevel=2)
        found = np.where(freedom <= 0, np.nan, found)
    return deliver(same_dtype(found, dtype), out)


@implements(np.nanstd)
def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: Any = NO_VALUE, **rest: Any
) -> Any:
    """`np.nanstd`; its slope is 0 where all elements are equal."""
    if dtype_of(as_value(a)).kind not in "fc":
        return std(a, axis, dtype, out, ddof, keepdims, **rest)
    return deliver(same_dtype(np.sqrt(nanvar(a, axis, dtype, None, ddof, keepdims, **rest)), dtype), out)


def _extreme(reduce: Any, worst: float) -> Callable[..., Any]:
    def find(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> Any:  # fmt: skip
        a = as_value(a)
        if dtype_of(a).kind not in "fc":
            return reduce(a, axis, out, keepdims, initial, where)
        if given(initial) and np.iscomplexobj(initial) and dtype_of(a).kind != "c":
            raise TypeError(f"float() argument must be a string or a real number, not {type(initial).__name__!r}")
        is_nan = given(initial) and bool(np.isnan(initial))  # as an element that is nan, it is passed over
        found = reduce(_filled(a, worst), axis, None, keepdims, worst if is_nan else initial, where)
        empty = np.all(np.isnan(a), axis, keepdims=is_true(keepdims), where=where)
        if is_nan:
            found = np.where(empty, np.nan, found)
        elif np.any(raw(empty)) and not given(initial):
            warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=2)
            found = np.where(empty, np.nan, found)
        return deliver(found, out)

    return find


implements(np.nanmax)(_extreme(np.max, -np.inf))
implements(np.nanmin)(_extreme(np.min, np.inf))


def _place(find: Any, worst: float) -> Callable[..., Any]:
    def place(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
        a = as_value(a)
        if np.any(raw(np.all(np.isnan(a), axis))):
            raise ValueError("All-NaN slice encountered")
        return find(_filled(a, worst), axis, out, keepdims=is_true(keepdims))

    return place


implements(np.nanargmax)(_place(np.argmax, -np.inf))
implements(np.nanargmin)(_place(np.argmin, np.inf))


@implements(np.nan_to_num)
def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """`np.nan_to_num`: what is replaced has no slope."""
    x = as_value(x)
    if dtype_of(x).kind not in "fc":
        return np.copy(x) if copy else x
    if dtype_of(x).kind == "c":
        parts = [nan_to_num(part, True, nan, posinf, neginf) for part in (np.real(x), np.imag(x))]
        return parts[0] + 1j * parts[1]
    info = np.finfo(dtype_of(x))
    found = np.where(np.isnan(x), nan, x)
    found = np.where(x == np.inf, float(info.max) if posinf is None else posinf, found)
    found = np.where(x == -np.inf, float(info.min) if neginf is None else neginf, found)
    return found if copy or not ndim_of(x) else deliver(found, x)
