"""Structural zeros: cotangents that know which of their zeros are structural, and which infinities are vertices.

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

The plain sweep back runs first wherever it can, and the careful one, with these, only if its result is not finite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..traced import is_differentiated
from ..types import Mask, Numeric
from ..values import dtype_of, fit, may_hold, shape_of, sum_to
from .masks import both, but, either, fitted, is_zero, nonzero, spread_out, support_of
from .slope import UNKNOWN, Slope


class Cotangent:
    """A cotangent in five parts; see the module's text."""

    __slots__ = ("doubt", "finite", "fragile", "infinite", "support")

    def __init__(
        self,
        finite: Numeric,
        infinite: Numeric | None = None,
        support: Mask | None = None,
        doubt: Mask | None = None,
        fragile: Mask | None = None,
    ) -> None:
        self.finite: Any = finite
        self.infinite: Any = infinite
        self.support: Any = support
        self.doubt: Any = doubt
        self.fragile: Any = fragile

    def times(self, partial: Numeric, out: Numeric, *, vertex: bool, slope: Slope = UNKNOWN) -> Cotangent:
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

    def alive(self) -> Any:
        """Where there is an infinity or a doubt; None means nowhere."""
        return either(self.doubt, nonzero(self.infinite))

    def _end(self, before: Cotangent, ends: Mask, slope: Slope, *, is_watched: bool) -> None:
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

    def selected(self, weight: Numeric) -> Cotangent:
        """Multiply by a weight whose zeros are structural."""
        chosen = np.not_equal(weight, 0)
        support = chosen if self.support is None else chosen & self.support
        infinite = None if self.infinite is None else self.infinite * weight
        return Cotangent(self.finite * weight, infinite, support, self.doubt, self.fragile).masked()

    def transposed_elementwise(self, transpose: Callable[[Any], Numeric], slope: Slope) -> Cotangent:
        """Apply an elementwise linear map, which keeps the support."""
        found = Cotangent(transpose(self.finite), None, self.support, self.doubt, self.fragile)
        if self.infinite is not None:
            found.infinite = transpose(self.infinite)
        if self._is_marked:
            partial = transpose(1.0)
            found._end(self, np.equal(partial, 0), slope, is_watched=is_differentiated(partial))
        return found.masked()

    def mapped(
        self, transpose: Callable[[Any], Numeric], sizes: Callable[[Any], Numeric], slope: Slope = UNKNOWN
    ) -> Cotangent:
        """Apply a linear map to the numerical parts. `sizes` is the same map with the sizes of its coefficients.

        It tells what is reached at all, and so an end from infinities that cancel.
        """
        ones = np.ones(shape_of(self.finite))

        def reached(mask: Mask | None) -> Any:
            return None if mask is None else np.not_equal(sizes(np.where(mask, ones, 0.0)), 0)

        found = Cotangent(transpose(self.finite), None if self.infinite is None else transpose(self.infinite))
        cancelled = both(reached(nonzero(self.infinite)), is_zero(found.infinite))
        found.doubt, found.fragile = either(reached(self.doubt), cancelled), reached(self.fragile)
        alive = self.alive()
        if alive is not None:
            ended = but(spread_out(alive), reached(alive))
            is_watched = is_differentiated(sizes(ones))
            lost = both(ended, spread_out(self.doubt if is_watched else both(alive, self.fragile)))
            found.doubt = either(found.doubt, lost)
            found.fragile = either(found.fragile, either(lost, ended if is_watched else but(ended, slope.even)))
        return found

    def transposed(
        self, transpose: Callable[[Any], Sequence[Numeric | None]], *, support: bool, out: Numeric
    ) -> list[Cotangent | None]:
        """Apply a linear map with several results; if `support`, find where it sends anything at all."""
        finite = transpose(self.finite)
        infinite: Sequence[Any] = [None] * len(finite) if self.infinite is None else transpose(self.infinite)
        found = [None if f is None else Cotangent(f, i) for f, i in zip(finite, infinite, strict=True)]
        sent: Any = None
        if support:
            sent = np.ones(shape_of(out)) if self.support is None else np.where(self.support, 1.0, 0.0)
            for c, m in zip(found, transpose(sent), strict=True):
                if c is not None and m is not None:
                    c.support = support_of(m)

        def reached(mask: Mask | None) -> list[Any]:
            if mask is None or not support:
                return [spread_out(mask)] * len(found)
            return [None if m is None else np.not_equal(m, 0) for m in transpose(np.where(mask, sent, 0.0))]

        masks = zip(found, reached(self.doubt), reached(self.fragile), reached(nonzero(self.infinite)), strict=True)
        for c, doubt, fragile, unit in masks:
            if c is not None:
                cancelled = both(unit, is_zero(c.infinite))
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

    def fitted(self, value: Numeric) -> Cotangent:
        """Undo broadcasting in every part."""
        shape = shape_of(value)
        if self.support is not None and shape_of(self.support) != shape:
            self.support = support_of(sum_to(np.where(self.support, 1.0, 0.0), shape))
        infinite = None if self.infinite is None else fit(self.infinite, value)
        doubt, fragile = fitted(self.doubt, shape), fitted(self.fragile, shape)
        return Cotangent(fit(self.finite, value), infinite, self.support, doubt, fragile)

    def plus(self, other: Cotangent) -> Cotangent:
        """The sum at a fan-out."""
        infinite, cancelled = other.infinite if self.infinite is None else self.infinite, None
        if self.infinite is not None and other.infinite is not None:
            infinite = self.infinite + other.infinite
            cancelled = both(is_zero(infinite), nonzero(self.infinite))
        support = None if self.support is None or other.support is None else self.support | other.support
        doubt = either(either(self.doubt, other.doubt), cancelled)
        return Cotangent(self.finite + other.finite, infinite, support, doubt, either(self.fragile, other.fragile))

    def collapsed(self) -> Any:
        """The ordinary cotangent: infinite where the infinite unit is left over."""
        if self.infinite is None:
            return self.finite
        return np.where(np.equal(self.infinite, 0), self.finite, self.infinite * np.inf)


def _direction(partial: Numeric) -> Any:
    """The sign of an infinite partial. Its own derivative is nan, which counts only if the infinity is left over."""
    return np.sign(partial) if dtype_of(partial).kind == "c" else np.copysign(1.0, partial)
