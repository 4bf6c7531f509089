"""The careful walk back: cotangents that know which of their zeros are structural, and which infinities are vertices.

An ordinary cotangent cannot tell a zero that came from a selection (`where` took the other branch) from one that
came out of arithmetic, so `0 * inf` is nan for both. For the first it should be 0, for the second nan is honest.
Here a cotangent has four parts:

- `finite`: the ordinary value;
- `infinite`: the coefficient of one infinite unit, made where the partial of sqrt and its like is infinite. It is
  transposed by the same rules; a partial that is exactly 0 ends it. So sqrt(sum(x**2)) at 0 gives 0, sqrt(x) inf;
- `support`: where something arrives at all; None means everywhere;
- `doubt`: where a zero out of arithmetic met an infinite slope, so that how fast both become so decides; None means
  nowhere. The numbers say 0 there, as for a norm; what sqrt(x)**2 needs is found by other means (`near.py`).

The plain walk runs first wherever it can, and this one only if the result is not finite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .reverse import INPUT, OUTPUT, ReverseTrace
from .trace import is_differentiated
from .traced import Traced
from .values import Value, dtype_of, fit, ieee, may_hold, shape_of, sum_to


class Cotangent:
    """A cotangent in four parts; see the module's text."""

    __slots__ = ("doubt", "finite", "infinite", "support")

    def __init__(
        self, finite: Value, infinite: Value | None = None, support: Value | None = None, doubt: Value | None = None
    ) -> None:
        self.finite = finite
        self.infinite = infinite
        self.support = support
        self.doubt = doubt

    def times(self, partial: Value, out: Value, *, vertex: bool) -> Cotangent:
        """Multiply by a partial, element by element."""
        finite, infinite, doubt = self.finite * partial, None, self.doubt
        if self.infinite is not None:
            infinite = self.infinite * partial
            doubt = _either(doubt, np.equal(partial, 0) & np.not_equal(self.infinite, 0))
        if vertex:
            at_vertex = np.isinf(partial) & np.isfinite(out)
            if may_hold(at_vertex):
                whole = self.finite if self.infinite is None else self.finite + self.infinite
                infinite = np.where(at_vertex, whole * _direction(partial), 0.0 if infinite is None else infinite)
                finite = np.where(at_vertex, 0.0, finite)
                doubt = _either(doubt, at_vertex & np.equal(whole, 0))
        return Cotangent(finite, infinite, self.support, doubt).masked()

    def selected(self, weight: Value) -> Cotangent:
        """Multiply by a weight whose zeros are structural."""
        chosen = np.not_equal(weight, 0)
        support = chosen if self.support is None else chosen & self.support
        infinite = None if self.infinite is None else self.infinite * weight
        return Cotangent(self.finite * weight, infinite, support, self.doubt).masked()

    def transposed_elementwise(self, transpose: Callable[[Value], Value]) -> Cotangent:
        """Apply an elementwise linear map, which keeps the support."""
        found = self.mapped(transpose, support=self.support)
        found.doubt = self.doubt
        if self.infinite is not None:
            found.doubt = _either(found.doubt, np.equal(transpose(self.infinite), 0) & np.not_equal(self.infinite, 0))
        return found.masked()

    def mapped(self, transpose: Callable[[Value], Value], *, support: Value | None) -> Cotangent:
        """Apply a linear map to both numerical parts; what is in doubt may reach everything."""
        infinite = None if self.infinite is None else transpose(self.infinite)
        return Cotangent(transpose(self.finite), infinite, support, _spread_doubt(self.doubt, self.infinite, infinite))

    def transposed(
        self, transpose: Callable[[Value], list[Value | None]], *, support: bool, out: Value
    ) -> list[Cotangent | None]:
        """Apply a linear map with several results; if `support`, find where it sends anything at all."""
        finite = transpose(self.finite)
        infinite = [None] * len(finite) if self.infinite is None else transpose(self.infinite)
        reached: list[Value | None] = [None] * len(finite)
        if support:
            ones = np.ones(shape_of(out)) if self.support is None else np.where(self.support, 1.0, 0.0)
            reached = [None if m is None else _support(m) for m in transpose(ones)]
        doubt: list[Value | None] = [_spread_doubt(self.doubt, self.infinite, i) for i in infinite]
        if support and self.doubt is not None:
            doubt = [None if m is None else np.not_equal(m, 0) for m in transpose(np.where(self.doubt, ones, 0.0))]
        parts = zip(finite, infinite, reached, doubt, strict=True)
        return [None if f is None else Cotangent(f, i, r, d) for f, i, r, d in parts]

    def masked(self) -> Cotangent:
        """Write the structural zeros into the numbers."""
        if self.support is not None:
            self.finite = np.where(self.support, self.finite, 0.0)
            if self.infinite is not None:
                self.infinite = np.where(self.support, self.infinite, 0.0)
            if self.doubt is not None:
                self.doubt = self.doubt & self.support
        return self

    def fitted(self, value: Value) -> Cotangent:
        """Undo broadcasting in every part."""
        shape = shape_of(value)
        if self.support is not None and shape_of(self.support) != shape:
            self.support = _support(sum_to(np.where(self.support, 1.0, 0.0), shape))
        if self.doubt is not None and shape_of(self.doubt) != shape:
            self.doubt = np.not_equal(sum_to(np.where(self.doubt, 1.0, 0.0), shape), 0)
        infinite = None if self.infinite is None else fit(self.infinite, value)
        return Cotangent(fit(self.finite, value), infinite, self.support, self.doubt)

    def plus(self, other: Cotangent) -> Cotangent:
        """The sum at a fan-out."""
        infinite, cancelled = other.infinite if self.infinite is None else self.infinite, None
        if self.infinite is not None and other.infinite is not None:
            infinite = self.infinite + other.infinite
            cancelled = np.equal(infinite, 0) & np.not_equal(self.infinite, 0)
        support = None if self.support is None or other.support is None else self.support | other.support
        doubt = _either(_either(self.doubt, other.doubt), cancelled)
        return Cotangent(self.finite + other.finite, infinite, support, doubt)

    def collapsed(self) -> Value:
        """The ordinary cotangent: infinite where the infinite unit is left over."""
        if self.infinite is None:
            return self.finite
        return np.where(np.equal(self.infinite, 0), self.finite, self.infinite * np.inf)


