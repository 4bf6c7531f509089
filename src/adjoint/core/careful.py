"""The careful walk back: cotangents that know which of their zeros are structural, and which infinities are vertices.

An ordinary cotangent cannot tell a zero that came from a selection (`where` took the other branch) from one that
came out of arithmetic, so `0 * inf` is nan for both. For the first it should be 0, for the second nan is honest.
Here a cotangent has five parts:

- `finite`: the ordinary value;
- `infinite`: the coefficient of one infinite unit, made where the partial of sqrt and the like is infinite. It is
  transposed by the same rules; a partial that is exactly 0 ends it. So sqrt(sum(x**2)) at 0 gives 0, sqrt(x) inf;
- `support`: where something arrives at all; None means everywhere;
- `doubt`: where a zero out of arithmetic met an infinite slope, so that how fast both become so decides; None means
  nowhere. The numbers say 0 there; what sqrt(x)**2 needs is found by other means (`near.py`);
- `fragile`: where the argument below does not hold any more; None means nowhere.

Why a norm is not in doubt. Let u be smooth with u = 0 and no slope at the point, so that u = O(t**2) a step t away from
it, to leading order the same on both sides. A root that rises no faster than the square root makes O(t) of it, the same
on both sides: a kink, of which 0 is the documented slope, and so it is for whatever follows. That is, a partial of 0
ends an infinity and a doubt, if the step with that partial is smooth, and all before it. If it goes as an even power,
sqrt(w**2) = |w| has a kink whatever w is; if it is a product, as in sqrt(x * |x|), what comes before must be smooth
indeed, and what ends is fragile: the next zero that is not smooth, or vertex, is in doubt for good.
To a derivative further out a kink is flat, as that of the absolute value is; only a zero of order 2 is one for sure.

The plain walk runs first wherever it can, and this one only if the result is not finite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .reverse import INPUT, OUTPUT, ReverseTrace
from .trace import is_differentiated
from .traced import Traced
from .values import Value, dtype_of, fit, ieee, may_hold, shape_of, sum_to


class Slope(NamedTuple):
    """What is known of a step where its partial is 0 or infinite; each a truth value, or an array of them."""

    smooth: Any = False
    """Whether it is smooth where the partial is 0."""
    even: Any = False
    """Whether it goes as an even power there."""
    bent: Any = False
    """Whether the second derivative is not 0 there."""
    steep: Any = False
    """Whether it rises faster than a square root where the partial is infinite."""
    kinked: Any = False
    """Whether a partial of 0 is the mean of two sides."""


KINK = Slope(kinked=True)
UNKNOWN, EVEN, PRODUCT = Slope(), Slope(smooth=True, even=True, bent=True), Slope(smooth=True, bent=True)


class Cotangent:
    """A cotangent in five parts; see the module's text."""

    __slots__ = ("doubt", "finite", "fragile", "infinite", "support")

    def __init__(
        self,
        finite: Value,
        infinite: Value | None = None,
        support: Value | None = None,
        doubt: Value | None = None,
        fragile: Value | None = None,
    ) -> None:
        self.finite = finite
        self.infinite = infinite
        self.support = support
        self.doubt = doubt
        self.fragile = fragile

    def times(self, partial: Value, out: Value, *, vertex: bool, slope: Slope = UNKNOWN) -> Cotangent:
        """Multiply by a partial, element by element."""
        found = Cotangent(self.finite * partial, None, self.support, self.doubt, self.fragile)
        if self.infinite is not None:
            found.infinite = self.infinite * partial
        if self._is_marked:
            found._end(self, np.equal(partial, 0), slope, is_watched=is_differentiated(partial))
        if slope.kinked and is_differentiated(out):  # a derivative further out sees 0 beside the kink too, by mistake
            kink = np.equal(partial, 0)
            found.fragile = either(found.fragile, kink)
            if is_differentiated(self.finite):
                found.doubt = either(found.doubt, both(kink, np.equal(self.finite, 0)))
        if vertex:
            at_vertex = np.isinf(partial) & np.isfinite(out)
            if may_hold(at_vertex):
                whole = self.finite if self.infinite is None else self.finite + self.infinite
                before = 0.0 if found.infinite is None else found.infinite
                found.infinite = np.where(at_vertex, whole * _direction(partial), before)
                found.finite = np.where(at_vertex, 0.0, found.finite)
                found.doubt = either(found.doubt, both(at_vertex, np.equal(whole, 0)))
                found.fragile = either(found.fragile, both(at_vertex, either(slope.steep, self.alive())))
        return found.masked()

    @property
    def is_plain(self) -> bool:
        """Whether it is nothing but an ordinary cotangent."""
        return self.infinite is self.support is self.doubt is self.fragile is None

    @property
    def _is_marked(self) -> bool:
        """Whether there is anything that a partial of 0 may end."""
        return self.infinite is not None or self.doubt is not None or self.fragile is not None

    def alive(self) -> Value | None:
        """Where there is an infinity or a doubt; None means nowhere."""
        return either(self.doubt, _nonzero(self.infinite))

    def _end(self, before: Cotangent, ends: Value, slope: Slope, *, is_watched: bool) -> None:
        """Where a partial is 0: end infinities and doubts, or be in doubt about them."""
        alive, fragile = before.alive(), before.fragile
        if alive is None and fragile is None:
            return
        smooth = slope.smooth
        if is_watched:
            smooth = but(both(smooth, slope.bent), either(before.doubt, fragile))
        ended = both(both(ends, alive), smooth)
        kept = either(but(both(ends, either(alive, fragile)), smooth), both(ended, fragile))
        self.doubt = either(but(before.doubt, ended), kept)
        self.fragile = either(either(fragile, ended if is_watched else but(ended, slope.even)), kept)

    def selected(self, weight: Value) -> Cotangent:
        """Multiply by a weight whose zeros are structural."""
        chosen = np.not_equal(weight, 0)
        support = chosen if self.support is None else chosen & self.support
        infinite = None if self.infinite is None else self.infinite * weight
        return Cotangent(self.finite * weight, infinite, support, self.doubt, self.fragile).masked()

    def transposed_elementwise(self, transpose: Callable[[Value], Value], slope: Slope) -> Cotangent:
        """Apply an elementwise linear map, which keeps the support."""
        found = Cotangent(transpose(self.finite), None, self.support, self.doubt, self.fragile)
        if self.infinite is not None:
            found.infinite = transpose(self.infinite)
        if self._is_marked:
            partial = transpose(1.0)
            found._end(self, np.equal(partial, 0), slope, is_watched=is_differentiated(partial))
        return found.masked()

    def mapped(
        self, transpose: Callable[[Value], Value], sizes: Callable[[Value], Value], slope: Slope = UNKNOWN
    ) -> Cotangent:
        """Apply a linear map to the numerical parts. `sizes` is the same map with the sizes of its coefficients.

        It tells what is reached at all, and so an end from infinities that cancel.
        """
        ones = np.ones(shape_of(self.finite))

        def reached(mask: Value | None) -> Value | None:
            return None if mask is None else np.not_equal(sizes(np.where(mask, ones, 0.0)), 0)

        found = Cotangent(transpose(self.finite), None if self.infinite is None else transpose(self.infinite))
        cancelled = both(reached(_nonzero(self.infinite)), _is_zero(found.infinite))
        found.doubt, found.fragile = either(reached(self.doubt), cancelled), reached(self.fragile)
        alive = self.alive()
        if alive is not None:
            ended = but(_spread(alive), reached(alive))
            is_watched = is_differentiated(sizes(ones))
            lost = both(ended, _spread(self.doubt if is_watched else both(alive, self.fragile)))
            found.doubt = either(found.doubt, lost)
            found.fragile = either(found.fragile, either(lost, ended if is_watched else but(ended, slope.even)))
        return found

    def transposed(
        self, transpose: Callable[[Value], list[Value | None]], *, support: bool, out: Value
    ) -> list[Cotangent | None]:
        """Apply a linear map with several results; if `support`, find where it sends anything at all."""
        finite = transpose(self.finite)
        infinite: list[Any] = [None] * len(finite) if self.infinite is None else transpose(self.infinite)
        found = [None if f is None else Cotangent(f, i) for f, i in zip(finite, infinite, strict=True)]
        sent: Any = None
        if support:
            sent = np.ones(shape_of(out)) if self.support is None else np.where(self.support, 1.0, 0.0)
            for c, m in zip(found, transpose(sent), strict=True):
                if c is not None:
                    c.support = _support(m)

        def reached(mask: Value | None) -> list[Value | None]:
            if mask is None or not support:
                return [_spread(mask)] * len(found)
            return [None if m is None else np.not_equal(m, 0) for m in transpose(np.where(mask, sent, 0.0))]

        masks = zip(found, reached(self.doubt), reached(self.fragile), reached(_nonzero(self.infinite)), strict=True)
        for c, doubt, fragile, unit in masks:
            if c is not None:
                cancelled = both(unit, _is_zero(c.infinite))
                c.doubt = either(doubt, cancelled)
                c.fragile = fragile if support else either(fragile, cancelled)
        return found

    def masked(self) -> Cotangent:
        """Write the structural zeros into the numbers."""
        if self.support is not None:
            self.finite = np.where(self.support, self.finite, 0.0)
            if self.infinite is not None:
                self.infinite = np.where(self.support, self.infinite, 0.0)
            self.doubt, self.fragile = both(self.doubt, self.support), both(self.fragile, self.support)
        return self

    def fitted(self, value: Value) -> Cotangent:
        """Undo broadcasting in every part."""
        shape = shape_of(value)
        if self.support is not None and shape_of(self.support) != shape:
            self.support = _support(sum_to(np.where(self.support, 1.0, 0.0), shape))
        infinite = None if self.infinite is None else fit(self.infinite, value)
        doubt, fragile = _fitted(self.doubt, shape), _fitted(self.fragile, shape)
        return Cotangent(fit(self.finite, value), infinite, self.support, doubt, fragile)

    def plus(self, other: Cotangent) -> Cotangent:
        """The sum at a fan-out."""
        infinite, cancelled = other.infinite if self.infinite is None else self.infinite, None
        if self.infinite is not None and other.infinite is not None:
            infinite = self.infinite + other.infinite
            cancelled = both(_is_zero(infinite), _nonzero(self.infinite))
        support = None if self.support is None or other.support is None else self.support | other.support
        doubt = either(either(self.doubt, other.doubt), cancelled)
        return Cotangent(self.finite + other.finite, infinite, support, doubt, either(self.fragile, other.fragile))

    def collapsed(self) -> Value:
        """The ordinary cotangent: infinite where the infinite unit is left over."""
        if self.infinite is None:
            return self.finite
        return np.where(np.equal(self.infinite, 0), self.finite, self.infinite * np.inf)


