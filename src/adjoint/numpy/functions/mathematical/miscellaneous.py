"""Mathematical functions: convolution, bounds, replacement of nan, interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.values import dtype_of, may_hold, shape_of
from ....ops import contraction, selection
from ....ops.places import bin_of
from ...dispatch.arguments import NO_VALUE, as_value, given, ndim_of, number, same_dtype
from ...dispatch.assignment import deliver
from ...dispatch.registry import implements


@implements(np.convolve)
def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """`np.convolve`."""
    a, v = (np.reshape(x, (-1,)) if ndim_of(x) == 0 else x for x in (as_value(a), as_value(v)))
    for x, name in ((a, "a"), (v, "v")):
        if shape_of(x)[0] == 0:
            raise ValueError(f"{name} cannot be empty")
    if not isinstance(mode, str) or mode[:1] not in ("v", "s", "f"):
        raise ValueError(f"mode must be one of 'full', 'same' or 'valid', got {mode!r}")
    long, short = (a, v) if shape_of(a)[0] >= shape_of(v)[0] else (v, a)
    if mode[0] == "v":
        return contraction.convolve(long, short, mode="valid")
    whole = contraction.convolve(long, short, mode="full")
    if mode[0] == "f":
        return whole
    start = (shape_of(short)[0] - 1) // 2
    return whole[start : start + shape_of(long)[0]]


@implements(np.clip, exact=True)
def clip(
    a: Any,
    a_min: Any = NO_VALUE,
    a_max: Any = NO_VALUE,
    out: Any = None,
    *,
    min: Any = NO_VALUE,
    max: Any = NO_VALUE,
    **rest: Any,
) -> Any:
    """`np.clip`; the slope is 1 at the bounds themselves."""
    if a_min is NO_VALUE and a_max is NO_VALUE:
        a_min, a_max = (None if bound is NO_VALUE else bound for bound in (min, max))
    elif a_min is NO_VALUE or a_max is NO_VALUE:
        raise TypeError(f"clip() missing 1 required positional argument: 'a_m{'in' if a_min is NO_VALUE else 'ax'}'")
    elif min is not NO_VALUE or max is not NO_VALUE:
        raise ValueError("Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.")
    low, high = a_min, a_max
    a = as_value(a)
    if dtype_of(a).kind not in "fc":
        return deliver(_clipped(a, low, high), out)
    low = as_value(low) if given(low) else -np.inf
    high = as_value(high) if given(high) else np.inf
    return deliver(selection.clip(a, low, high), out)


def _clipped(a: Any, low: Any, high: Any) -> Any:
    """Of integers: infinite bounds would make floating-point numbers of them."""
    if not given(low) and not given(high):
        return np.positive(a)
    a = np.maximum(a, low) if given(low) else a
    return np.minimum(a, high) if given(high) else a


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
    return number(found if copy or not ndim_of(x) else deliver(found, x))


@implements(np.interp, whole=True)
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """`np.interp`, differentiable in the places, the knots and the values; at a knot the slope is the right one."""
    x, xp, fp = (_wide(as_value(v)) for v in (x, xp, fp))
    if "c" in (dtype_of(x).kind, dtype_of(xp).kind):
        raise TypeError("Cannot cast array data from dtype('complex128') to dtype('float64') according to 'safe'")
    if 0 in shape_of(xp):
        raise ValueError("array of sample points is empty")
    if shape_of(xp) != shape_of(fp) or ndim_of(xp) != 1:
        raise ValueError("fp and xp are not of the same length.")
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        period, left, right = abs(period), None, None
        x, xp = x % period, xp % period
        order = np.argsort(xp)
        xp, fp = np.take_along_axis(xp, order, 0), np.take_along_axis(fp, order, 0)
        xp = np.concatenate([xp[-1:] - period, xp, xp[:1] + period])
        fp = np.concatenate([fp[-1:], fp, fp[:1]])
    last = shape_of(xp)[0] - 1
    left, right = (fp[0] if left is None else left), (fp[-1] if right is None else right)
    place = np.clip(bin_of(x, xp), 0, max(last - 1, 0))
    low, high = _taken(xp, place), _taken(xp, np.minimum(place + 1, last))
    from_value, to_value = _taken(fp, place), _taken(fp, np.minimum(place + 1, last))
    gap = np.where(high == low, 1.0, high - low)
    slope = (to_value - from_value) / gap
    inside = slope * (x - low) + from_value
    if may_hold(np.isnan(inside)):  # between infinite points: from the other side, or what both sides have in common
        inside = np.where(np.isnan(inside), slope * (x - high) + to_value, inside)
        inside = np.where(np.isnan(inside) & (from_value == to_value), from_value, inside)
        inside = np.where(x == low, from_value, inside)
    exact = may_hold(~np.isfinite(slope) | ~np.isfinite(high))
    inside = np.where(x == high, to_value if exact else to_value + slope * (x - high), inside)
    found = np.where(x > xp[-1], right, np.where(x < xp[0], left, inside))
    return number(np.where(np.isnan(x), np.nan, found) if last and may_hold(np.isnan(x)) else found)


def _wide(x: Any) -> Any:
    """NumPy interpolates in double precision, whatever it is given."""
    want = np.complex128 if dtype_of(x).kind == "c" else np.float64
    return same_dtype(x, want)


def _taken(line: Any, place: Any) -> Any:
    flat = np.reshape(place, (-1,))
    return np.reshape(np.take_along_axis(line, flat, 0), shape_of(place))
