"""Losses made of two straight lines, solved exactly, with a proof: the duality gap.

    minimise  sum_i up_i max(r_i, 0) + down_i max(-r_i, 0) + 1/2 sum_j square_j theta_j^2,    r = target - A theta

Absolute errors, quantiles, the hinge and absolute penalties (a row for each coefficient) are all of this form. Without
squares it is a linear program, for HiGHS; with them a quadratic one, for the primal-dual method below (Mehrotra's).

For any a between -down and up with A^T a = 0 where square_j = 0, a . target - 1/2 sum_j (A^T a)_j^2 / square_j is below
the minimum: what a solution costs more than that, it can at most be from the best.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csc_array, hstack, identity

from ..labels import Array
from .newton import solved

GAP = 1e-11
"""The share of the minimum at which the primal-dual method ends."""
STEPS = 100


@dataclass(frozen=True)
class KinkedProblem:
    """The problem above."""

    A: Array
    target: Array
    up: Array
    down: Array
    square: Array
    absolutes: int = 0
    """How many of the last rows are absolute penalties."""

    def cost(self, theta: Array) -> float:
        """What is minimised."""
        r = self.target - self.A @ theta
        lines = self.up @ np.maximum(r, 0.0) + self.down @ np.maximum(-r, 0.0)
        return float(lines + 0.5 * self.square @ theta**2)

    def bound(self, a: Array) -> float:
        """What no theta is below."""
        slope = self.A.T @ a
        curved = self.square > 0.0
        return float(a @ self.target - 0.5 * np.sum(slope[curved] ** 2 / self.square[curved]))

    def solved(self) -> tuple[Array, float, int]:
        """The solution, its duality gap, and the steps it took."""
        if not np.any(self.target):
            return np.zeros(self.A.shape[1]), 0.0, 0  # nothing pulls
        if not np.any(self.square):
            theta, a, steps = _by_simplex(self)
        else:
            theta, a, steps = _interior(self)
            theta = self._with_zeros(theta, a)
        return theta, max(self.cost(theta) - self.bound(a), 0.0), steps

    def _with_zeros(self, theta: Array, a: Array) -> Array:
        """Coefficients whose absolute penalty pulls more than the loss does are 0, not nearly 0."""
        rows, columns = len(a) - self.absolutes, np.flatnonzero(self.A[len(a) - self.absolutes :].any(axis=0))
        idle = np.abs(a[rows:]) < (1.0 - 1e-5) * self.up[rows:]
        found = theta.copy()
        found[columns[idle]] = 0.0
        return found if self.cost(found) <= (1.0 + 10.0 * GAP) * self.cost(theta) else theta


def with_absolute(lines: KinkedProblem, absolute: Array) -> KinkedProblem:
    """The problem with absolute_j |theta_j| added."""
    penalised = np.flatnonzero(absolute)
    weights = absolute[penalised]
    return KinkedProblem(
        np.vstack([lines.A, np.eye(len(absolute))[penalised]]),
        np.concatenate([lines.target, np.zeros(len(penalised))]),
        np.concatenate([lines.up, weights]),
        np.concatenate([lines.down, weights]),
        lines.square,
        len(penalised),
    )


def _by_simplex(lines: KinkedProblem) -> tuple[Array, Array, int]:
    rows, columns = lines.A.shape
    unit = identity(rows, format="csc")
    found = linprog(
        np.concatenate([np.zeros(columns), lines.up, lines.down]),
        A_eq=hstack([csc_array(lines.A), unit, -unit], format="csc"),
        b_eq=lines.target,
        bounds=[(None, None)] * columns + [(0.0, None)] * (2 * rows),
        method="highs",
    )
    if found.x is None:
        raise ValueError(f"The linear program was not solved: {found.message}")
    return found.x[:columns], found.eqlin.marginals, int(found.nit)


@np.errstate(over="ignore")  # at the very end multipliers come to 0
def _interior(lines: KinkedProblem) -> tuple[Array, Array, int]:
    """Steps towards where all products of a part of r and its multiplier are 0, each of them kept above 0."""
    size = max(float(np.mean(np.abs(lines.target))), 1e-3)
    u, v = np.maximum(lines.target, 0.0) + size, np.maximum(-lines.target, 0.0) + size
    at = _Point(lines, np.zeros(lines.A.shape[1]), 0.5 * (lines.up - lines.down), u, v)
    steps = 0
    for steps in range(1, STEPS + 1):  # noqa: B007 how many there were is told
        gap = at.u @ at.x + at.v @ at.y
        if gap <= GAP * lines.cost(at.theta) and at.is_feasible(size):
            break
        _, da, du, dv = at.direction(-at.u * at.x, -at.v * at.y)
        primal, dual = _reach((at.u, du), (at.v, dv)), _reach((at.x, -da), (at.y, da))
        after = (at.u + primal * du) @ (at.x - dual * da) + (at.v + primal * dv) @ (at.y + dual * da)
        aim = gap / (2 * len(du)) * (after / gap) ** 3
        move, da, du, dv = at.direction(aim - at.u * at.x + du * da, aim - at.v * at.y - dv * da)
        common = 0.9995 * _reach((at.u, du), (at.v, dv), (at.x, -da), (at.y, da))
        if common < 1e-10:
            break  # rounding is all that is left
        at = _Point(
            lines, at.theta + common * move, at.a + common * da, at.u + common * du, at.v + common * dv
        )  # fmt: skip
    return at.theta, at.a, steps


@dataclass(frozen=True)
class _Point:
    """u and v are the positive parts of r and -r, x and y their multipliers: all are above 0."""

    lines: KinkedProblem
    theta: Array
    a: Array
    u: Array
    v: Array

    @cached_property
    def x(self) -> Array:
        return self.lines.up - self.a

    @cached_property
    def y(self) -> Array:
        return self.lines.down + self.a

    @cached_property
    def missing(self) -> Array:
        """By how much u - v is not r."""
        return self.lines.target - self.lines.A @ self.theta - self.u + self.v

    @cached_property
    def uneven(self) -> Array:
        """By how much the slopes of lines and squares do not cancel."""
        return self.lines.A.T @ self.a - self.lines.square * self.theta

    @cached_property
    def scaling(self) -> tuple[Array, Array]:
        """How far the parts of r give way to their multipliers, and the matrix for theta that follows."""
        D = self.u / self.x + self.v / self.y
        H = self.lines.A.T @ (self.lines.A / D[:, None])
        H.flat[:: len(H) + 1] += self.lines.square + 1e-15 * np.max(np.diag(H))
        return D, H

    def is_feasible(self, size: float) -> bool:
        uneven = np.max(np.abs(self.uneven)) / (1.0 + np.max(self.lines.up))
        return bool(uneven <= 1e-9 and np.max(np.abs(self.missing)) <= 1e-9 * (1.0 + size))

    def direction(self, for_u: Array, for_v: Array) -> tuple[Array, Array, Array, Array]:
        """The Newton step that moves u x by `for_u` and v y by `for_v`: theta's, a's, u's and v's."""
        A, (D, H) = self.lines.A, self.scaling
        q = self.missing - for_u / self.x + for_v / self.y
        move = solved(H, self.uneven + A.T @ (q / D))
        da = (q - A @ move) / D
        return move, da, (for_u + self.u * da) / self.x, (for_v - self.v * da) / self.y


def _reach(*pairs: tuple[Array, Array]) -> float:
    """How much of a step can be taken until something is 0, at most all of it."""
    farthest = 1.0
    for at, move in pairs:
        down = move < 0.0
        if np.any(down):
            farthest = min(farthest, float(np.min(-at[down] / move[down])))
    return farthest
