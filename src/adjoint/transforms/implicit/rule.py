"""The rule of a solution x of r(x, p) = 0: dx = -(dr/dx)^-1 (dr/dp) dp, to any order and in both modes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.errors import NotDifferentiableError, message
from ...core.values import cannot_branch, decidable, dtype_of, may_hold, shape_of
from ...rules.opaque import Opaque
from ..callbacks.rule import SolverRule, with_moved
from ..callbacks.solver import Callbacks
from ..jacobian import jacobian
from ..jvp import jvp
from ..step import conjugated
from ..stop import stop_gradient
from ..vjp import vjp_inside

Residual = Callable[..., Any]
"""`residual(x, others, *parts)`, which is 0 at the solution: as many numbers as there are in x.

`others` are the further results of the solver's step, for example which bounds are active, and `parts` its arguments.
"""
Solve = Callable[..., Any]
"""`solve(residual, x, right, transposed)`, which gives the solution of (dr/dx) y = right, or of the transposed one;
Newton's step from x; and the condition of the matrix."""

FAR = 1e-3
"""A Newton step from the solution that is longer than this, relative to 1 + |x|, says that it is none."""
SINGULAR = 1e13
"""A matrix of this condition, with rows and columns of size 1, is taken to be singular."""


def implicit_rule(name: str, callbacks: Callbacks, residual: Residual, solve: Solve | None = None) -> Opaque:
    """The rule of a solver's step whose first number or array solves the equation; other results have no derivative."""
    return ImplicitRule(name, callbacks, residual, solve).opaque


class ImplicitRule(SolverRule):
    """What moves a solution: the equation, and the values behind it."""

    results = 1

    def __init__(self, name: str, callbacks: Callbacks, residual: Residual, solve: Solve | None) -> None:
        super().__init__(callbacks)
        self.name, self.residual, self.solve = name, residual, solve or by_matrix

    def push(self, found: Sequence[Any], values: Sequence[Any], moving: list[int], along: tuple[Any, ...]) -> list[Any]:
        """Push the tangents of the values to the solution."""
        right = jvp(self._of_moving(found, values, moving), tuple([values[k] for k in moving]), along)[1]
        return [-self._solved(found, values, right, transposed=False)]

    def pull(
        self, found: Sequence[Any], values: Sequence[Any], moving: list[int], arrived: Sequence[Any]
    ) -> Sequence[Any]:
        """Pull the cotangent of the solution to the values."""
        back = self._solved(found, values, arrived[0], transposed=True)
        value, pullback = vjp_inside(self._of_moving(found, values, moving), *[values[k] for k in moving])
        return [conjugated(c) for c in pullback(conjugated(np.reshape(-back, shape_of(value))))]

    def _of_moving(self, found: Sequence[Any], values: Sequence[Any], moving: Sequence[int]) -> Callable[..., Any]:
        """The residual at the solution, as a function of those values that move."""

        def of_moving(*moved: Any) -> Any:
            parts = self.callbacks.parts(with_moved(values, moving, moved))
            return self.residual(found[0], found[1:], *parts)

        return of_moving

    def _solved(self, found: Sequence[Any], values: Sequence[Any], right: Any, *, transposed: bool) -> Any:
        """The solution of the linear equation with the Jacobian of the residual, or with its transpose."""
        x = found[0]
        if 0 in shape_of(x):
            return np.reshape(right, shape_of(x))

        def of_solution(y: Any) -> Any:
            return self.residual(y, found[1:], *self.callbacks.parts(values))

        try:
            solution, step, growth = self.solve(of_solution, x, np.reshape(right, (-1,)), transposed)
        except np.linalg.LinAlgError:
            raise self._singular() from None
        return np.reshape(self._looked_at(solution, step, growth, x), shape_of(x))

    def _looked_at(self, solution: Any, step: Any, growth: Any, x: Any) -> Any:
        """The solution, unless the matrix is singular, or Newton's step says that the equation does not hold at x."""
        is_regular = growth < SINGULAR
        is_far = np.max(np.abs(step)) > FAR * (1.0 + np.max(np.abs(x)))
        if cannot_branch(is_far):
            return np.where(is_regular & ~is_far, solution, np.nan)
        if not bool(np.all(decidable(is_regular))):
            raise self._singular()
        if may_hold(is_far):
            raise NotDifferentiableError(
                message(
                    f"{self.name} did not arrive at a solution, so the solution has no derivative.",
                    got=f"a point from which Newton's step is longer than {FAR:g} (1 + |x|)",
                    fix="Raise the number of iterations, lower the tolerance, or begin closer to the solution;\n"
                    "  at a kink, smooth the function. If no derivative is wanted, use  ad.stop_gradient.",
                )
            )
        return solution

    def _singular(self) -> NotDifferentiableError:
        return NotDifferentiableError(
            message(
                f"The solution of {self.name} has no derivative: the Jacobian of its equation is singular there.",
                got="a solution that is not isolated, or a multiple root",
                fix="Use  ad.stop_gradient  for the solution, or add what makes it unique.",
            )
        )


def by_matrix(of_solution: Callable[[Any], Any], x: Any, right: Any, transposed: bool) -> tuple[Any, Any, Any]:
    """Solve with the whole Jacobian of the residual."""
    size = int(np.prod(shape_of(x)))
    if size == 1:
        return by_elements(of_solution, x, right, transposed)
    matrix = np.reshape(jacobian(of_solution)(x), (size, size))
    found = np.linalg.solve(np.transpose(matrix) if transposed else matrix, right)
    residual = stop_gradient(np.reshape(of_solution(stop_gradient(x)), (-1,)))
    plain = stop_gradient(matrix)
    rows = np.max(np.abs(plain), axis=1)  # units differ from equation to equation, and from unknown to unknown
    columns = np.max(np.abs(plain / rows[:, None]), axis=0)
    scaled = plain / rows[:, None] / columns
    inverse = np.linalg.inv(scaled)
    growth = np.max(np.sum(np.abs(scaled), axis=0)) * np.max(np.sum(np.abs(inverse), axis=0))
    return found, inverse @ (residual / rows) / columns, growth


def by_elements(of_solution: Callable[[Any], Any], x: Any, right: Any, transposed: bool) -> tuple[Any, Any, Any]:
    """Solve equations of which each has an unknown of its own."""
    value, slopes = jvp(of_solution, (x,), (np.ones(shape_of(x), dtype_of(x)),))
    slopes = np.reshape(slopes, (-1,))
    is_flat = slopes == 0.0
    safe = np.where(is_flat, 1.0, slopes)
    return right / safe, np.reshape(value, (-1,)) / safe, np.max(np.where(is_flat, np.inf, 1.0))
