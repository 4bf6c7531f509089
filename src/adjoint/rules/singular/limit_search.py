"""Derivatives where slopes are 0 and infinite at once: their limits at points nearby, if those agree.

`sqrt(x)**2` at 0 has the slope 0 * inf, and a derivative, 1. It is found by sweeps along tiny steps
(`core/singular/near.py`) to four points: two distances in two directions, and opposite to them. If all agree that is
the derivative. Opposite sides may differ, as those of a norm do at its kink; then their mean counts, which is the
documented slope 0. A side outside of the domain does not count. What grows without end is infinite, what shrinks is 0,
and all else is nan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.types import Numeric
from ...core.values import may_hold, shape_of

DISTANCES = ((2.0**-240, 2.0**-180, 1e-7), (2.0**-60, 2.0**-52, 1e-12), (2.0**-20, 2.0**-16, 1e-13))
"""How far the steps go, and what is the same limit seen from both distances; the next ones where numbers get too small.
The exponents have many divisors, so that roots of the steps are powers of 2 too."""


class Limit(NamedTuple):
    """A derivative found near a point, and where it is the mean of two sides that differ, as at a kink."""

    value: Numeric
    is_kink: Numeric


Limits = list[Limit | None]


def limits(near: Callable[..., list[Any]], count: int, *, has_turns: bool) -> Limits:
    """The limits of all derivatives, given their values near the point."""
    found: Limits = [Limit(np.nan, False)] * count
    for close, far, tolerance in DISTANCES:
        steps = ((close, 0.0), (-close, 0.0), (far, 0.0), (-far, 0.0), (close, 0.5), (-close, 0.5))
        ends = [near(*step) for step in (steps if has_turns else steps[:4])]
        for k, had in enumerate(found):
            sides: Any = [end[k] for end in ends]
            if had is None or any([s is None for s in sides]):
                found[k] = None
                continue
            if has_turns and count > 1 and may_hold(np.isnan(sides[1]) & ~np.isnan(sides[0])):
                # another argument may have left its domain: let this one alone turn back
                sides[1::2] = [near(*step, k)[k] for step in steps[::2]]
            new, is_open = _limit(*sides, tolerance=tolerance), np.isnan(had.value)
            found[k] = Limit(np.where(is_open, new.value, had.value), np.where(is_open, new.is_kink, had.is_kink))
        if not any([f is not None and may_hold(np.isnan(f.value)) for f in found]):
            break
    return found


def _limit(ahead: Numeric, behind: Numeric, *others: Numeric, tolerance: float) -> Limit:
    """The limit of a slope, given on both sides; then farther away, and in another direction if there is any."""
    only_ahead, only_behind = np.isnan(behind), np.isnan(ahead)
    ahead, behind = np.where(only_behind, behind, ahead), np.where(only_ahead, ahead, behind)
    size, mean = np.maximum(np.abs(ahead), np.abs(behind)), 0.5 * (ahead + behind)
    same: Any = True
    for other, opposite in zip(others[::2], others[1::2], strict=True):
        other, opposite = np.where(only_behind, opposite, other), np.where(only_ahead, other, opposite)
        largest = np.maximum(np.abs(other), np.abs(opposite))
        same = same & (np.abs(mean - 0.5 * (other + opposite)) <= tolerance * np.maximum(size, largest))
    far = np.maximum(
        np.abs(np.where(only_behind, others[1], others[0])), np.abs(np.where(only_ahead, others[0], others[1]))
    )
    bounded = np.abs(size - far) <= 1e-3 * size
    found = np.where(same & bounded, _short(mean, size), np.nan)
    grows = (size > 1.1 * far) & (size > 32.0) & (np.sign(ahead) == np.sign(behind))
    for other, opposite in zip(others[::2], others[1::2], strict=True):
        grows = grows & (np.sign(np.where(only_behind, opposite, other)) == np.sign(ahead))
    found = np.where(grows, np.sign(ahead) * np.inf, found)
    found = np.where((size < 0.25 * far) & (size < 2.0**-8) | (size == 0) & (far == 0), 0.0, found)
    return Limit(found, same & bounded & (np.abs(ahead - behind) > tolerance * size))


def extrapolated(at: Callable[[float, float], list[Any]], count: int, check: Sequence[float]) -> list[Any]:
    """Limits of smooth slopes from points farther away, by Richardson's scheme; nan where that does not settle.

    The mean of two sides is even in the distance, and their difference goes to 0 with it, unless there is a kink. Tiny
    steps know leading orders only: those of (exp(x) - 1) / x cancel at 0, and its slope there is 1/2. Slopes at the
    distances to `check`, where digits are few, must be about the same.
    """
    directions = [[_settled(sides, k) for k in range(count)] for sides in [_sides(at, turn) for turn in (0.0, 0.5)]]
    close = [(at(distance, 0.0), at(-distance, 0.0)) for distance in check]
    found = []
    for k, ((limit, size), (other, _)) in enumerate(zip(*directions, strict=True)):
        size = np.maximum(np.abs(limit), size)
        is_sure = np.abs(limit - other) <= SETTLED * size
        for ahead, behind in close:
            is_sure = is_sure & (np.abs(0.5 * (ahead[k] + behind[k]) - limit) <= ABOUT * size)
        found.append(np.where(is_sure, limit, np.nan))
    return found


FARTHER = tuple([2.0**-k for k in range(4, 10)])
SETTLED, ABOUT = 1e-9, 1e-3
"""What limits may differ by that are the same, and slopes that are about the same."""


def _sides(at: Callable[[float, float], list[Any]], turn: float) -> list[tuple[list[Any], list[Any]]]:
    return [(at(distance, turn), at(-distance, turn)) for distance in FARTHER]


def _settled(sides: list[tuple[list[Any], list[Any]]], k: int) -> tuple[Any, Any]:
    """The limit of one slope, and its size on the way."""
    means = [0.5 * (ahead[k] + behind[k]) for ahead, behind in sides]
    apart = [np.abs(ahead[k] - behind[k]) for ahead, behind in sides]
    size = np.maximum(np.abs(sides[0][0][k]), np.abs(sides[0][1][k]))
    row, best, error = [means[0]], means[0] * np.nan, np.inf
    for mean in means[1:]:
        before, row = row, [mean]
        for m, was in enumerate(before, 1):
            row.append(row[-1] + (row[-1] - was) / (4.0**m - 1.0))
        change = np.abs(row[-1] - before[-1])
        best, error = np.where(change < error, row[-1], best), np.minimum(change, error)
    is_smooth = (apart[-1] <= 0.6 * apart[-2]) | (apart[-1] <= SETTLED * size)
    return np.where((error <= SETTLED * size) & is_smooth, _short(best, size), np.nan), size


def _short(x: Numeric, size: Numeric) -> Any:
    """A number without the rounding errors of the sweep, if it has few digits: 1 instead of 0.9999999999999998."""
    unit = 2.0 ** (np.floor(np.log2(np.where(size == 0, 1.0, size))) - 20.0)
    rounded = np.round(x / unit) * unit
    return np.where(np.abs(x - rounded) <= unit * 2.0**-24, rounded, x)


def directions(x: Numeric, turn: float, number: int) -> Any:
    """Steps that are the same for no two elements, between 1 and 2; the first of the first array is 1.

    After a turn the smallest are the largest.
    """
    count = int(np.prod(shape_of(x), dtype=int))
    parts = (np.arange(count) + 7.3 * number) * 0.6180339887498949 % 1.0
    return (1.0 + np.abs(2 * turn - parts)).reshape(shape_of(x))


def scale(x: Numeric) -> Any:
    """A step is small beside the number it starts from."""
    size = np.abs(x)
    return np.where(np.equal(size, 0) | ~np.isfinite(size), 1.0, size)
