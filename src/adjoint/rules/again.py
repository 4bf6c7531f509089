"""The steps of a trace taken again: at points nearby, and with numbers of a wider range."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from ..core.careful import pull_careful
from ..core.forward import ForwardTrace, met
from ..core.near import UnknownValueError, is_ghost, pull_near, push_near
from ..core.reverse import INPUT, OUTPUT, Node, ReverseTrace, taken_again
from ..core.traced import Traced
from ..core.values import Value, dtype_of, is_inexact, shape_of
from .limit_search import Limits, directions, limits, scale
from .opaque import Opaque
from .reducing import Reducing
from .selecting import Selecting

Run = Callable[[Any, Any, dict[str, Any]], Any]
"""How a function of the user's is run on traced values."""
Ends = list[tuple[int, Value]]


class Walk(Protocol):
    """A walk over a trace that can be taken again."""

    trace: ReverseTrace

    def __init__(self, trace: ReverseTrace, ends: Ends, inputs: list[Value], run: Run) -> None: ...

    def widely(self) -> Iterator[tuple[Value, Value]]:
        """The derivatives by numbers of a wider range, and where they are sure."""

    def limits(self) -> Limits:
        """The limits of the derivatives nearby; None for those that are 0 whatever happens."""

    def at(self, distance: float, turned: int = -1) -> list[Value]:
        """The derivatives at an ordinary point nearby."""

    def undefined(self) -> list[Value]:
        """For each derivative, where it is of a value that is not a number; its infinities have no sign then."""

    def moves_all(self, distance: float) -> bool:
        """Whether the point at a distance differs in every number from this one."""


class WalkBack:
    """From cotangents of some places of a trace to those of its inputs."""

    def __init__(self, trace: ReverseTrace, ends: Ends, inputs: list[Value], run: Run) -> None:
        self.trace, places = expanded(trace, [place for place, _ in ends], run)
        self.seeds = [(p, g) for p, (_, g) in zip(places, ends, strict=True) if p is not None]
        self.inputs = inputs
        self.wide = wide if takes_wide(self.trace) else _as_it_is

    def widely(self) -> Iterator[tuple[Value, Value]]:
        """The cotangents by numbers of a wider range."""
        if self.wide is not wide:
            raise UnknownValueError
        beside = self._pulled([wide(x) * BESIDE for x in self.inputs])
        for (g, doubt), (h, _) in zip(self._pulled([wide(x) for x in self.inputs]), beside, strict=True):
            yield g, _is_steady(g, h) & np.logical_not(doubt)

    def undefined(self) -> list[Value]:
        """Whether a value that a cotangent comes from is not a number."""
        outs = [(self.trace[p][3], g) for p, g in self.seeds]
        return [any([np.any(np.isnan(out) & np.not_equal(g, 0)) for out, g in outs if not is_ghost(out)])] * len(
            self.inputs
        )

    def moves_all(self, distance: float) -> bool:
        """Whether the moved inputs differ in every element."""
        return _all_moved(self.inputs, self._moves(distance, 0.0, -1))

    def _pulled(self, inputs: list[Value]) -> list[tuple[Value, Value]]:
        trace = ReverseTrace()
        results = taken(self.trace, [trace.input(x) for x in inputs])
        seeds = [(results[p].node, g) for p, g in self.seeds if _is_of(results[p], trace)]
        found, doubts = pull_careful(trace, seeds, len(inputs))
        return [
            (np.zeros(shape_of(x)), False) if g is None else (g, False if d is None else d)
            for g, d, x in zip(found, doubts, inputs, strict=True)
        ]

    def _moves(self, distance: float, turn: float, turned: int) -> list[Value]:
        moves = [directions(x, turn, k) * distance * scale(x) for k, x in enumerate(self.inputs)]
        return [-m if k == turned else m for k, m in enumerate(moves)]

    def limits(self) -> Limits:
        """The limits of the cotangents."""

        def near(distance: float, turn: float, turned: int = -1) -> list[Value | None]:
            return pull_near(self.trace, self.seeds, self._moves(distance, turn, turned))

        return limits(near, len(self.inputs), has_turns=True)

    def at(self, distance: float, turned: int = -1) -> list[Value]:
        """The cotangents at an ordinary point nearby."""
        moves = self._moves(distance, 0.0, turned)
        return [g for g, _ in self._pulled([self.wide(x) + m for x, m in zip(self.inputs, moves, strict=True)])]


