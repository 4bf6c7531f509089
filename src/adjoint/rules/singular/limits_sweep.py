"""Derivatives by a trace that is taken again: at points nearby, and with numbers of a wider range."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, final

import numpy as np

from ...core.forward import ForwardTrace, met
from ...core.reverse import ReverseTrace, Seeds
from ...core.rule import UnknownValueError
from ...core.singular.careful_sweep import pull_careful
from ...core.singular.near import NearTrace, is_ghost, pull_near, push_near
from ...core.traced import Traced, is_of
from ...core.types import Mask, Numeric
from ...core.values import ieee, shape_of
from .limit_search import Limit, Limits, directions, limits, scale
from .paths import RecordedPath, spread_seeds
from .retrace import Run, expanded, taken, takes_wide, wide


class Sweep(ABC):
    """A sweep over a trace that can be taken again."""

    def __init__(
        self, trace: ReverseTrace, ends: Seeds, inputs: Sequence[Any], run: Run, along: Sequence[Any] | None = ()
    ) -> None:
        self.inputs = inputs
        self.given = self.given_at(ends)
        """The cotangents or tangents that it starts with."""
        (self.trace, self.places, _), self.recorded = expanded(trace, [p for p, _ in ends if p >= 0], run, along)
        self.values = [trace[place][3] for place, _ in ends if place >= 0]
        self.takes_wide = takes_wide(self.trace)

    def moved(self, distance: float, turned: int = -1, turn: float = 0.0) -> list[Any]:
        """The inputs at an ordinary point nearby, with one of them turned to the other side."""
        moves = self.moves(distance, turn, turned)
        return [self.wide(x) + m for x, m in zip(self.inputs, moves, strict=True)]

    def wide(self, x: Numeric) -> Any:
        """A number of a wider range, if all steps take such numbers."""
        return wide(x) if self.takes_wide else x

    def is_torn(self) -> bool:
        """Whether the values nearby do not go to those at the point, as something was replaced there."""
        known = [(p, out) for p, out in zip(self.places, self.values, strict=True) if p is not None]
        known = [(p, out) for p, out in known if not is_ghost(out)]
        off = []
        for distance in (FAR, CLOSER):
            ends = [taken(self.trace, self.moved(sign * distance)) for sign in (1.0, -1.0)]
            off.append([[np.abs(end[p] - out) for p, out in known] for end in ends])
        return any(
            [
                np.any(c > np.maximum(0.75 * f, SAME))
                for a, b in zip(*off, strict=True)
                for f, c in zip(a, b, strict=True)
            ]
        )

    @staticmethod
    def given_at(ends: Seeds) -> list[Any]:
        """The cotangents or tangents among the ends."""
        return [g for _, g in ends]

    @abstractmethod
    def doubts(self, path: RecordedPath) -> list[Any]:
        """Where the derivatives found by the steps of a path are in doubt."""

    def moves(self, distance: float, turn: float = 0.0, turned: int = -1) -> list[Any]:
        """How far the inputs move to a point nearby: in directions of which no two are the same."""
        moves = [directions(x, turn, k) * distance * scale(x) for k, x in enumerate(self.inputs)]
        return [-m if k == turned else m for k, m in enumerate(moves)]

    def slope_at(self, inputs: Sequence[Any], given: Sequence[Any], number: int) -> Any:
        """One of the derivatives at other inputs, and starting with others; all of these may be handles."""
        sweep = copy.copy(self)
        sweep.given = list(given)
        return sweep.at(inputs)[number]

    @abstractmethod
    def at(self, inputs: Sequence[Any]) -> list[Any]:
        """The derivatives at other inputs."""

    @abstractmethod
    def widely(self) -> Iterator[tuple[Any, Mask]]:
        """The derivatives by numbers of a wider range, and where they are sure."""

    @abstractmethod
    def limits(self) -> Limits:
        """The limits of the derivatives nearby; None for those that are 0 whatever happens."""

    def undefined(self) -> list[Any]:
        """For each derivative, where it is of a value that is not a number; its infinities have no sign then."""
        return self.of_nan([None if p is None else self.trace[p][3] for p in self.places])

    def lost(self) -> list[Any]:
        """The same of the values that the function has given: those of its steps nearby may not be finite here."""
        return self.of_nan(self.values)

    @abstractmethod
    def of_nan(self, values: Sequence[Any]) -> list[Any]:
        """For each derivative, where it is of a value that is not a number, given the values at the ends."""


@final
class SweepBack(Sweep):
    """From cotangents of some places of a trace, its ends, to those of its inputs."""

    @property
    def seeds(self) -> list[tuple[int, Any]]:
        """The cotangents that it starts with, and where."""
        return [(p, g) for p, g in zip(self.places, self.given, strict=True) if p is not None]

    def widely(self) -> Iterator[tuple[Any, Mask]]:
        """The cotangents by numbers of a wider range."""
        if not self.takes_wide:
            raise UnknownValueError
        beside = self._pulled([wide(x) * BESIDE for x in self.inputs])
        for (g, doubt), (h, _) in zip(self._pulled([wide(x) for x in self.inputs]), beside, strict=True):
            yield g, _is_steady(g, h) & np.logical_not(doubt)

    def of_nan(self, values: Sequence[Any]) -> list[Any]:
        """Whether a value that a cotangent comes from is not a number."""
        outs = [(out, g) for out, g in zip(values, self.given, strict=True) if out is not None and not is_ghost(out)]
        return [any([np.any(np.isnan(out) & np.not_equal(g, 0)) for out, g in outs])] * len(self.inputs)

    def doubts(self, path: RecordedPath) -> list[Any]:
        """Where a zero met an infinite slope, or something was replaced."""
        seeds = [(p, g) for p, g in zip(path.places, self.given, strict=True) if p is not None]
        return [False if d is None else d for d in pull_careful(path.trace, seeds, len(self.inputs))[1]]

    def _pulled(self, inputs: Sequence[Any]) -> list[tuple[Any, Any]]:
        trace = ReverseTrace()
        results = taken(self.trace, [trace.input(x) for x in inputs])
        seeds = [(results[p].node, g) for p, g in self.seeds if is_of(results[p], trace)]
        found, doubts = pull_careful(trace, seeds, len(inputs))
        return [
            (np.zeros(shape_of(x)), False) if g is None else (g, False if d is None else d)
            for g, d, x in zip(found, doubts, inputs, strict=True)
        ]

    def limits(self) -> Limits:
        """The limits of the cotangents."""

        def near(distance: float, turn: float, turned: int = -1) -> list[Any]:
            return pull_near(self.trace, self.seeds, self.moves(distance, turn, turned))

        return limits(near, len(self.inputs), has_turns=True)

    def at(self, inputs: Sequence[Any]) -> list[Any]:
        """The cotangents at other inputs."""
        return [g for g, _ in self._pulled(inputs)]


@final
class SweepForward(Sweep):
    """From tangents of the inputs of a trace, which are the values at ends before its beginning, to some places."""

    def __init__(
        self, trace: ReverseTrace, ends: Seeds, inputs: Sequence[Any], run: Run, along: Sequence[Any] | None = ()
    ) -> None:
        super().__init__(trace, ends, inputs, run, None if along is None else self.given_at(ends))

    @staticmethod
    def given_at(ends: Seeds) -> list[Any]:
        """The tangents."""
        return [t for place, t in ends if place < 0]

    def widely(self) -> Iterator[tuple[Any, Mask]]:
        """The tangents by numbers of a wider range."""
        if not self.takes_wide:
            raise UnknownValueError
        before, met.vertex = met.vertex, False
        try:
            found = self.at([wide(x) for x in self.inputs])
            beside = self.at([wide(x) * BESIDE for x in self.inputs])
        finally:
            in_doubt, met.vertex = met.vertex, before
        for t, u in zip(found, beside, strict=True):
            yield t, _is_steady(t, u) & (not in_doubt)

    def of_nan(self, values: Sequence[Any]) -> list[Any]:
        """Where the value that a tangent belongs to is not a number."""
        return [False if out is None or is_ghost(out) else np.isnan(out) for out in values]

    def doubts(self, path: RecordedPath) -> list[Any]:
        """The sweep back, which knows more of its zeros, tells: of all tangents or of none."""
        _, doubts = pull_careful(path.trace, spread_seeds(path), len(self.inputs))
        return [any([np.any(d) for d in doubts if d is not None])] * len(self.places)

    def at(self, inputs: Sequence[Any]) -> list[Any]:
        """The tangents at other inputs."""
        trace = ForwardTrace()
        moving = [Traced(x, trace, self.wide(t)) for x, t in zip(inputs, self.given, strict=True)]
        results = taken(self.trace, moving)
        found = [None if p is None else results[p] for p in self.places]
        return [f.node if is_of(f, trace) else 0.0 for f in found]

    def limits(self) -> Limits:
        """The limits of difference quotients along the tangents."""
        known = [p for p in self.places if p is not None]

        def near(distance: float, turn: float) -> list[Any]:
            if self.trace.asked:  # there is no value at the point that a difference could begin with
                return self._near([t * distance for t in self.given])
            pushed = push_near(self.trace, known, [t * distance for t in self.given])
            return [None if m is None else m / distance for m in pushed]

        rest = iter(limits(near, len(known), has_turns=False))
        return [None if p is None else next(rest) for p in self.places]

    def _near(self, moves: Sequence[Any]) -> list[Any]:
        """The tangents a step away from the point."""
        near = NearTrace()
        found = self.at([Traced(ieee(x), near, m) for x, m in zip(self.inputs, moves, strict=True)])
        return [near.whole(t) for t, p in zip(found, self.places, strict=True) if p is not None]

    def moves(self, distance: float, turn: float = 0.0, turned: int = -1) -> list[Any]:
        """Along the tangents; what they leave where it is moves a little too."""
        return [
            distance * scale(x) * np.where(np.equal(t, 0), 2.0**-6 * directions(x, 0.0, k), t)
            for k, (x, t) in enumerate(zip(self.inputs, self.given, strict=True))
        ]


@final
class SweepAgain(Sweep):
    """A derivative of one of the derivatives of a sweep: along tangents of all that it depends on, or back to those."""

    def __init__(self, first: Sweep, number: int, tangents: Sequence[Any] | None, cotangent: Any) -> None:
        self.first, self.number = first, number
        self.tangents, self.cotangent = tangents, cotangent
        self.inputs, self.given, self.trace, self.takes_wide = first.inputs, first.given, first.trace, first.takes_wide

    def at(self, inputs: Sequence[Any]) -> list[Any]:
        """The tangent at other inputs, or the cotangents."""
        return self._known(self._found(inputs))

    def _found(self, inputs: Sequence[Any]) -> list[Any]:
        before = met.vertex
        try:
            if self.tangents is None:
                return self._pulled(inputs)
            return self._pushed(inputs, self.tangents) + self._pushed(inputs, self._beside())
        finally:
            met.vertex = before

    def _known(self, found: list[Any]) -> list[Any]:
        """What was found without rounding errors; one tangent is compared with that of a direction of its own."""
        return _rounded(found)[: None if self.tangents is None else 1]

    def _beside(self) -> list[Any]:
        """Tangents that are as large as those given, in a direction in which nothing cancels."""
        return [
            None if t is None else np.max(np.abs(t), initial=0.0) * directions(t, 0.25, k)
            for k, t in enumerate(self.tangents or ())
        ]

    def _pushed(self, inputs: Sequence[Any], tangents: Sequence[Any]) -> list[Any]:
        trace = ForwardTrace()
        moving = [
            x if t is None else Traced(x, trace, self.wide(t))
            for x, t in zip([*inputs, *self.given], tangents, strict=True)
        ]
        found = self.first.slope_at(moving[: len(inputs)], moving[len(inputs) :], self.number)
        return [found.node if is_of(found, trace) else np.zeros(shape_of(found))]

    def _pulled(self, inputs: Sequence[Any]) -> list[Any]:
        trace = ReverseTrace()
        reached = [trace.input(x) for x in (*inputs, *self.given)]
        found = self.first.slope_at(reached[: len(inputs)], reached[len(inputs) :], self.number)
        seeds = [(found.node, self.cotangent)] if is_of(found, trace) else []
        pulled, _ = pull_careful(trace, seeds, len(reached))
        return [np.zeros(shape_of(x)) if g is None else g for g, x in zip(pulled, reached, strict=True)]

    def limits(self) -> Limits:
        """The limits of the second derivatives at points nearby; nan if sides differ or they grow in one direction."""

        def near(distance: float, turn: float, turned: int = -1) -> list[Any]:
            trace = NearTrace()
            moves = self.moves(distance, turn, turned)
            found = self._found([Traced(ieee(x), trace, m) for x, m in zip(self.inputs, moves, strict=True)])
            return self._known([trace.whole(g) for g in found])

        count = len(self.inputs) + len(self.given) if self.tangents is None else 1
        found = limits(near, count, has_turns=True)
        return [
            None if f is None else Limit(np.where(np.isinf(f.value) | f.is_kink, np.nan, f.value), False) for f in found
        ]

    def widely(self) -> Iterator[tuple[Any, Mask]]:
        """Nothing is known by numbers of a wider range alone."""
        raise UnknownValueError

    def doubts(self, path: RecordedPath) -> list[Any]:
        """All that is asked for are limits."""
        raise UnknownValueError

    def of_nan(self, values: Sequence[Any]) -> list[Any]:
        """All that is asked for are limits."""
        raise UnknownValueError


def _rounded(found: list[Any]) -> list[Any]:
    """Numbers with 0 for those that are rounding errors of the others, as beside the diagonal of a Hessian."""
    size = max([np.max(np.abs(g), initial=0.0) for g in found], default=0.0)
    return [np.where(np.abs(g) <= ROUNDING * size, 0.0, g) for g in found]


ROUNDING = 2.0**-46
FAR, CLOSER, CLOSEST = 2.0**-16, 2.0**-24, 2.0**-900
"""The distances of ordinary points: not so far that the derivative is another, nor so close that digits get lost. The
last is for inputs that are 0, to which everything else may be far: it has a veto."""
SAME = 1e-12
"""What two values that are the same may differ by."""
BESIDE = 1.0 + 2.0**-50
"""The factor to a number beside another one; what changes with it by much has no digits left."""


def _is_steady(found: Numeric, beside: Numeric) -> Any:
    size = np.maximum(np.abs(found), np.abs(beside))
    return np.isfinite(found) & (np.abs(found - beside) <= 1e-3 * size)


def are_confirmed(sweep: Sweep, claims: Sequence[Numeric]) -> list[Any]:
    """Where the derivatives at ordinary points go to the ones claimed, as the points come closer."""
    far, close = [_both_sides(sweep, distance, len(claims)) for distance in (FAR, CLOSER)]
    found = [_goes_to(claim, f, c) for claim, f, c in zip(claims, far, close, strict=True)]
    if all([np.all(np.not_equal(x, m)) for x, m in zip(sweep.inputs, sweep.moved(CLOSEST), strict=True)]):
        last = _both_sides(sweep, CLOSEST, len(claims))
        found = [
            f & (~np.isfinite(end[0]) | _goes_to(claim, c, end))
            for f, claim, c, end in zip(found, claims, close, last, strict=True)
        ]
    return found


def _both_sides(sweep: Sweep, distance: float, count: int) -> list[tuple[Any, Any]]:
    """For each derivative the mean of two sides, and their size; a side outside of the domain does not count."""
    ahead, behind = sweep.at(sweep.moved(distance)), sweep.at(sweep.moved(-distance))
    found = []
    for k in range(count):
        a, b = ahead[k], behind[k]
        if count > 1 and np.any(np.isnan(a) & np.isnan(b)):  # another argument may have left its domain
            a, b = [
                np.where(np.isnan(x), sweep.at(sweep.moved(d, k))[k], x) for x, d in ((a, distance), (b, -distance))
            ]
        a, b = np.where(np.isnan(a), b, a), np.where(np.isnan(b), a, b)
        found.append((0.5 * (a + b), np.maximum(np.abs(a), np.abs(b))))
    return found


def _goes_to(claim: Numeric, far: tuple[Any, Any], close: tuple[Any, Any]) -> Any:
    error, before = np.abs(close[0] - claim), np.abs(far[0] - claim)
    size = np.maximum(close[1], np.abs(claim))
    is_reached = np.isfinite(error) & ((error <= 1e-6 * size) | (error <= 0.75 * before))
    grows = (np.sign(close[0]) == np.sign(claim)) & (np.abs(close[0]) > 1.02 * np.abs(far[0]))
    return np.where(np.isinf(claim), grows | np.isinf(close[0]) & np.equal(close[0], claim), is_reached)