def either(mask: Value | None, other: Value | None) -> Value | None:
    """Where one of two masks holds. A mask is an array, True for everywhere, or None for nowhere."""
    mask, other = _mask(mask), _mask(other)
    if mask is True or other is True:
        return True
    return other if mask is None else mask if other is None else mask | other


def both(mask: Value | None, other: Value | None) -> Value | None:
    """Where two masks hold."""
    mask, other = _mask(mask), _mask(other)
    if mask is None or other is None:
        return None
    return other if mask is True else mask if other is True else mask & other


def but(mask: Value | None, other: Value | None) -> Value | None:
    """Where one mask holds and another does not."""
    mask, other = _mask(mask), _mask(other)
    return None if other is True else mask if other is None else both(mask, np.logical_not(other))


def _mask(x: Value | None) -> Value | None:
    return (True if x else None) if type(x) in (bool, np.bool) else x


def _spread(mask: Value | None) -> Value | None:
    """A mask after a map of which only the numbers are known: everywhere if anywhere."""
    return None if mask is None else np.any(mask)


def _nonzero(infinite: Value | None) -> Value | None:
    return None if infinite is None else np.not_equal(infinite, 0)


def _is_zero(infinite: Value | None) -> Value | None:
    return None if infinite is None else np.equal(infinite, 0)


def _fitted(mask: Value | None, shape: tuple[int, ...]) -> Value | None:
    if mask is None or shape_of(mask) == shape:
        return mask
    return np.not_equal(sum_to(np.where(mask, 1.0, 0.0), shape), 0)


def _direction(partial: Value) -> Value:
    """The sign of an infinite partial. Its own derivative is nan, which counts only if the infinity is left over."""
    return np.sign(partial) if dtype_of(partial).kind == "c" else np.copysign(1.0, partial)


def _asked_for(seed: Value) -> Value | None:
    """Where a seed asks for anything: one element, for a row of a Jacobian. A zero that may vary is not structural."""
    is_number = shape_of(seed) == () and not isinstance(seed, Traced)
    return None if is_number or is_differentiated(seed) else _support(seed)


def _support(counts: Value) -> Value | None:
    reached = np.not_equal(counts, 0)
    if type(reached) is np.bool:
        return None if reached else reached
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
    return numbers, [None if g is None else either(g.doubt, both(g.fragile, _nonzero(g.infinite))) for g in found]


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