class WalkOn:
    """From tangents of the inputs of a trace, which are the values at the ends, to those of some places."""

    def __init__(self, trace: ReverseTrace, ends: Ends, inputs: list[Value], run: Run) -> None:
        places = [place for place, _ in ends if place >= 0]
        self.tangents = [t for place, t in ends if place < 0]
        self.trace, self.places = expanded(trace, places, run)
        self.inputs = inputs
        self.wide = wide if takes_wide(self.trace) else _as_it_is

    def widely(self) -> Iterator[tuple[Value, Value]]:
        """The tangents by numbers of a wider range."""
        if self.wide is not wide:
            raise UnknownValueError
        before, met.vertex = met.vertex, False
        try:
            found = self._pushed([wide(x) for x in self.inputs])
            beside = self._pushed([wide(x) * BESIDE for x in self.inputs])
        finally:
            in_doubt, met.vertex = met.vertex, before
        for t, u in zip(found, beside, strict=True):
            yield t, _is_steady(t, u) & (not in_doubt)

    def undefined(self) -> list[Value]:
        """Where the value that a tangent belongs to is not a number."""
        outs = [None if p is None else self.trace[p][3] for p in self.places]
        return [False if out is None or is_ghost(out) else np.isnan(out) for out in outs]

    def moves_all(self, distance: float) -> bool:
        """Whether the moved inputs differ in every element."""
        return _all_moved(self.inputs, self._moves(distance))

    def _pushed(self, inputs: list[Value]) -> list[Value]:
        walk = ForwardTrace()
        results = taken(self.trace, [Traced(x, walk, self.wide(t)) for x, t in zip(inputs, self.tangents, strict=True)])
        found = [None if p is None else results[p] for p in self.places]
        return [f.node if isinstance(f, Traced) and f.walk is walk else 0.0 for f in found]

    def limits(self) -> Limits:
        """The limits of difference quotients along the tangents."""
        known = [p for p in self.places if p is not None]

        def near(distance: float, turn: float) -> list[Value | None]:
            pushed = push_near(self.trace, known, [t * distance for t in self.tangents])
            return [None if m is None else m / distance for m in pushed]

        rest = iter(limits(near, len(known), has_turns=False))
        return [None if p is None else next(rest) for p in self.places]

    def at(self, distance: float, turned: int = -1) -> list[Value]:
        """The tangents at an ordinary point nearby, along them; what they leave where it is moves a little too."""
        moves = self._moves(distance)
        return self._pushed([self.wide(x) + m for x, m in zip(self.inputs, moves, strict=True)])

    def _moves(self, distance: float) -> list[Value]:
        return [
            distance * scale(x) * np.where(np.equal(t, 0), 2.0**-6 * directions(x, 0.0, k), t)
            for k, (x, t) in enumerate(zip(self.inputs, self.tangents, strict=True))
        ]


FAR, CLOSER, CLOSEST = 2.0**-16, 2.0**-24, 2.0**-900
"""The distances of ordinary points: not so far that the derivative is another, nor so close that digits get lost. The
last is for inputs that are 0, to which everything else may be far: it has a veto."""
BESIDE = 1.0 + 2.0**-50
"""The factor to a number beside another one; what changes with it by much has no digits left."""


def _is_steady(found: Value, beside: Value) -> Value:
    size = np.maximum(np.abs(found), np.abs(beside))
    return np.isfinite(found) & (np.abs(found - beside) <= 1e-3 * size)


def _all_moved(inputs: list[Value], moves: list[Value]) -> bool:
    return all([np.all(np.not_equal(wide(x) + m, x)) for x, m in zip(inputs, moves, strict=True)])


def are_confirmed(walk: Walk, claims: list[Value]) -> list[Value]:
    """Where the derivatives at ordinary points go to the ones claimed, as the points come closer."""
    far, close = [_both_sides(walk, distance, len(claims)) for distance in (FAR, CLOSER)]
    found = [_goes_to(claim, f, c) for claim, f, c in zip(claims, far, close, strict=True)]
    if walk.moves_all(CLOSEST):
        last = _both_sides(walk, CLOSEST, len(claims))
        found = [
            f & (~np.isfinite(end[0]) | _goes_to(claim, c, end))
            for f, claim, c, end in zip(found, claims, close, last, strict=True)
        ]
    return found


def _both_sides(walk: Walk, distance: float, count: int) -> list[tuple[Value, Value]]:
    """For each derivative the mean of two sides, and their size; a side outside of the domain does not count."""
    ahead, behind = walk.at(distance), walk.at(-distance)
    found = []
    for k in range(count):
        a, b = ahead[k], behind[k]
        if count > 1 and np.any(np.isnan(a) & np.isnan(b)):  # another argument may have left its domain
            a, b = np.where(np.isnan(a), walk.at(distance, k)[k], a), np.where(np.isnan(b), walk.at(-distance, k)[k], b)
        a, b = np.where(np.isnan(a), b, a), np.where(np.isnan(b), a, b)
        found.append((0.5 * (a + b), np.maximum(np.abs(a), np.abs(b))))
    return found


