"""Derivatives that the numbers of a sweep do not tell: 0 * inf, and what is too large or too small for them.

Three things are tried, on plain values, for the elements that are not finite or in doubt:

1. the same sweep with numbers of a wider range: 1 / (1 + exp(800)) is no trouble to them (`again.py`);
2. the limit at points nearby, as for sqrt(x)**2 at 0 (`limit_search.py`). It must be what the derivatives at ordinary
   points nearby go to;
3. nan.

In a program all of it is one step; an example of a batch for which nothing is asked costs nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.calls.float_warnings import quiet
from ...core.primitive import Primitive
from ...core.quick.number_kinds import LOW
from ...core.reverse import Node, ReverseTrace, Seeds
from ...core.rule import UnknownValueError
from ...core.singular.masks import either
from ...core.singular.replaced import ASKS, COMPARES, stripped
from ...core.traced import Traced, is_differentiated
from ...core.types import Mask, Numeric, Params, Values
from ...core.values import cannot_branch, dtype_of, fit, is_inexact, may_hold, shape_of
from ..elementwise import Elementwise
from ..opaque import Opaque
from ..stacking import aligned, one_by_one
from .limit_search import Limit, extrapolated
from .limits_sweep import CLOSER, FAR, Sweep, SweepAgain, are_confirmed
from .outside import OutsideValues
from .paths import RecordedPath
from .retrace import Run

FAILURES = (np.linalg.LinAlgError, ZeroDivisionError, OverflowError, RecursionError, UnknownValueError)
"""What a step may raise near a point, or with numbers of another range."""


def decided(
    found: list[Any],
    doubts: list[Any],
    sweep: type[Sweep],
    trace: ReverseTrace,
    ends: Seeds,
    inputs: list[Any],
    run: Run,
    *,
    is_large: bool = False,
) -> list[Any]:
    """Derivatives with what can be found where they are not finite or in doubt, as 0 * inf is.

    `sweep` says which way the trace is swept, from cotangents of some places or to tangents there (`ends`). If the
    function's value `is_large`, too much for its numbers, the derivative may be wrong without a sign of it.
    """
    unsure = [None if g is None else _is_unsure(g, either(d, is_large)) for g, d in zip(found, doubts, strict=True)]
    asked = [u for u in unsure if u is not None]
    if any(map(cannot_branch, [*asked, *found])):
        return [_or_nan(g, d) for g, d in zip(found, doubts, strict=True)]
    if not any(map(may_hold, asked)):
        return found
    known = [k for k, g in enumerate(found) if g is not None]
    given = [(found[k], unsure[k], False if doubts[k] is None else doubts[k]) for k in known]
    question = _Question(sweep, trace, ends, inputs, known, given, run, is_large)
    answers = iter(_step(question.answer)(*question.leaves))
    near: list[Any] = [None if g is None else Limit(next(answers), next(answers)) for g in found]
    return [
        g if g is None else _replaced(g, n, _is_unsure(g, d), question, k)
        for k, (g, n, d) in enumerate(zip(found, near, doubts, strict=True))
    ]


def _is_unsure(g: Numeric, doubt: Mask | None) -> Any:
    found = either(~np.isfinite(g), doubt)
    return np.full(shape_of(g), found is True)[()] if found is None or found is True else found


def _or_nan(g: Numeric | None, doubt: Mask | None) -> Any:
    return g if g is None or doubt is None else fit(np.where(doubt, np.nan, g), g)


def _replaced(g: Numeric, near: Limit, unsure: Mask, question: _Question, number: int) -> Any:
    """A derivative with its limits. To a derivative further out those are no constants: it has limits itself."""
    value = fit(near.value, g)
    is_same = np.equal(g, value) | (np.isfinite(g) & (np.abs(g - value) <= 1e-9 * np.abs(g)))
    other = ~is_same | unsure & np.logical_not(near.is_kink)
    if not may_hold(other):
        return g
    if not any(map(is_differentiated, question.reached)):
        return fit(np.where(other, value, g), g)
    return fit(question.with_slopes(number)(g, value, other, *question.reached, *question.leaves), g)


class _Question:
    """What is asked about a trace, with the values of a program or batch in it as leaves."""

    def __init__(
        self,
        sweep: type[Sweep],
        trace: ReverseTrace,
        ends: Any,
        inputs: Any,
        known: list[int],
        given: Any,
        run: Run,
        is_large: bool,
    ) -> None:
        self.sweep = sweep
        self.is_large = is_large
        self.run = run
        self.watched = OutsideValues(trace)
        self.reached = [*inputs, *self.watched.values, *sweep.given_at(ends)]
        """What its derivatives depend on."""
        self.known = known
        """Which of the derivatives of the sweep are asked for."""
        self.leaves: list[Any] = []
        self.places: dict[tuple[int, Any], int] = {}
        self.nodes = [
            (primitive, parents, self._taken(args), self._taken(out), params)
            for primitive, parents, args, out, params in trace
        ]
        self.jumps = [(primitive, self._taken(values), params) for primitive, values, params in trace.jumps]
        self.replaced = [step._replace(mask=self._taken(step.mask)) for step in trace.replaced]
        self.again = trace.again
        """How to run the function again."""
        self.behind = [] if trace.again is None else self._taken(trace.again.behind)
        """The values behind it that belong to a trace."""
        self.ends = [(place, self._taken(g)) for place, g in ends]
        self.inputs = [self._taken(x) for x in inputs]
        self.constants = self._taken(self.watched.values)
        self.given = [self._taken(list(g)) for g in given]

    @quiet
    def answer(self, *values: Any) -> tuple[Any, ...]:
        """The derivatives asked about, and where they are those of a kink."""
        found, unsure, doubts = [list(part) for part in zip(*[self._put(g, values) for g in self.given], strict=True)]
        if not any([np.any(u) for u in unsure]):
            return tuple([x for g in found for x in (np.array(g), np.zeros(shape_of(g), bool))])
        trace, ends, inputs = self._recorded(values)
        kinks: list[Any] = [np.zeros(shape_of(g), bool) for g in found]
        limits = [NOTHING] * len(found)
        undefined: list[Any] = [False] * (max(self.known) + 1)
        sweep = None
        with contextlib.suppress(*FAILURES):
            sweep = self.sweep(trace, ends, inputs, self.run)
            if sweep.recorded is not None:
                doubts = self._remaining(sweep, sweep.recorded)
                unsure = [
                    u & (~np.isfinite(g) | d | self.is_large) for u, g, d in zip(unsure, found, doubts, strict=True)
                ]
            _widen(sweep, found, unsure, self.known)
        unsure = [u & (~np.isfinite(g) | d) for u, g, d in zip(unsure, found, doubts, strict=True)]
        if sweep is not None and any([np.any(u) for u in unsure]):
            with contextlib.suppress(*FAILURES):
                undefined = sweep.undefined()
                every = _limits(sweep)
                if sweep.trace.asked:
                    every = _continued(sweep, every)
                limits = [every[k] for k in self.known]
            if sweep.trace.asked == COMPARES:  # it was the user's choice, and has a slope of its own
                with contextlib.suppress(*FAILURES):
                    chosen = self.sweep(trace, ends, inputs, self.run, None).at(inputs)
                    limits = [_or_else(limit, chosen[k]) for limit, k in zip(limits, self.known, strict=True)]
        for k, limit in enumerate(limits):
            is_sure = np.isinf(found[k]) & ~np.asarray(doubts[k]) & ~np.asarray(undefined[self.known[k]])
            is_sure = is_sure & ~np.isinf(limit.value)  # which has the sign: that of 1 / sqrt(-0.0) is none
            value = np.where(is_sure, found[k], limit.value)
            kinks[k] = unsure[k] & limit.is_kink
            found[k] = np.where(unsure[k], value, found[k])
        return tuple([x for g, k in zip(found, kinks, strict=True) for x in (np.asarray(g), np.asarray(k))])

    def _remaining(self, sweep: Sweep, recorded: RecordedPath) -> list[Any]:
        """What is in doubt although nothing hangs on the questions that the function has asked."""
        doubts = sweep.doubts(recorded)
        return [doubts[k] for k in self.known]

    def _recorded(self, values: Sequence[Any]) -> tuple[ReverseTrace, Seeds, list[Any]]:
        """The trace, its ends and its inputs, given the leaves."""
        trace = ReverseTrace()
        trace.again = self.again and self.again.with_values(self._put(self.behind, values))
        trace.replaced = [step._replace(mask=self._put(step.mask, values)) for step in self.replaced]
        trace.jumps = [(primitive, self._put(args, values), params) for primitive, args, params in self.jumps]
        for primitive, parents, args, out, params in self.nodes:
            trace.append((primitive, parents, self._put(args, values), self._put(out, values), params))
        ends = [(place, self._put(g, values)) for place, g in self.ends]
        inputs = [self._put(x, values) for x in self.inputs]
        return trace, ends, inputs

    def _lifted(self, values: Sequence[Any]) -> tuple[ReverseTrace, Seeds, list[Any]]:
        """The same with the constants that are watched as further inputs."""
        return self.watched.as_inputs(*self._recorded(values), self._put(self.constants, values))

    def with_slopes(self, number: int) -> Primitive:
        """A derivative with limits in some places: its own derivatives are limits there too, or nan."""
        end = 3 + len(self.reached)

        def jvp(tangents: Sequence[Any], out: Any, args: Values, params: Params) -> Any:
            moved, other = tangents[3:end], args[2]
            slope = self._slope(number, [t is not None for t in moved])
            (found,) = _step(slope)(*args[end:], *[stripped(t) for t in moved if t is not None])
            found = np.where(other, found, 0.0 if tangents[0] is None else tangents[0])
            return _known_once(found, other, [*moved, *args[3:end]])

        def vjp(g: Any, out: Any, args: Values, params: Params, needed: Sequence[bool]) -> Any:
            here = np.where(args[2], g, 0.0)
            found = _step(self._slope(number, None))(*args[end:], stripped(here))
            asked = zip(found, needed[3:end], strict=True)
            pulled = [_known_once(c, True, [g, *args[3:end]]) if need else None for c, need in asked]
            return [g - here, None, None, *pulled, *[None] * len(self.leaves)]

        return Primitive("replaced", _chosen, derivative=Opaque(jvp, vjp), stacking=one_by_one)

    def _slope(self, number: int, moving: Sequence[bool] | None) -> Callable[..., tuple[Any, ...]]:
        """How one of the derivatives moves if some of what it depends on does; for None, where its cotangent goes."""

        @quiet
        def slope(*values: Any) -> tuple[Any, ...]:
            values, rest = values[: len(self.leaves)], iter(values[len(self.leaves) :])
            trace, ends, inputs = self._lifted(values)
            given = self.sweep.given_at(ends)
            shapes = [shape_of(x) for x in (*inputs, *given)][: len(self.reached)]
            if moving is not None:
                shapes = [shape_of(self._put(self.given[self.known.index(number)], values)[0])]
            found: list[Any] = [np.nan] * len(shapes)
            with contextlib.suppress(*FAILURES):
                first = self.sweep(trace, ends, inputs, self.run)
                if not first.trace.asked:
                    tangents = None if moving is None else [next(rest) if m else None for m in moving]
                    if tangents is not None:
                        tangents += [None] * (len(inputs) + len(given) - len(tangents))
                    again = SweepAgain(first, number, tangents, next(rest, None))
                    found = [limit.value for limit in _limits(again)]
            return tuple([np.broadcast_to(f, shape) + 0.0 for f, shape in zip(found, shapes, strict=False)])

        return slope

    def _taken(self, x: Any) -> Any:
        """A value without the derivatives further out; one of a program or a batch becomes a leaf."""
        if isinstance(x, (tuple, list)):
            return [self._taken(v) for v in x]
        x = stripped(x)
        if not isinstance(x, Traced):
            return x
        key = (id(x.traced_by), x.node if x.traced_by.is_capture else id(x.value))
        if key not in self.places:
            self.places[key] = len(self.leaves)
            self.leaves.append(x)
        return _Leaf(self.places[key])

    def _put(self, x: Any, values: Sequence[Any]) -> Any:
        if isinstance(x, list):
            return tuple([self._put(v, values) for v in x])
        x = values[x.place] if type(x) is _Leaf else x
        is_low = isinstance(x, (np.ndarray, np.generic)) and x.dtype in LOW
        return x.astype(np.float64) if is_low else x


def _in_one_step(primitive: Any, values: Sequence[Any], marks: Sequence[bool], params: dict, size: int) -> Any:
    """The examples of a batch one by one, but in a program as one step."""

    def each(*values: Any) -> Any:
        return one_by_one(primitive, values, marks, params, size)

    return _step(each)(*values)


def _step(answer: Callable[..., Any]) -> Primitive:
    return Primitive("limit", answer, derivative=NEVER, stacking=_in_one_step, multiple=True)


def _widen(sweep: Sweep, found: list[Any], unsure: list[Any], known: list[int]) -> None:
    """Replace what numbers of a wider range tell."""
    try:
        widely = list(sweep.widely())
        for k, (wide, is_sure) in enumerate([widely[k] for k in known]):
            found[k] = np.where(unsure[k] & is_sure, wide, found[k])
            unsure[k] = unsure[k] & ~is_sure
    except (*FAILURES, TypeError):
        pass  # numbers of a wider range are not for everything


def _limits(sweep: Sweep) -> list[Limit]:
    """Limits at points nearby, if there are any and ordinary points confirm them; else nan."""
    if _jumps(sweep.trace) or not _can_be_near(sweep.trace):
        raise UnknownValueError
    limits = [NOTHING if found is None else found for found in sweep.limits()]
    confirmed = are_confirmed(sweep, [found.value for found in limits])
    limits = [
        Limit(np.where(sure, found.value, np.nan), found.is_kink & sure)
        for found, sure in zip(limits, confirmed, strict=True)
    ]
    if sweep.trace.asked == ASKS and any([np.any(np.isnan(found.value)) for found in limits]):
        check = (FAR, CLOSER) if sweep.takes_wide else (FAR,)
        smooth = extrapolated(lambda distance, turn: sweep.at(sweep.moved(distance, turn=turn)), len(limits), check)
        limits = [
            Limit(np.where(np.isnan(found.value), value, found.value), found.is_kink)
            for found, value in zip(limits, smooth, strict=True)
        ]
    return limits


def _continued(sweep: Sweep, limits: list[Limit]) -> list[Limit]:
    """Limits where the values nearby go to those at the point, of which there are any."""
    if sweep.is_torn():
        raise UnknownValueError
    return [
        Limit(np.where(lost, np.nan, limit.value), limit.is_kink)
        for limit, lost in zip(limits, sweep.lost(), strict=True)
    ]


def _or_else(limit: Limit, chosen: Numeric) -> Limit:
    """A limit, or where there is none the derivative of what was chosen in its place."""
    return Limit(np.where(np.isfinite(limit.value), limit.value, chosen), limit.is_kink)


NOTHING = Limit(np.nan, False)


class _Leaf:
    """Stands for a value that is known when the step is taken."""

    __slots__ = ("place",)

    def __init__(self, place: int) -> None:
        self.place = place


def _can_be_near(trace: Sequence[Node]) -> bool:
    """Whether limits are known for a trace: of real numbers."""
    for _, _, args, out, _ in trace:
        outs = out if isinstance(out, (tuple, list)) else [out]
        if any([is_inexact(v) and dtype_of(v).kind == "c" for v in (*args, *outs)]):
            return False
    return True


def _jumps(trace: ReverseTrace) -> bool:
    """Whether a step that is constant in pieces is at an end of one."""
    for primitive, values, params in trace.jumps:
        beside = []
        for end in (-np.inf, np.inf):
            near = [np.nextafter(v, end) if is_inexact(v) and dtype_of(v).kind == "f" else v for v in values]
            beside.append(primitive.evaluate(*near, **params))
        if not np.array_equal(beside[0], beside[1], equal_nan=True):
            return True
    return False


def _never(*_: Any) -> Any:
    raise AssertionError("what is looked for is a constant to every derivative")


NEVER = Opaque(_never)


def _chosen(g: Any, limit: Any, where: Any, *reached: Any) -> Any:
    return np.where(where, limit, g)


def _known_once(x: Any, where: Any, reached: Sequence[Any]) -> Any:
    """A limit, whose own derivatives with respect to what it depends on are not known."""
    watched = [np.sum(v) for v in reached if v is not None and is_differentiated(v)]
    return _constant(x, where, sum(watched, 0.0)) if watched else x


_constant = Primitive(
    "replaced",
    lambda x, where, inputs: x,
    derivative=Elementwise([
        lambda y: np.where(y, 0.0, 1.0), lambda: 0.0, lambda y: np.where(y, np.nan, 0.0),
    ], at_point=True),
    stacking=aligned,
)  # fmt: skip
