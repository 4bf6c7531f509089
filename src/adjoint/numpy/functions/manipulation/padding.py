"""`np.pad`, in all its modes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.values import dtype_of, shape_of
from ....ops import shape as ops
from ...dispatch.arguments import as_value, ndim_of
from ...dispatch.registry import implements
from ...dispatch.views import arrayed
from ..places import moved

STATISTICS: dict[str, Any] = {"maximum": np.max, "mean": np.mean, "median": np.median, "minimum": np.min}
KEYWORDS: dict[str, tuple[str, ...]] = {
    "constant": ("constant_values",),
    "linear_ramp": ("end_values",),
    **dict.fromkeys(STATISTICS, ("stat_length",)),
    **dict.fromkeys(("reflect", "symmetric"), ("reflect_type",)),
    **dict.fromkeys(("edge", "empty", "wrap"), ()),
}
"""What each mode takes besides the width."""


@implements(np.pad)
def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """`np.pad`."""
    array = arrayed(as_value(array))
    widths = _widths(pad_width, ndim_of(array))
    if callable(mode):
        return _pad_with(mode, array, widths, kwargs)
    if mode not in KEYWORDS:
        raise ValueError(f"mode '{mode}' is not supported")
    if set(kwargs) - set(KEYWORDS[mode]):
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {set(kwargs) - set(KEYWORDS[mode])}")
    if mode in ("constant", "empty"):
        return _pad_constant(array, widths, kwargs.get("constant_values", 0))
    for axis, pair in enumerate(widths):
        if shape_of(array)[axis] == 0 and any(pair):
            raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
    if not widths:
        return np.copy(array)
    if mode == "linear_ramp":
        return _pad_ramp(array, widths, kwargs.get("end_values", 0))
    if mode in STATISTICS:
        return _pad_statistic(array, widths, STATISTICS[mode], kwargs.get("stat_length"))
    if kwargs.get("reflect_type", "even") == "odd":
        return _pad_odd(array, widths, offset=1 if mode == "symmetric" else 0)
    return moved(lambda numbers: np.pad(numbers, widths, mode), array)


def _widths(pad_width: Any, ndim: int) -> list[tuple[int, int]]:
    if isinstance(pad_width, dict):
        pairs = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            pairs[axis] = (width, width) if isinstance(width, int) else width
        pad_width = pairs
    widths = np.asarray(pad_width)
    if widths.dtype.kind != "i":
        raise TypeError("`pad_width` must be of integral type.")
    if np.any(widths < 0):
        raise ValueError("index can't contain negative values")
    return [(int(a), int(b)) for a, b in np.broadcast_to(widths, (ndim, 2))]


def _pairs(values: Any, ndim: int) -> Any:
    """One pair of values for each axis."""
    return np.broadcast_to(as_value(values), (ndim, 2))


def _pad_constant(array: Any, widths: list[tuple[int, int]], values: Any) -> Any:
    pairs = np.astype(_pairs(values, ndim_of(array)), dtype_of(array))
    for axis, width in enumerate(widths):
        array = _between(array, axis, [np.broadcast_to(pairs[axis, k], _slab(array, axis, width[k])) for k in (0, 1)])
    return array


def _pad_ramp(array: Any, widths: list[tuple[int, int]], values: Any) -> Any:
    pairs = np.astype(_pairs(values, ndim_of(array)), dtype_of(array))
    for axis, (before, after) in enumerate(widths):
        first = np.take(array, 0, axis)
        last = np.take(array, shape_of(array)[axis] - 1, axis)
        left = np.linspace(pairs[axis, 0], first, before, endpoint=False, axis=axis)
        right = np.linspace(pairs[axis, 1], last, after, endpoint=False, axis=axis)
        array = _between(
            array, axis, [np.astype(left, dtype_of(array)), np.astype(np.flip(right, axis), dtype_of(array))]
        )
    return array


def _pad_statistic(array: Any, widths: list[tuple[int, int]], statistic: Any, lengths: Any) -> Any:
    n = ndim_of(array)
    limits = [(None, None)] * n if lengths is None else np.broadcast_to(np.asarray(lengths), (n, 2)).tolist()
    for axis, width in enumerate(widths):
        total = shape_of(array)[axis]
        taken = [total if limit is None else min(limit, total) for limit in limits[axis]]
        if 0 in taken and statistic in (np.max, np.min):
            raise ValueError("stat_length of 0 yields no value for padding")
        parts = [_cut(array, axis, 0, taken[0]), _cut(array, axis, total - taken[1], total)]
        found = [np.astype(statistic(part, axis=axis, keepdims=True), dtype_of(array)) for part in parts]
        array = _between(array, axis, [np.broadcast_to(found[k], _slab(array, axis, width[k])) for k in (0, 1)])
    return array


def _pad_odd(array: Any, widths: list[tuple[int, int]], offset: int) -> Any:
    """Reflect about the edge values too; more than once where the padding is longer than the array."""
    for axis, (before, after) in enumerate(widths):
        period = shape_of(array)[axis]
        if period == 1 and (before or after):
            parts = [np.broadcast_to(array, _slab(array, axis, width)) for width in (before, after)]
            array = _between(array, axis, parts)
            continue
        while before > 0 or after > 0:
            n = shape_of(array)[axis]
            whole = n // period * period if offset else (n - 1) // (period - 1) * (period - 1)
            if before > 0:
                length = min(whole, before)
                chunk = np.flip(_cut(array, axis, 1 - offset, 1 - offset + length), axis)
                array = np.concatenate([2 * _cut(array, axis, 0, 1) - chunk, array], axis)
                before -= length
            if after > 0:
                length, n = min(whole, after), shape_of(array)[axis]
                chunk = np.flip(_cut(array, axis, n - 1 + offset - length, n - 1 + offset), axis)
                array = np.concatenate([array, 2 * _cut(array, axis, n - 1, n) - chunk], axis)
                after -= length
    return array


def _pad_with(function: Any, array: Any, widths: list[tuple[int, int]], kwargs: dict[str, Any]) -> Any:
    """The user's function, called on every line of the padded array to change it in place."""
    padded = np.copy(_pad_constant(array, widths, 0))
    for axis in range(ndim_of(padded)):
        lines = np.moveaxis(padded, axis, -1)
        for place in np.ndindex(shape_of(lines)[:-1]):
            function(lines[(*place, ...)], widths[axis], axis, kwargs)
    return padded


def _slab(array: Any, axis: int, width: int) -> tuple[int, ...]:
    shape = shape_of(array)
    return (*shape[:axis], width, *shape[axis + 1 :])


def _cut(array: Any, axis: int, start: int, stop: int) -> Any:
    return array[(slice(None),) * axis + (slice(start, stop),)]


def _between(array: Any, axis: int, parts: list[Any]) -> Any:
    return ops.concatenate(parts[0], array, parts[1], axis=axis - ndim_of(array))