def _goes_to(claim: Value, far: tuple[Value, Value], close: tuple[Value, Value]) -> Value:
    error, before = np.abs(close[0] - claim), np.abs(far[0] - claim)
    size = np.maximum(close[1], np.abs(claim))
    is_reached = np.isfinite(error) & ((error <= 1e-6 * size) | (error <= 0.75 * before))
    grows = (np.sign(close[0]) == np.sign(claim)) & (np.abs(close[0]) > 1.02 * np.abs(far[0]))
    return np.where(np.isinf(claim), grows | np.isinf(close[0]) & np.equal(close[0], claim), is_reached)


def wide(x: Value) -> Value:
    """A value as a number of a wider range: 1e4932 instead of 1e308, where the machine has such numbers."""
    if not is_inexact(x):
        return x
    return np.asarray(x, np.clongdouble if dtype_of(x).kind == "c" else np.longdouble)[()]


def takes_wide(trace: ReverseTrace) -> bool:
    """Whether all steps are known to take such numbers: LAPACK does not."""
    rules = [primitive.derivative for primitive, *_ in trace if primitive is not INPUT and primitive is not OUTPUT]
    return not any([isinstance(rule, Opaque) and not rule.exact for rule in rules])


def _as_it_is(x: Value) -> Value:
    return x


def taken(trace: ReverseTrace, inputs: Sequence[Value]) -> list[Any]:
    """The results of all steps, from inputs that may be handles of another walk."""

    def take(node: Node, moved: list[Any]) -> Any:
        primitive, _, args, out, params = node
        if any([is_ghost(a) for a in moved]):
            raise UnknownValueError
        found = _step(primitive, moved, params)
        if isinstance(primitive.derivative, (Selecting, Reducing)) and primitive.derivative.is_at_point:
            _pick_as_before(primitive, moved, found, args, out, params)
        return found

    return taken_again(trace, inputs, take)


def _pick_as_before(primitive: Any, moved: list[Any], found: Any, args: Any, out: Any, params: dict[str, Any]) -> None:
    """Let a step that picks elements hand derivatives to those picked at the point, as ties break nearby."""
    if not isinstance(found, Traced):
        return
    if isinstance(found.walk, ReverseTrace):
        _, parents, *_ = found.walk[found.node]
        found.walk[found.node] = (primitive, parents, args, out, params)
    else:
        tangents = [m.node if _is_of(m, found.walk) else None for m in moved]
        found.node = primitive.derivative.push(primitive, tangents, out, args, params)


def _step(primitive: Any, args: Sequence[Value], params: dict[str, Any]) -> Any:
    """A step, with numbers of the usual range if it takes no others."""
    try:
        return primitive(*args, **params)
    except TypeError:
        return primitive(*[_narrow(a) for a in args], **params)


def _narrow(x: Value) -> Value:
    kind = getattr(x, "dtype", None)
    usual = {np.dtype(np.longdouble): np.float64, np.dtype(np.clongdouble): np.complex128}.get(kind)  # type: ignore[arg-type]
    return x if usual is None else x.astype(usual)


def expanded(trace: ReverseTrace, places: Sequence[int], run: Run) -> tuple[ReverseTrace, list[int | None]]:
    """The trace with the steps inside of jitted functions and loops.

    Also where some of its places have gone to; None for what does not depend on the inputs.
    """
    found, gone = trace, list[int | None](places)
    while any([_inside(node[0]) is not None for node in found]):
        results = _once_more(found, run)
        found, before = results[0].walk, gone
        gone = [None if p is None else results[p].node if _is_of(results[p], found) else None for p in before]
    return found, gone


def _once_more(trace: ReverseTrace, run: Run) -> list[Any]:
    found = ReverseTrace()
    found.jumps = list(trace.jumps)

    def take(node: Node, args: list[Any]) -> Any:
        inside = _inside(node[0])
        return node[0](*args, **node[4]) if inside is None else run(inside, args, node[4])

    inputs = [found.input(out) for primitive, _, _, out, _ in trace if primitive is INPUT]
    return taken_again(trace, inputs, take)


def _inside(primitive: Any) -> Any:
    """The function that a step stands for, if it is one of the user's."""
    if primitive is INPUT or primitive is OUTPUT:
        return None
    return primitive.evaluate if primitive.inline else getattr(primitive.derivative, "flat", None)


def _is_of(x: Any, walk: Any) -> bool:
    return isinstance(x, Traced) and x.walk is walk
