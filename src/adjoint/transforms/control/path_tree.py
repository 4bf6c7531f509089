"""PathTree through a function that branches: pieces of recordings between truth tests, put together anew.

A recording is cut at its truth tests into *ways* from one point to the next. If Python goes on alike from the ends of
two ways that begin at one point, they are two sides of a branch, and what follows is the same for both: a `cond` has
the steps of either side, and the test is no longer part of the path. So a recording has to be made for each side of
each branch, not for each combination of sides.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from ...capture.recording.continuation import Continuation, Variable, is_handle, is_same, number_in
from ...ir.builder import Builder
from ...ir.fold import guards_in
from ...ir.keys import key_of
from ...ir.program import FLOAT, GUARD, Failure, Program, Step, Type
from ..loops.capture import is_ragged
from ..loops.cond import cond

RAGGED = "ragged"
"""In the key of a way on which shapes depend on values, which no branch has."""
MOST = 1000
"""Points that are remembered of one function."""


class NoWayError(Exception):
    """A recording cannot be cut into ways: something besides its variables decides how it goes on."""


class Segment(NamedTuple):
    """What is done from one point to the next."""

    program: Program
    """From the handles of the one point to those of the next, and what is tested there."""
    to: BranchPoint


class BranchPoint:
    """A truth test, or the beginning or the end of a function, and the ways that are known to lead on from there."""

    __slots__ = ("continuation", "general", "is_end", "kinds", "line", "ways")

    def __init__(self, continuation: Continuation, kinds: list[Type], line: str, *, is_end: bool) -> None:
        self.continuation = continuation
        self.kinds = kinds
        """The types of the handles, and of what is tested."""
        self.general: Segment | None = None
        """To the same point with handles in place of some numbers: what follows there is right for any number."""
        self.line = line
        self.is_end = is_end
        self.ways: dict[Hashable, Segment] = {}
        """By the outcome of the test, and what other decisions on the way have to be."""


class Cut(NamedTuple):
    """Where a recording is cut."""

    at: int
    """The place of the guard among the steps, which is the first step that belongs to neither way."""
    continuation: Continuation
    made: Sequence[int]
    """The values of the handles, and what is tested, as they are called up to here."""
    given: Sequence[int]
    """The values of the handles, as they are called from here on."""
    outcome: Hashable = None
    line: str = ""


class PathVisit(NamedTuple):
    """A point that a recording has come to, and the way it has taken from there."""

    point: BranchPoint
    key: Hashable
    outcome: Any


class PathTree:
    """All that is known of one function."""

    def __init__(self) -> None:
        self._points: dict[Hashable, list[BranchPoint]] = {}
        self._count = 0
        self._varying: list[Variable] = []

    def noted(self, program: Program, marks: Sequence[Cut]) -> list[PathVisit]:
        """Learn from a recording; the last mark is the end. The points it has come to."""
        types = program.types
        made = [self._point(mark, [types[n] for n in mark.made], is_end=mark is marks[-1]) for mark in marks]
        visits = []
        for k, (a, b) in enumerate(itertools.pairwise(marks)):
            steps = program.steps[a.at + 1 : b.at]
            guards = [s.params["expected"] for s in guards_in(steps)]
            if any([isinstance(expected, Failure) for expected in guards]):
                raise NoWayError
            way = Segment(_piece(program, steps, a.given, b.made), made[k + 1])
            key: Hashable = (a.outcome, *[key_of(expected) for expected in guards])
            if is_ragged(way.program):
                key = (key, RAGGED)
            known = made[k].ways.get(key)
            if known is not None and not _are_alike(known, way):
                raise NoWayError
            made[k].ways[key] = way
            visits.append(PathVisit(made[k], key, a.outcome))
        return visits

    def is_varying(self, variable: Variable) -> bool:
        """Whether a variable that is a float of Python's should be a handle."""
        return any([v == variable for v in self._varying])

    def _point(self, mark: Cut, kinds: list[Type], *, is_end: bool) -> BranchPoint:
        alike = self._points.setdefault((is_end, mark.continuation.key()), [])
        for point in alike:
            if point.continuation.is_like(mark.continuation):
                return point
        self._count += 1
        if self._count > MOST:
            raise NoWayError
        new = BranchPoint(mark.continuation._replace(handles=[]), kinds, mark.line, is_end=is_end)
        for point in alike:
            places = None if is_end else new.continuation.differing(point.continuation)
            if places is not None:
                self._varying += [v for v in places if not self.is_varying(v)]
                _generalise(new, point)
                _generalise(point, new)
        alike.append(new)
        return new


def _generalise(special: BranchPoint, general: BranchPoint) -> None:
    """Let a point lead to one that differs from it in numbers alone, if these are handles there."""
    piece = Builder()
    *slots, truth = [piece.input(kind) for kind in special.kinds]
    rest, outputs = iter(slots), []
    for ours, theirs in zip(special.continuation.facts, general.continuation.facts, strict=True):
        if is_handle(theirs):
            outputs.append(next(rest) if is_handle(ours) else piece.constant(number_in(ours), FLOAT))
        elif not is_same(ours, theirs):
            return
    if general.general is None:
        special.general = Segment(piece.build([*outputs, truth]), general)


def _piece(program: Program, steps: Sequence[Step], inputs: Sequence[int], outputs: Sequence[int]) -> Program:
    """Some steps of a program as a program of their own; they may not read anything but the inputs and constants."""
    known = {*inputs}
    constants: dict[int, Any] = {}
    for args, outs in [*[(s.args, s.outs) for s in steps], (outputs, ())]:
        for a in args:
            if a in known:
                continue
            if a not in program.constants:
                raise NoWayError
            constants[a] = program.constants[a]
            known.add(a)
        known.update(outs)
    return Program(program.types, inputs, constants, steps, outputs, program.frozen & constants.keys())


def _are_alike(one: Segment, other: Segment) -> bool:
    """Whether two ways may be the same one; nothing is said of those with decisions or branches inside."""
    steps = [[s.primitive for s in way.program.steps] for way in (one, other)]
    if any([GUARD in found or cond in found for found in steps]):
        return True
    is_more_general = one.to.general is not None and one.to.general.to is other.to
    return steps[0] == steps[1] and (one.to is other.to or is_more_general)
