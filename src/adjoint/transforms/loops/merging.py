"""Putting ways together: a program in which branches have both sides, where ways that begin at one point meet again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...ir.failures import may_fail
from ...ir.keys import key_of
from ...ir.passes import program_pass, without_dead
from ...ir.program import GUARD, Program, Step, type_of
from .capture import interned, renumbered
from .cond import cond
from .ways import Junction, NoWayError, Passage

LONGEST = 10_000
"""Steps of a program with branches."""


def merged(visits: Sequence[Passage]) -> tuple[Program, list[str]]:
    """The program of a recording with each branch whose sides are both known as one step, and the lines of these."""
    for meetings in (_Meetings(), _Meetings(are_known=False)):
        try:
            return _merged(visits, meetings), meetings.lines
        except _LongError:  # sides that do not meet before the end have all that follows twice
            continue
    raise AssertionError("a recording alone is as long as it is")


def _merged(visits: Sequence[Passage], meetings: _Meetings) -> Program:
    writer = _Writer(meetings)
    program = writer.program
    first = visits[0].point.ways[visits[0].key]
    types = first.program.types
    program.inputs = [program.new(types[n]) for n in first.program.inputs]
    values: list[Any] = list(program.inputs)
    k, point = 0, visits[0].point
    while not point.is_end:
        meeting = writer.meetings.of(point) if k else None
        places = [j for j in range(k + 1, len(visits)) if visits[j].point is meeting]
        if meeting is not None and (places or meeting.is_end):
            values = writer.choice(point, values, meeting)
            k, point = (places or [len(visits)])[0], meeting
            continue
        _, key, outcome = visits[k]
        if k:
            *values, truth = values
            program.steps.append(Step(GUARD, (truth,), {"expected": outcome}, (), point.line))
        way = point.ways[key]
        values = writer.inlined(way.program, values)
        k, point = k + 1, way.to
    program.outputs = [writer.own(v) for v in values]
    return trimmed(program)


class _LongError(Exception):
    """Branches make the program too long."""


class _Meetings:
    """Where the two sides of a branch meet."""

    def __init__(self, *, are_known: bool = True) -> None:
        self._are_known = are_known
        self._known: dict[int, Junction | None] = {}
        self.lines: list[str] = []
        """Of branches that have both sides."""
        self._steps = 0

    def count(self, steps: int) -> None:
        """Take note of steps that are written."""
        self._steps += steps
        if self._are_known and self._steps > LONGEST:
            raise _LongError

    def of(self, point: Junction) -> Junction | None:
        """The first point to which both sides lead; None if it is not known, or if there is none."""
        if not self._are_known:
            return None
        if id(point) not in self._known:
            self._known[id(point)] = None  # if a loop leads back to here
            sides = [point.ways.get((outcome,)) for outcome in (False, True)]
            if None not in sides:
                no, yes = [self._led_to(side.to) for side in sides if side is not None]
                self._known[id(point)] = next((p for p in yes if any([p is q for q in no])), None)
        return self._known[id(point)]

    def _led_to(self, point: Junction) -> list[Junction]:
        """A point, and those that follow whatever the outcome of its test is."""
        found = [point]
        while (following := self.after(found[-1])) is not None and not any([following is p for p in found]):
            found.append(following)
        return found

    def after(self, point: Junction) -> Junction | None:
        """The next point that a way leads to, whatever the outcome of the test is."""
        return point.general.to if point.general is not None else self.of(point)


class _Outer(NamedTuple):
    """A value of the program around a branch."""

    number: int


class _Writer:
    """A program under construction, which may be that of one side of a branch in another."""

    def __init__(self, meetings: _Meetings, outer: _Writer | None = None) -> None:
        self.meetings = meetings
        self.program = Program()
        self.outer = outer
        self.taken: dict[int, int] = {}
        """Values of the program around it, and what they are called here."""
        self._constants: dict[Any, int] = {}

    def own(self, value: Any) -> int:
        """A value of this program, or of the one around it, as one of this program."""
        if type(value) is int:
            return value
        assert self.outer is not None
        around = self.outer.program
        constant = around.constants.get(value.number)
        if value.number in around.constants and not isinstance(constant, np.ndarray):
            return self.constant(constant)
        if value.number not in self.taken:
            self.taken[value.number] = self.program.new(around.types[value.number])
        return self.taken[value.number]

    def constant(self, x: Any, *, is_frozen: bool = False) -> int:
        """A number of its own, or an array of the outermost program."""
        if isinstance(x, np.ndarray) and self.outer is not None:
            return self.own(_Outer(self.outer.constant(x, is_frozen=is_frozen)))
        key = id(x) if isinstance(x, np.ndarray) else key_of((type(x), x))
        if key not in self._constants:
            self._constants[key] = self.program.new(type_of(x))
            self.program.constants[self._constants[key]] = x
            if is_frozen:
                self.program.frozen.add(self._constants[key])
        return self._constants[key]

    def inlined(self, piece: Program, values: Sequence[Any]) -> list[Any]:
        """Take steps with these values; the results, which may be values of the program around."""
        self.meetings.count(len(piece.steps))
        known: dict[int, Any] = dict(zip(piece.inputs, values, strict=True))

        def here(n: int) -> Any:
            if n not in known:
                known[n] = self.constant(piece.constants[n], is_frozen=n in piece.frozen)
            return known[n]

        for step in piece.steps:
            args = tuple([self.own(here(a)) for a in step.args])
            for o in step.outs:
                known[o] = self.program.new(piece.types[o])
            self.program.steps.append(step._replace(args=args, outs=tuple([known[o] for o in step.outs])))
        return [here(o) for o in piece.outputs]

    def choice(self, point: Junction, values: Sequence[Any], target: Junction) -> list[Any]:
        """Take one of the two ways from a point, and those that follow, until they meet."""
        self.meetings.lines.append(point.line)
        program = self.program
        *slots, truth = [self.own(v) for v in values]
        sides = [self._side(point, slots, outcome, target) for outcome in (False, True)]
        found: list[Any] = []
        places: list[int] = []
        for k, (no, yes) in enumerate(zip(sides[0][1], sides[1][1], strict=True)):
            if type(no) is _Outer and no == yes:
                found.append(no.number)
                continue
            shared = _shared_constant(sides[0][0].program, no, sides[1][0].program, yes)
            if shared is not None:
                found.append(self.constant(shared))
                continue
            numbers = [writer.own(v) for (writer, _), v in zip(sides, (no, yes), strict=True)]
            types = [writer.program.types[n] for (writer, _), n in zip(sides, numbers, strict=True)]
            if types[0] != types[1]:
                raise NoWayError
            for (writer, _), n in zip(sides, numbers, strict=True):
                writer.program.outputs.append(n)
            places.append(k)
            found.append(program.new(types[0]))
        given = list(dict.fromkeys([n for writer, _ in sides for n in writer.taken]))
        for writer, _ in sides:
            inside = [writer.taken.get(n) for n in given]
            writer.program.inputs = [
                writer.program.new(program.types[n]) if i is None else i for n, i in zip(given, inside, strict=True)
            ]
        branches = tuple([writer.program for writer, _ in sides])
        if places:
            outs = tuple([found[k] for k in places])
            sizes = (1, len(given))
            program.steps.append(Step(cond, (truth, *given), {"branches": branches, "sizes": sizes}, outs, point.line))
        elif any([may_fail(branch, step) for branch in branches for step in branch.steps]):
            raise NoWayError
        return found

    def _side(
        self, point: Junction, slots: Sequence[int], outcome: bool, target: Junction
    ) -> tuple[_Writer, list[Any]]:
        inner = _Writer(self.meetings, self)
        way = point.ways[(outcome,)]
        values = inner.inlined(way.program, [_Outer(n) for n in slots])
        at = way.to
        while at is not target:
            following = self.meetings.after(at)
            assert following is not None
            if at.general is not None:
                values = inner.inlined(at.general.program, values)
            else:
                values = inner.choice(at, values, following)
            at = following
        return inner, values


def _shared_constant(one: Program, a: Any, other: Program, b: Any) -> Any:
    """The number that two values are; None if they are not."""
    x, y = one.constants.get(a) if type(a) is int else None, other.constants.get(b) if type(b) is int else None
    return x if x is not None and y is not None and key_of((type(x), x)) == key_of((type(y), y)) else None


@program_pass
def trimmed(program: Program) -> Program:
    """Branches without results that nobody reads, and without operands for these."""
    needed = set(program.outputs)
    steps: list[Step] = []
    for step in reversed(without_dead(program).steps):
        if step.primitive is cond:
            step = _trimmed_choice(step, needed)
        needed.update(step.args)
        steps.append(step)
    return without_dead(program.with_steps(steps[::-1]))


def _trimmed_choice(step: Step, needed: set[int]) -> Step:
    kept = [k for k, o in enumerate(step.outs) if o in needed] or [0]
    branches = [b.with_steps(b.steps, [b.outputs[k] for k in kept]) for b in step.params["branches"]]
    branches = [trimmed(b) for b in branches]
    read = [{*b.outputs, *[a for s in b.steps for a in s.args]} for b in branches]
    given = step.args[1:]
    places = [k for k in range(len(given)) if any([b.inputs[k] in r for b, r in zip(branches, read, strict=True)])]
    for b in branches:
        b.inputs = [b.inputs[k] for k in places]
    programs = [interned(renumbered(b, {*r, *b.inputs})) for b, r in zip(branches, read, strict=True)]
    params = {"branches": tuple(programs), "sizes": (1, len(places))}
    return step._replace(
        args=(step.args[0], *[given[k] for k in places]), params=params, outs=tuple([step.outs[k] for k in kept])
    )
