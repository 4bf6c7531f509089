"""Line searches: how far to go along a direction, by the conditions of Armijo and of Wolfe, or exactly."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..typing import Array
from .objective import derivative

TRIES = 30
"""So many points are tried along one direction."""


class Trial(NamedTuple):
    """A point along the direction: how far, what the function is there, and its slope."""

    length: Any
    value: Any
    slope: Any
    x: Any
    gradient: Any


def line(function: Any, x: Array, direction: Array) -> Callable[[Any], Trial]:
    """The function along a direction."""
    along = derivative(function, "along")

    def trial(length: Array) -> Trial:
        at, value, gradient, slope = along(x, direction, length)
        return Trial(length, as_number(value), as_number(slope), at, gradient)

    return trial


def backtracking(trial: Callable[[Any], Trial], start: Trial, length: float, shrink: float, c1: float) -> Trial | None:
    """The first of ever shorter steps that decreases the function enough (Armijo)."""
    for _ in range(TRIES):
        here = trial(length)
        if here.value <= start.value + c1 * length * start.slope:
            return here
        length *= shrink
    return None


def strong_wolfe(trial: Callable[[Any], Trial], start: Trial, length: float, c1: float, c2: float) -> Trial | None:
    """A step that decreases the function enough and leaves a small slope (Nocedal and Wright, algorithms 3.5 and 3.6).

    Where the differences of values drown in rounding, the slopes decide (Hager and Zhang's approximate conditions).
    None, if no step was found that decreases the function.
    """
    before, limit = start, -c2 * start.slope
    for k in range(TRIES):
        here = trial(length)
        if not _decreases(here, start, c1) or (k and here.value > before.value):
            return _between(trial, start, before, here, c1, limit)
        if abs(here.slope) <= limit:
            return here
        if here.slope >= 0:
            return _between(trial, start, here, before, c1, limit)
        gap, further = length - before.length, _cubic(before, here)
        longest = length + 4.0 ** (k + 1) * gap
        before, length = here, min(max(further, length + 1.1 * gap), longest) if further == further else longest
    return before if before is not start else None


def _between(
    trial: Callable[[Any], Trial], start: Trial, low: Trial, high: Trial, c1: float, limit: Array
) -> Trial | None:
    """Shrink an interval whose end `low` is the better one until a point fits."""
    for _ in range(TRIES):
        width = high.length - low.length
        if abs(width) <= 1e-15 * max(abs(low.length), abs(high.length)):
            break
        length = _cubic(low, high)
        near, far = sorted((low.length + 0.1 * width, high.length - 0.1 * width))
        here = trial(min(max(length, near), far) if length == length else low.length + 0.5 * width)
        if not _decreases(here, start, c1) or here.value > low.value:
            high = here
            continue
        if abs(here.slope) <= limit:
            return here
        if here.slope * width >= 0:
            high = low
        low = here
    return low if low is not start else None


def _decreases(here: Trial, start: Trial, c1: float) -> bool:
    """Whether the function has decreased enough, as far as its values can tell."""
    if here.value <= start.value + c1 * here.length * start.slope:
        return True
    noise = 1e-15 * abs(start.value)
    return bool(here.value <= start.value + noise and here.slope <= (2.0 * c1 - 1.0) * start.slope)


def _cubic(a: Trial, b: Trial) -> Any:
    """Where the cubic through two points with two slopes is smallest; nan where there is no such place."""
    if not (math.isfinite(b.value) and math.isfinite(b.slope)):
        return a.length + 0.1 * (b.length - a.length)
    width = b.length - a.length
    d1 = a.slope + b.slope - 3.0 * (b.value - a.value) / width
    square = d1 * d1 - a.slope * b.slope
    if not square >= 0:
        return math.nan
    d2 = math.copysign(math.sqrt(square), width)
    below = b.slope - a.slope + 2.0 * d2
    return b.length - width * ((b.slope + d2 - d1) / below) if below else math.nan


def as_number(x: Array) -> Any:
    """A plain number as Python's, which computes faster and promotes nothing."""
    return float(x) if isinstance(x, np.generic) else x
