"""`Elementwise`: a function applied to each element, differentiated by its partials."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.careful import KINK, UNKNOWN, Cotangent, Slope
from ..core.errors import NotDifferentiableError, message
from ..core.forward import met
from ..core.near import NearTrace
from ..core.trace import is_differentiated
from ..core.traced import Traced
from ..core.values import Value, may_hold
from .compile import NAMES, compiled_at_first_use, evaluated, wanted
from .keeping import Kept, ghost, is_far, own, sum_of_tangents


class _Bends(threading.local):
    depth = 0
    """How many partials of partials are being looked at."""
    count = 0
    """How many there were for one step."""

    def are_too_many(self) -> bool:
        return self.depth >= DEEPEST or (self.depth > 0 and self.count >= MOST)


bends = _Bends()
"""In this thread."""
MOST = 100
"""A partial of many steps, each of which has a partial of many steps: then the limit is left open."""
DEEPEST = 3
"""Partials whose own partials are 0 or infinite, and so on, without end, say nothing."""


class Elementwise:
    """d out = sum of partial_k * d arg_k, element by element.

    Parameters
    ----------
    partials : one function for each argument, or None where there is no derivative to give. Its parameters are
        named `x, y, z, w` for the arguments and `out` for the result: whatever it names is kept.
    vertex : whether the partial is infinite at the end of the domain, as that of sqrt is at 0. There the
        derivative is infinite if the inner function has a slope, and 0 if it has none: sqrt(x**2) is the
        absolute value, whose subgradient at 0 is 0.
    slope : what is known where a partial is 0 or infinite; a `Slope`, or a function of the arguments that gives one.
    """

    __slots__ = ("partials", "slope", "vertex", "vjps")
    is_zero = False
    is_at_point = False
    pull_into = None

    def __init__(
        self,
        partials: Sequence[Callable[..., Value] | None],
        *,
        vertex: bool = False,
        slope: Slope | Callable[..., Slope] = UNKNOWN,
    ) -> None:
        self.partials = tuple(partials)
        self.vertex = vertex
        self.slope = slope
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
                if self.slope is KINK and is_differentiated(out) and may_hold(np.equal(p, 0)):
                    met.vertex = True  # a derivative further out would see 0 beside the kink too
        return sum_of_tangents(terms, out)

    def near(
        self, primitive: Any, moves: Sequence[Value], out: Value, args: Sequence[Value], params: dict
    ) -> tuple[Value, Value]:
        """By the partials, where they are neither 0 nor infinite; at 0 by the function itself."""
        moving = [(a, m) for a, m in zip(args, moves, strict=True) if m is not None]
        whole = primitive(*[a if m is None else a + m for a, m in zip(args, moves, strict=True)])
        first = self.push(primitive, moves, out, args, params)
        is_exact, is_known, goes_far, is_moved = True, True, False, False
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

    def _bent(self, moves: Sequence[Value], out: Value, args: Sequence[Value]) -> Value:
        """The move of the result where a partial is 0 or infinite: the integral of a power of the way."""
        bends.count = bends.count + 1 if bends.depth else 0
        bends.depth += 1
        try:
            return self._integrated(moves, out, args)
        finally:
            bends.depth -= 1

    def _integrated(self, moves: Sequence[Value], out: Value, args: Sequence[Value]) -> Value:
        total: Any = 0.0
        for k, partial in enumerate(evaluated(self.partials)):
            if moves[k] is not None:
                ends = []
                for scale in (1.0, 2.0**-12):
                    walk = NearTrace()
                    near = [a if m is None else Traced(a, walk, m * scale) for a, m in zip(args, moves, strict=True)]
                    ends.append(walk.whole(partial(out, *near)))
                power = np.log2(np.abs(np.divide(ends[0], ends[1]))) / 12.0
                way = np.where(power > -1.0, ends[0] * moves[k] / (1.0 + power), np.nan)
                total = total + np.where(np.equal(ends[0], 0), 0.0, way)
        return total

    def pull_careful(
        self, primitive: Any, g: Cotangent, out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]
    ) -> list[Cotangent | None]:
        """Multiply by the partials, but not where the cotangent is structurally zero."""
        slope = self.slope if isinstance(self.slope, Slope) else self.slope(*args)
        return [
            g.times(partial(out, *args), out, vertex=self.vertex, slope=slope) if need else None
            for partial, need in zip(evaluated(self.partials), needed, strict=True)
        ]


def refuse_unknown(primitive: Any, partials: Sequence[Any], moves: Sequence[Any]) -> None:
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


def _times_vertex(t: Value, p: Value, out: Value) -> Value:
    stays = np.isinf(p) & np.isfinite(out) & np.equal(t, 0)
    if not may_hold(stays):
        return t * p
    met.vertex = True
    return np.where(stays, 0.0, t * p)
