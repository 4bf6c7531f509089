"""Peaks: which elements they are is constant in pieces; their heights, prominences and widths move with the signal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.values import shape_of
from ...numpy.dispatch.arguments import holds_traced
from ...numpy.dispatch.opaque_calls import as_constant
from ...numpy.patching.replacements import constant, replaces


def _found(name: str, original: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """What SciPy finds at the values."""
    return as_constant(f"scipy.signal.{name}", original, args, kwargs)


def _is_plain(args: Any, kwargs: Any) -> bool:
    return not holds_traced(args) and not holds_traced(kwargs.values())


@replaces("scipy.signal", "find_peaks", calls_back=True, note="which elements are peaks is constant")
def find_peaks(original: Callable[..., Any], x: Any, *args: Any, **kwargs: Any) -> Any:
    """`scipy.signal.find_peaks`: the peaks at the values, and their properties as functions of the signal."""
    if _is_plain((x, *args), kwargs):
        return original(x, *args, **kwargs)
    peaks, known = _found("find_peaks", original, (x, *args), kwargs)
    x = np.astype(np.asarray(x), np.float64)
    if "peak_heights" in known:
        known["peak_heights"] = x[peaks]
    if "left_thresholds" in known:
        known["left_thresholds"] = x[peaks] - x[peaks - 1]
        known["right_thresholds"] = x[peaks] - x[peaks + 1]
    if "prominences" in known:
        known["prominences"] = _prominences(x, peaks, known["left_bases"], known["right_bases"])
    if "widths" in known:
        relative = kwargs.get("rel_height", args[6] if len(args) > 6 else 0.5)
        sides = known["left_ips"], known["right_ips"]
        moved = _widths(x, peaks, relative, known["prominences"], *sides)
        known.update(zip(("widths", "width_heights", "left_ips", "right_ips"), moved, strict=True))
    return peaks, known


@replaces("scipy.signal", "peak_prominences", calls_back=True, note="where the bases are is constant")
def peak_prominences(original: Callable[..., Any], x: Any, peaks: Any, wlen: Any = None) -> Any:
    """`scipy.signal.peak_prominences`."""
    if _is_plain((x, peaks, wlen), {}):
        return original(x, peaks, wlen)
    _, left, right = _found("peak_prominences", original, (x, peaks, wlen), {})
    return _prominences(np.astype(np.asarray(x), np.float64), np.asarray(peaks), left, right), left, right


@replaces("scipy.signal", "peak_widths", calls_back=True, note="between which elements the ends are is constant")
def peak_widths(
    original: Callable[..., Any], x: Any, peaks: Any, rel_height: Any = 0.5, prominence_data: Any = None,
    wlen: Any = None,
) -> Any:  # fmt: skip
    """`scipy.signal.peak_widths`."""
    given = (x, peaks, rel_height, prominence_data, wlen)
    if _is_plain(given, {}):
        return original(*given)
    if prominence_data is None:
        import scipy.signal

        prominence_data = scipy.signal.peak_prominences(x, peaks, wlen)
    given = (x, peaks, rel_height, tuple(prominence_data), wlen)
    found = _found("peak_widths", original, given, {})
    return _widths(np.astype(np.asarray(x), np.float64), np.asarray(peaks), rel_height, prominence_data[0], *found[2:])


def _prominences(x: Any, peaks: Any, left: Any, right: Any) -> Any:
    """How far each peak stands out from the higher one of its bases."""
    return x[peaks] - np.maximum(x[left], x[right])


def _widths(x: Any, peaks: Any, relative: Any, prominences: Any, left: Any, right: Any) -> tuple[Any, ...]:
    """Where straight lines between samples cross the height of a share of the prominence, on both sides."""
    height = x[peaks] - prominences * relative
    ends = _crossing(x, height, np.floor(left), 1), _crossing(x, height, np.ceil(right), -1)
    return ends[1] - ends[0], height, *ends


def _crossing(x: Any, height: Any, outside: Any, step: int) -> Any:
    """The place between an element that is lower and the next one towards the peak; at the element if it is not."""
    at = outside.astype(int)
    low, high = x[at], x[np.clip(at + step, 0, shape_of(x)[0] - 1)]
    crosses = (low < height) & (high != low)
    rise = np.where(crosses, high - low, 1.0)
    return at + step * np.where(crosses, (height - low) / rise, 0.0)


constant("scipy.signal", "argrelextrema", "argrelmax", "argrelmin", "find_peaks_cwt", note="places are whole numbers")
