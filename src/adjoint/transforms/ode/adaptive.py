"""Steps whose length follows the error: accepted or taken again, with a proportional-integral controller.

Every time that is asked for ends a step, so that what is returned there has the accuracy of the method; and the last
step before it is as long as the time says, which gives the derivative with respect to that. All other lengths are
constants for a derivative: it is that of the steps that were taken.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...core.values import Value, dtype_of
from ..loops.loops import scan, while_loop
from ..stop import stop_gradient
from .stepping import Slope, State, ahead, norm, stages, weighted
from .tableaux import Tableau

SAFETY, LEAST, MOST = 0.9, 0.2, 10.0
"""What the length is multiplied by: a bit less than what the error allows, and within bounds."""


class OdeProgress(NamedTuple):
    """Where the integration stands: the slope at y, the length to try next, the last error, what was taken."""

    t: Value
    y: State
    slope: State
    h: Value
    error: Value
    steps: Value
    rejected: Value


class Tolerance(NamedTuple):
    """What a step may be wrong by, leaf by leaf: absolute + relative * |y|; and how many steps there may be."""

    relative: State
    absolute: State
    most: int

    def scales(self, *states: State) -> State:
        """What each number may be wrong by, given those at both ends of a step."""
        sizes = [np.abs(y) for y in states[0]]
        for other in states[1:]:
            sizes = [np.maximum(a, np.abs(b)) for a, b in zip(sizes, other, strict=True)]
        return [a + r * size for a, r, size in zip(self.absolute, self.relative, sizes, strict=True)]


def in_adaptive_steps(
    slope: Slope,
    method: Tableau,
    y: State,
    times: Value,
    tolerance: Tolerance,
    first_step: Value | None,
    every: int | None,
) -> tuple[State, dict[str, Any]]:
    """The states at all times but the first, stacked; nan from where the steps became too small or too many."""
    start, way = times[0], np.where(times[-1] >= times[0], 1.0, -1.0).astype(dtype_of(times))
    k = slope(y, start)
    h = way * np.abs(first_step) if first_step is not None else first_length(slope, method, start, y, k, way, tolerance)
    begin = OdeProgress(start, y, k, stop_gradient(h), np.ones_like(start), 0, 0)

    def between(now: OdeProgress, until: Value) -> tuple[OdeProgress, State]:
        def goes_on(p: OdeProgress) -> Value:
            return (way * (until - p.t) > 0) & (p.steps < tolerance.most) & _is_long_enough(p, until)

        def one(p: OdeProgress) -> OdeProgress:
            return _step(slope, method, p, until, tolerance)

        def some(p: OdeProgress) -> OdeProgress:
            begun = p.steps
            return while_loop(lambda q: goes_on(q) & (q.steps < begun + every), one, p)  # type: ignore[no-any-return]

        now = while_loop(goes_on, some if every else one, now)
        arrived = way * (until - now.t) <= 0
        return now, [np.where(arrived, y, np.asarray(np.nan, dtype_of(y))) for y in now.y]

    last, found = scan(between, begin, times[1:])
    arrived = last.t == times[-1]
    return found, {"steps": last.steps, "rejected": last.rejected, "success": arrived}


def _is_long_enough(p: OdeProgress, until: Value) -> Value:
    """Whether the next step moves the time at all; not if the length is nan."""
    return np.abs(p.h) > 4 * np.finfo(dtype_of(p.h)).eps * np.maximum(np.abs(p.t), np.abs(until))


def _step(slope: Slope, method: Tableau, p: OdeProgress, until: Value, tolerance: Tolerance) -> OdeProgress:
    """The next step, if its error is small enough; otherwise a shorter one to try."""
    left, tried = until - p.t, stop_gradient(p.h)
    rest = np.abs(stop_gradient(left))
    is_last = rest <= np.abs(tried) * (1 + 1e-6)
    h = np.where(is_last, left, np.where(rest < 2 * np.abs(tried), stop_gradient(left) / 2, tried))
    slopes = stages(slope, method, p.t, p.y, p.slope, h)
    y = ahead(p.y, h, method.weights, slopes)
    t = np.where(is_last, until, p.t + h)
    last = slope(y, t)
    error = _error(method, p, y, [*slopes, last], h, tolerance)
    accepted = error <= 1

    def chosen(new: Value, old: Value) -> Value:
        return np.where(accepted, new, old)

    before = stop_gradient(p.error)
    return OdeProgress(
        chosen(t, p.t),
        [chosen(a, b) for a, b in zip(y, p.y, strict=True)],
        [chosen(a, b) for a, b in zip(last, p.slope, strict=True)],
        _following(method, stop_gradient(h), tried, error, before).astype(dtype_of(p.h)),
        chosen(np.maximum(error, 1e-4), before).astype(dtype_of(p.error)),
        p.steps + 1,
        p.rejected + np.where(accepted, 0, 1),
    )


def _following(method: Tableau, h: Value, tried: Value, error: Value, before: Value) -> Value:
    """The length to try next: from this error and the one before, and not less than before if a time cut it short."""
    beta = 0.2 / method.order
    accepted = error <= 1
    factor = SAFETY * np.maximum(error, 1e-10) ** (0.75 * beta - 1 / method.order)
    factor = factor * np.where(accepted, before, 1.0) ** beta
    factor = np.where(np.isfinite(factor), np.clip(factor, LEAST, MOST), LEAST)
    was_cut = (np.abs(h) < np.abs(tried)) & (np.abs(h * factor) < np.abs(tried))
    return np.where(accepted, np.where(was_cut, tried, h * factor), h * np.minimum(factor, 1.0))


def _error(method: Tableau, p: OdeProgress, y: State, slopes: list[State], h: Value, tolerance: Tolerance) -> Value:
    """The size of the error in units of the tolerance: a constant, of which no derivative is asked anything."""
    had, y, slopes, h, tolerance = stop_gradient((p.y, y, slopes, h, tolerance))
    return norm([h * e for e in weighted(method.error, slopes)], tolerance.scales(had, y))


def first_length(
    slope: Slope, method: Tableau, t: Value, y: State, k: State, way: Value, tolerance: Tolerance
) -> Value:
    """A length for the first step, from the sizes of y, y' and a rough y'' (Hairer, Norsett, Wanner, II.4)."""
    t, y, k = stop_gradient((t, y, k))
    scales = tolerance.scales(y)
    size, speed = norm(y, scales), norm(k, scales)
    small = (size < 1e-5) | (speed < 1e-5)
    rough = np.where(small, 1e-6, 0.01 * size / np.where(small, 1.0, speed))
    later = stop_gradient(slope(ahead(y, way * rough, (1.0,), [k]), t + way * rough))
    bend = norm([a - b for a, b in zip(later, k, strict=True)], scales) / rough
    most = np.maximum(speed, bend)
    flat = most <= 1e-15
    fine = np.where(flat, np.maximum(1e-6, rough * 1e-3), (0.01 / np.where(flat, 1.0, most)) ** (1 / method.order))
    return way * np.minimum(100 * rough, fine)
