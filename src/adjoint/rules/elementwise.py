"""`Elementwise`: a function applied to each element, differentiated by its partials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.careful import Cotangent
from ..core.errors import NotDifferentiableError, message
from ..core.values import Value, may_hold
from .compile import NAMES, compiled_at_first_use, evaluated, wanted
from .keeping import Kept, ghost, own, sum_of_tangents


class Elementwise:
    """d out = sum of partial_k * d arg_k, element by element.

    Parameters
    ----------
    partials : one function for each argument, or None where there is no derivative to give. Its parameters are
        named `x, y, z, w` for the arguments and `out` for the result: whatever it names is kept.
    vertex : whether the partial is infinite at the end of the domain, as that of sqrt is at 0. There the
        derivative is infinite if the inner function has a slope, and 0 if it has none: sqrt(x**2) is the
        absolute value, whose subgradient at 0 is 0.
    """

    __slots__ = ("partials", "vertex", "vjps")
    is_zero = False
    pull_into = None

    def __init__(self, partials: Sequence[Callable[..., Value] | None], *, vertex: bool = False) -> None:
        self.partials = tuple(partials)
        self.vertex = vertex
        self.vjps = compiled_at_first_use(self, self.partials)

    def keep(self, primitive: Any, parents: Sequence[int | None], values: Sequence[Value], out: Value) -> Kept:
        """What the partials of the arguments that move ask for, by name."""
        if None in self.partials:
            refuse_unknown(primitive, self.partials, parents)
        asked: set[str] = set()
        for partial, parent in zip(self.partials, parents, strict=True):
            if parent is not None:
                asked.update(wanted(partial))
        kept = [
            ghost(v) if name not in asked else own(v) if parent is None else v
            for name, parent, v in zip(NAMES, parents, values, strict=False)
        ]
        return kept, out if self.vertex or "out" in asked else ghost(out)

    def push(self, primitive: Any, tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> Value:
        """The tangent of the result."""
        if None in self.partials:
            refuse_unknown(primitive, self.partials, tangents)
        terms = []
        for t, partial in zip(tangents, evaluated(self.partials), strict=True):
            if t is not None:
                p = partial(out, *args)
                terms.append(_times_vertex(t, p, out) if self.vertex else t * p)
        return sum_of_tangents(terms, out)

    def pull_careful(
        self, primitive: Any, g: Cotangent, out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]
    ) -> list[Cotangent | None]:
        """Multiply by the partials, but not where the cotangent is structurally zero."""
        return [
            g.times(partial(out, *args), out, vertex=self.vertex) if need else None
            for partial, need in zip(evaluated(self.partials), needed, strict=True)
        ]


def refuse_unknown(primitive: Any, partials: Sequence[Any], moves: Sequence[Any]) -> None:
    """Raise, at the user's line, if a derivative is asked for with respect to an argument that has no partial."""
    for k, (partial, moving) in enumerate(zip(partials, moves, strict=True)):
        if partial is None and moving is not None:
            raise NotDifferentiableError(
                message(
                    f"{primitive.name} has no known derivative with respect to its argument number {k + 1}.",
                    fix="If it is meant as a constant, pass  ad.stop_gradient(...)  there; "
                    "if you know the derivative, give it with  ad.custom_rule.",
                )
            )


def _times_vertex(t: Value, p: Value, out: Value) -> Value:
    stays = np.isinf(p) & np.isfinite(out) & np.equal(t, 0)
    return np.where(stays, 0.0, t * p) if may_hold(stays) else t * p
