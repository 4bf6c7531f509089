"""Conditions of a minimum: where the gradient is 0, or bounds and constraints hold what it pushes against (KKT).

The unknowns are the point and a multiplier for each constraint, z = (x, l), where lower <= v(x) <= upper. The equations
are grad f = l grad v, and for each constraint v = the bound that it is at, or l = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.errors import NotDifferentiableError, message
from ...core.values import cannot_branch, decidable, shape_of
from ...transforms.grad import grad
from ...transforms.jacobian import jacobian
from ...transforms.jvp import jvp

Objective = Callable[[Any], Any]
Constraints = tuple[Callable[[Any], Any], Any, Any]
"""What is between bounds, and these: `values(x), lower, upper`."""

NEAR = 1e-4
"""A constraint may be at its bound if it is this close, relative to 1 + |bound|: some methods never reach it."""
EXACT = 1e-7
"""A constraint that is this close is at its bound, whatever it does there."""
FREE, LOWER, UPPER, KINK = 0.0, -1.0, 1.0, 2.0


def joined(parts: Sequence[Constraints]) -> Constraints | None:
    """All constraints as one."""
    if not parts:
        return None

    def values(x: Any) -> Any:
        return np.concatenate([np.reshape(part[0](x), (-1,)) for part in parts])

    lower = np.concatenate([np.reshape(low, (-1,)) for _, low, _ in parts])
    return values, lower, np.concatenate([np.reshape(high, (-1,)) for _, _, high in parts])


def stationary(x: Any, objective: Objective, constraints: Constraints | None) -> tuple[Any, Any]:
    """The unknowns of the equations at a minimum, and which bound each constraint is at: all of it plain."""
    if constraints is None:
        return x, np.zeros(0)
    x = np.asarray(x, float)
    values, lower, upper = constraints
    at = np.asarray(values(x), float)
    lower, upper = np.broadcast_to(lower, at.shape), np.broadcast_to(upper, at.shape)
    slope = np.reshape(grad(objective)(x), (-1,))
    slopes = np.reshape(jacobian(values)(x), (at.size, x.size))
    is_equal = lower == upper
    is_low = np.isfinite(lower) & (at - lower <= NEAR * (1.0 + np.abs(lower)))
    is_high = np.isfinite(upper) & (upper - at <= NEAR * (1.0 + np.abs(upper)))
    multipliers = _multipliers(slope, slopes, is_low, is_high, is_equal)
    sides = np.where(is_equal, LOWER, FREE)
    least = 1e-9 * np.linalg.norm(slope)  # what is smaller is rounding
    for k in np.flatnonzero((is_low | is_high) & ~is_equal):
        side = LOWER if multipliers[k] > 0.0 or (multipliers[k] == 0.0 and is_low[k]) else UPPER
        bound = lower[k] if side == LOWER else upper[k]
        push = multipliers[k] if abs(multipliers[k]) * np.linalg.norm(slopes[k]) > least else 0.0
        sides[k] = _side(side, abs(at[k] - bound), 1.0 + abs(bound), _reach(objective, x, slopes[k], push))
    return np.concatenate([np.reshape(x, (-1,)), np.where(sides == FREE, 0.0, multipliers)]), sides


def _reach(objective: Objective, x: Any, normal: Any, multiplier: float) -> float:
    """How far beyond its bound a constraint would be, if there were none: by Newton's step along the normal."""
    normal = np.reshape(normal, shape_of(x))
    curvature = float(np.sum(normal * jvp(grad(objective), (x,), (normal,))[1]))
    if not multiplier or not np.any(normal):
        return 0.0
    return abs(multiplier) * float(np.sum(normal * normal)) ** 2 / curvature if curvature > 0.0 else np.inf


def _side(side: float, distance: float, scale: float, reach: float) -> float:
    """Whether a constraint is at a bound: it is if it would be beyond, free if it stays away, else there is a kink."""
    if reach > 3.0 * distance + EXACT * scale:
        return side
    return KINK if distance <= EXACT * scale else FREE


def _multipliers(slope: Any, slopes: Any, is_low: Any, is_high: Any, is_equal: Any) -> Any:
    """The multipliers that balance the gradient best, with the signs that they have to have."""
    from scipy.optimize import nnls

    up, down = np.flatnonzero(is_low | is_equal), np.flatnonzero(is_high | is_equal)
    found = np.zeros(len(slopes))
    if len(up) + len(down):
        share, _ = nnls(np.concatenate([slopes[up], -slopes[down]]).T, slope)
        np.add.at(found, up, share[: len(up)])
        np.add.at(found, down, -share[len(up) :])
    return found


def residual(z: Any, sides: Any, objective: Objective, constraints: Constraints | None) -> Any:
    """What is 0 at a minimum."""
    if constraints is None:
        return grad(objective)(z)
    values, lower, upper = constraints
    x = point_of(z, sides)
    multipliers = z[shape_of(x)[0] :]
    if not cannot_branch(sides) and bool(np.any(decidable(sides == KINK))):
        raise NotDifferentiableError(
            message(
                "The minimum is on a bound or constraint that does not hold it back: its derivative jumps there,\n"
                "  or it is not the only minimum.",
                fix="Move the bound away, or use  ad.stop_gradient  for the minimum.",
            )
        )

    def lagrangian(y: Any) -> Any:
        return objective(y) - np.sum(multipliers * values(y))

    at = values(x)
    bound = np.where(sides == LOWER, _finite(lower), _finite(upper))
    held = np.where(sides == FREE, multipliers, np.where(sides == KINK, np.nan, at - bound))
    return np.concatenate([grad(lagrangian)(x), held])


def equation(
    objective: Callable[[dict[str, Any]], Objective],
    constraints: Callable[[dict[str, Any], Any], Constraints | None],
) -> Callable[[Any, Any, dict[str, Any]], Any]:
    """The equation of a call's minimum, given what finds its objective and its constraints among the arguments."""

    def of_call(z: Any, others: Any, given: dict[str, Any]) -> Any:
        return residual(z, others[0], objective(given), constraints(given, point_of(z, others[0])))

    return of_call


def point_of(z: Any, sides: Any) -> Any:
    """The point, without the multipliers."""
    count = int(np.prod(shape_of(sides)))
    return z[: shape_of(z)[0] - count] if count else z


def _finite(bound: Any) -> Any:
    return np.where(np.isfinite(bound), bound, 0.0)
