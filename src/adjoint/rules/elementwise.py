"""`Elementwise`: a function applied to each element, differentiated by its partials."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np

from ..core.errors import NotDifferentiableError, message
from ..core.forward import met
from ..core.primitive import Primitive
from ..core.rule import Kept, Needed, Rule, Tangents, protected
from ..core.singular.slope import KINK, UNKNOWN, Slope
from ..core.traced import Traced, is_differentiated
from ..core.types import Numeric, Params, Places, Values
from ..core.values import may_hold
from .partials import NAMES, Pull, evaluated, pull_by_partials, wanted
from .residuals import ghost, is_far, near_by_push, sum_of_tangents

if TYPE_CHECKING:
    from ..core.series import Expansion, Next
    from ..core.singular.structural_zeros import Cotangent


class _Bends(threading.local):
    depth = 0
    """How many partials of partials are being looked at."""
    count = 0
    """How many there were for one step."""

    def are_too_many(self) -> bool:
        return self.depth >= DEEPEST or (self.depth > 0 and self.count >= MOST)


bends = _Bends()
"""In this thread."""
MOST = 8
"""A partial of many steps, each of which has a partial of many steps: then the limit is left open."""
DEEPEST = 3
"""Partials whose own partials are 0 or infinite, and so on, without end, say nothing."""


@final
class Elementwise(Rule[Numeric]):
    """d out = sum of partial_k * d arg_k, element by element.

    Parameters
    ----------
    partials : one function for each argument, or None where there is no derivative to give. Its parameters are
        named `x, y, z, w` for the arguments and `out` for the result: whatever it names is kept.
    vertex : whether the partial is infinite at the end of the domain, as that of sqrt is at 0. There the
        derivative is infinite if the inner function has a slope, and 0 if it has none: sqrt(x**2) is the
        absolute value, whose subgradient at 0 is 0.
    slope : what is known where a partial is 0 or infinite; a `Slope`, or a function of the arguments that gives one.
    at_point : whether its partials at a point hold near it.
    """

    __slots__ = ("at_point", "partials", "pull", "slope", "vertex")
    makes_new = True
    pull: Pull  # type: ignore[assignment]  # a function of its own, compiled at its first use

    def __init__(
        self,
        partials: Sequence[Callable[..., Numeric] | None],
        *,
        vertex: bool = False,
        slope: Slope | Callable[..., Slope] = UNKNOWN,
        at_point: bool = False,
    ) -> None:
        self.at_point = at_point
        self.partials = tuple(partials)
        self.vertex = vertex
        self.slope = slope
        self.pull = pull_by_partials(self, self.partials)

    @property
    def is_at_point(self) -> bool:
        """Whether its partials at a point hold near it."""
        return self.at_point

    def keep(self, primitive: Primitive, parents: Places, values: Values, out: Numeric) -> Kept:
        """What the partials of the arguments that move ask for, by name."""
        if None in self.partials:
            refuse_unknown(primitive, self.partials, parents)
        asked: set[str] = set()
        for partial, parent in zip(self.partials, parents, strict=True):
            if parent is not None:
                asked.update(wanted(partial))
        kept = [
            ghost(v) if name not in asked else protected(v) if parent is None else v
            for name, parent, v in zip(NAMES, parents, values, strict=False)
        ]
        return kept, out if self.vertex or "out" in asked else ghost(out)

    def expand(self, step: Expansion) -> Next:
        """By the partials, along the series."""
        from . import expanding  # seldom needed, so not when the library is imported

        if None in self.partials:
            refuse_unknown(step.primitive, self.partials, step.rows)
        return expanding.elementwise(self, step)

    def push(self, primitive: Primitive, tangents: Tangents, out: Numeric, args: Values, params: Params) -> Any:
        """The tangent of the result."""
        if None in self.partials:
            refuse_unknown(primitive, self.partials, tangents)
        terms = []
        for t, partial in zip(tangents, evaluated(self.partials), strict=True):
            if t is not None:
                p = partial(out, *args)
                terms.append(_times_vertex(t, p, out) if self.vertex else t * p)
                if self.slope is KINK and is_differentiated(out) and may_hold(np.equal(p, 0)):
                    met.vertex = True  # a derivative further out would see 0 beside the kink too
        return sum_of_tangents(terms, out)

    def near(
        self, primitive: Primitive, moves: Tangents, out: Numeric, args: Values, params: Params
    ) -> tuple[Any, Any]:
        """By the partials, where they are neither 0 nor infinite; at 0 by the function itself."""
        if self.at_point:
            return near_by_push(self, primitive, moves, out, args, params)
        moving = [(a, m) for a, m in zip(args, moves, strict=True) if m is not None]
        whole = primitive(*[a if m is None else a + m for a, m in zip(args, moves, strict=True)])
        first = self.push(primitive, moves, out, args, params)
        is_exact: Any = True
        is_known: Any = True
        goes_far: Any = False
        is_moved: Any = False
        for a, m in moving:
            is_moved = is_moved | ~np.equal(m, 0)
            is_known = is_known & np.isfinite(m)
            is_exact = is_exact & (np.equal(a, 0) | np.equal(m, 0))
            goes_far = goes_far | is_far(a, m)
        is_whole = is_moved & (~np.isfinite(out) | (is_exact & np.equal(out, 0)) | goes_far)
        is_bent = is_moved & is_known & ~is_whole & (~np.isfinite(first) | np.equal(first, 0))
        if may_hold(is_bent):
            first = np.where(is_bent, np.nan if bends.are_too_many() else self._bent(moves, out, args), first)
        first = np.where(is_moved, first, 0.0)
        whole = np.where(np.isinf(whole), np.nan, whole)  # a number that is too large, not a slope
        return np.where(is_whole, 0.0, out), np.where(is_whole, whole, first)

    def _bent(self, moves: Tangents, out: Numeric, args: Values) -> Any:
        """The move of the result where a partial is 0 or infinite: the integral of a power of the way."""
        bends.count = bends.count + 1 if bends.depth else 0
        bends.depth += 1
        try:
            return self._integrated(moves, out, args)
        finally:
            bends.depth -= 1

    def _integrated(self, moves: Tangents, out: Numeric, args: Values) -> Any:
        from ..core.singular.near import NearTrace  # seldom needed, so not when the library is imported

        total: Any = 0.0
        for k, partial in enumerate(evaluated(self.partials)):
            if moves[k] is not None:
                ends = []
                for scale in (1.0, 2.0**-12):
                    near = NearTrace()
                    moved = [a if m is None else Traced(a, near, m * scale) for a, m in zip(args, moves, strict=True)]
                    ends.append(near.whole(partial(out, *moved)))
                power = np.log2(np.abs(np.divide(ends[0], ends[1]))) / 12.0
                way = np.where(power > -1.0, ends[0] * moves[k] / (1.0 + power), np.nan)
                total = total + np.where(np.equal(ends[0], 0), 0.0, way)
        return total

    def pull_careful(
        self, primitive: Primitive, g: Cotangent, out: Numeric, args: Values, params: Params, needed: Needed
    ) -> Sequence[Cotangent | None]:
        """Multiply by the partials, but not where the cotangent is structurally zero."""
        slope = self.slope if isinstance(self.slope, Slope) else self.slope(*args)
        return [
            g.times(partial(out, *args), out, vertex=self.vertex, slope=slope) if need else None
            for partial, need in zip(evaluated(self.partials), needed, strict=True)
        ]


def refuse_unknown(primitive: Primitive, partials: Sequence[object], moves: Sequence[object]) -> None:
    """Raise, at the user's line, if a derivative is asked for with respect to an argument that has no partial."""
    for k, (partial, moving) in enumerate(zip(partials, moves, strict=True)):
        if partial is None and moving is not None:
            raise NotDifferentiableError(
                message(
                    f"{primitive.name} has no known derivative with respect to argument {k + 1}.",
                    fix="If it is meant as a constant, pass  ad.stop_gradient(...)  there; "
                    "if you know the derivative, give it with  ad.custom_rule.",
                )
            )


def _times_vertex(t: Numeric, p: Numeric, out: Numeric) -> Any:
    stays = np.isinf(p) & np.isfinite(out) & np.equal(t, 0)
    if not may_hold(stays):
        return t * p
    met.vertex = True
    return np.where(stays, 0.0, t * p)