def _either(doubt: Value | None, other: Value | None) -> Value | None:
    return other if doubt is None else doubt if other is None else doubt | other


def _spread_doubt(doubt: Value | None, before: Value | None, after: Value | None) -> Value | None:
    """After a map of which only the numbers are known: everything is in doubt if anything was, or an infinity ended."""
    if before is not None and after is not None:
        ended = np.any(np.not_equal(before, 0)) & np.equal(after, 0)
        return ended if doubt is None else ended | np.any(doubt)
    return None if doubt is None else np.any(doubt)


def _direction(partial: Value) -> Value:
    """The sign of an infinite partial. Its own derivative is nan, which counts only if the infinity is left over."""
    return np.sign(partial) if dtype_of(partial).kind == "c" else np.copysign(1.0, partial)


def _asked_for(seed: Value) -> Value | None:
    """Where a seed asks for anything: one element, for a row of a Jacobian. A zero that may vary is not structural."""
    is_number = shape_of(seed) == () and not isinstance(seed, Traced)
    return None if is_number or is_differentiated(seed) else _support(seed)


def _support(counts: Value) -> Value | None:
    reached = np.not_equal(counts, 0)
    return None if not isinstance(reached, Traced) and np.all(reached) else reached


def pull_careful(
    trace: ReverseTrace, seeds: list[tuple[int, Value]], count: int, *, is_asked: bool = True
) -> tuple[list[Value | None], list[Value | None]]:
    """As `pull`, with structural zeros and vertices; and where the numbers found are in doubt.

    `is_asked` says that a seed asks for what it is not 0 for; else its zeros may have come out of arithmetic.
    """
    parts = [(place, Cotangent(g, support=_asked_for(g) if is_asked else None)) for place, g in seeds]
    found = pull_parts(trace, parts, count)
    numbers = [None if g is None else fit(g.collapsed(), trace[place][3]) for place, g in enumerate(found)]
    return numbers, [None if g is None else g.doubt for g in found]


def pull_parts(trace: ReverseTrace, seeds: list[tuple[int, Cotangent]], count: int) -> list[Cotangent | None]:
    """The careful walk from cotangents in parts to cotangents in parts."""
    cotangents: list[Any] = [None] * len(trace)
    for place, seed in seeds:
        _add(cotangents, place, seed)
    results: list[Cotangent | None] = [None] * count
    for place in range(max((p for p, _ in seeds), default=-1), -1, -1):
        g = cotangents[place]
        if g is None:
            continue
        cotangents[place] = None
        primitive, parents, args, out, params = trace[place]
        if primitive is INPUT:
            results[place] = g
            continue
        if primitive is OUTPUT:
            slots = cotangents[parents[0]] or [None] * len(trace[parents[0]][3])  # type: ignore[index]
            slots[params["k"]] = g
            cotangents[parents[0]] = slots  # type: ignore[index]
            continue
        args, out = tuple([ieee(a) for a in args]), ieee(out)
        if isinstance(g, list) and not getattr(primitive.derivative, "by_parts", False):
            g = Cotangent([None if part is None else part.collapsed() for part in g])
        needed = [p is not None for p in parents]
        found = primitive.derivative.pull_careful(primitive, g, out, args, params, needed)
        for k, parent in enumerate(parents):
            if parent is not None and found[k] is not None:
                _add(cotangents, parent, found[k].fitted(args[k]))
    return results


def _add(cotangents: list[Any], place: int, g: Cotangent) -> None:
    had = cotangents[place]
    cotangents[place] = g if had is None else had.plus(g)
