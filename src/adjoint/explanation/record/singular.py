"""What `ad.grad` and `ad.jvp` say where a sweep meets 0 * inf: limits, which no single step knows of.

The adjoint of a value is the derivative of the rest of the program, as a function of that value alone. So where the
steps do not decide it, that rest is differentiated as any other function is.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from ...core.reverse import INPUT, ReverseTrace, taken_again
from ...core.singular.structural_zeros import Cotangent
from ...core.trace import NO_PARAMS
from ...core.traced import Traced
from ...core.values import Value, concrete, fit, is_inexact, zeros_for
from ...transforms.jvp import jvp
from ...transforms.sweeps.back import pulled_back
from .record import Recorded

MOST_WORK = 4000
"""So many steps of rests of a program are taken at most for the values in between; those left over are nan."""
MOST_IN_VAIN = 4
"""After so many rests without a limit no other is looked at: once numbers overflow, none of those before has one."""

Seeds = list[tuple[int, Value]]


def bare(recorded: Recorded) -> ReverseTrace:
    """The trace with plain values, without the trace that writes everything down."""
    found = ReverseTrace()
    found.jumps = [(p, [concrete(v) for v in values], params) for p, values, params in recorded.trace.jumps]
    for primitive, parents, args, out, params in recorded.trace:
        value = tuple([concrete(o) for o in out]) if isinstance(out, (tuple, list)) else concrete(out)
        found.append((primitive, parents, tuple([concrete(a) for a in args]), value, params))
    return found


def gradient_of(recorded: Recorded, given: dict[int, Any]) -> list[Value]:
    """The adjoints of the inputs as `ad.grad` finds them."""
    seeds = [(place, concrete(g)) for place, g in given.items()]
    return pulled_back(bare(recorded), seeds, recorded.inputs)


class Settling:
    """Settles adjoints in doubt on the way back: those of inputs as `ad.grad` does, others by the rest alone."""

    def __init__(self, recorded: Recorded, given: dict[int, Any], gradient: list[Value]) -> None:
        self.trace = bare(recorded)
        self.gradient = gradient
        self.seeds = [(place, concrete(g)) for place, g in given.items()]
        self.left = MOST_WORK
        self.in_vain = 0
        self.places: set[int] = set()
        """Those whose adjoint is a limit, or nan as there is none."""

    def __call__(self, place: int, g: Cotangent) -> Cotangent:
        """The adjoint of a place without doubt: nan where nothing else is known."""
        value, where = concrete(fit(g.collapsed(), self.trace[place][3])), unsure(g)
        if place < len(self.gradient):
            where = where | ~is_close(value, self.gradient[place])
        if not np.any(where):
            return g
        self.places.add(place)
        limit = self.gradient[place] if place < len(self.gradient) else self._limit(place)
        infinite = np.where(where, np.where(np.isinf(limit), np.sign(limit), 0.0), _plain(g.infinite, 0.0))
        finite = np.where(where, np.where(np.isinf(limit), 0.0, limit), concrete(g.finite))
        support = None if g.support is None else concrete(g.support) | where
        return Cotangent(finite[()], infinite[()] if np.any(infinite) else None, support)

    def _limit(self, place: int) -> Value:
        rest, seeds = rest_after(self.trace, place, self.seeds)
        self.left -= len(rest)
        if self.left < 0 or self.in_vain >= MOST_IN_VAIN:
            return zeros_for(self.trace[place][3]) * np.nan
        found = pulled_back(rest, seeds, [self.trace[place][3]])[0]
        self.in_vain += bool(np.all(np.isnan(found)))
        return found


class ForAll(Settling):
    """Leaves adjoints to the steps, which hold for all inputs; a limit is used at the recorded inputs, else nan."""

    def __init__(self, recorded: Recorded, given: dict[int, Any], gradient: list[Value]) -> None:
        super().__init__(recorded, given, gradient)
        self.notebook = recorded.notebook

    def __call__(self, place: int, g: Cotangent) -> Cotangent:
        """The adjoint of an input with its limit; all others as they are."""
        if place >= len(self.gradient):
            return g
        value, limit = fit(g.collapsed(), self.trace[place][3]), self.gradient[place]
        is_same = is_close(concrete(value), limit)
        if not np.any(unsure(g) | ~is_same):
            return g
        self.places.add(place)
        where = np.isnan(value) if g.doubt is None else np.isnan(value) | g.doubt
        if np.any(np.isinf(concrete(value)) & ~is_same):
            where = where | np.isinf(value)
        return Cotangent(np.where(where, np.where(self._is_recorded(), limit, np.nan), value))

    def _is_recorded(self) -> Any:
        """Whether the inputs are those of the recording."""
        found = []
        for number in self.notebook.program.inputs:
            value = self.notebook.values[number]
            is_same = np.equal(Traced(value, self.notebook, number), value)
            found.append(np.all(is_same) if np.ndim(value) else is_same)
        return functools.reduce(operator.and_, found)


def unsure(g: Cotangent) -> Any:
    """Where a cotangent is not a number, or a zero out of arithmetic met an infinite slope."""
    return np.isnan(concrete(g.collapsed())) | _plain(g.doubt, False)


def _plain(x: Any, default: Any) -> Any:
    return default if x is None else concrete(x)


def is_close(one: Value, other: Value) -> Any:
    """Whether two numbers are the same but for rounding."""
    return np.isclose(one, other, rtol=1e-9, atol=0.0, equal_nan=True)


def rest_after(trace: ReverseTrace, place: int, seeds: Seeds) -> tuple[ReverseTrace, Seeds]:
    """The steps that use the value at a place, as a trace that begins with it; and the seeds of their results."""
    rest = ReverseTrace()
    rest.append((INPUT, (), (), trace[place][3], NO_PARAMS))
    moved = {place: 0}
    for k in range(place + 1, len(trace)):
        primitive, parents, args, out, params = trace[k]
        if any([p in moved for p in parents]):
            moved[k] = len(rest)
            rest.append((primitive, [None if p is None else moved.get(p) for p in parents], args, out, params))
    return rest, [(moved[p], g) for p, g in seeds if p in moved]


def tangents_of(recorded: Recorded, moves: dict[int, Any]) -> dict[int, Value]:
    """The tangents of all values as `ad.jvp` finds them, for those that have any."""
    trace, count = bare(recorded), len(recorded.inputs)
    wanted = [k for k in range(count, len(trace)) if _has_tangent(trace[k][3])]

    def again(*inputs: Any) -> list[Any]:
        results = taken_again(trace, inputs, lambda node, args: node[0](*args, **node[4]))
        return [results[k] for k in wanted]

    tangents = tuple([zeros_for(x) if moves.get(k) is None else moves[k] for k, x in enumerate(recorded.inputs)])
    return dict(zip(wanted, jvp(again, tuple(recorded.inputs), tangents)[1], strict=True))


def _has_tangent(out: Any) -> bool:
    return not isinstance(out, (tuple, list)) and is_inexact(out)
