"""Putting ways together: a program in which branches have both sides, where ways that begin at one point meet again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...ir.builder import Builder
from ...ir.fold import may_fail, read_by, rewritten_back
from ...ir.keys import key_of
from ...ir.passes import program_pass, without_dead
from ...ir.program import GUARD, Program, Step
from ..loops.capture import interned, renumbered
from ..loops.cond import cond
from .path_tree import BranchPoint, NoWayError, PathVisit

LONGEST = 10_000
"""Steps of a program with branches."""


def merged(visits: Sequence[PathVisit]) -> tuple[Program, list[str]]:
    """The program of a recording with each branch whose sides are both known as one step, and the lines of these."""
    for meetings in (_JoinPoints(), _JoinPoints(are_known=False)):
        try:
            return _merged(visits, meetings), meetings.lines
        except _LongError:  # sides that do not meet before the end have all that follows twice
            continue
    raise AssertionError("a recording alone is as long as it is")


def _merged(visits: Sequence[PathVisit], meetings: _JoinPoints) -> Program:
    writer = _Writer(meetings)
    program = writer.program
    first = visits[0].point.ways[visits[0].key]
    types = first.program.types
    values: list[Any] = [program.input(types[n]) for n in first.program.inputs]
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
            program.append(Step(GUARD, (truth,), {"expected": outcome}, (), point.line))
        way = point.ways[key]
        values = writer.inlined(way.program, values)
        k, point = k + 1, way.to
    return trimmed(program.build([writer.own(v) for v in values]))


class _LongError(Exception):
    """Branches make the program too long."""


class _JoinPoints:
    """Where the two sides of a branch meet."""

    def __init__(self, *, are_known: bool = True) -> None:
        self._are_known = are_known
        self._known: dict[int, BranchPoint | None] = {}
        self.lines: list[str] = []
        """Of branches that have both sides."""
        self._steps = 0

    def count(self, steps: int) -> None:
        """Take note of steps that are written."""
        self._steps += steps
        if self._are_known and self._steps > LONGEST:
            raise _LongError

    def of(self, point: BranchPoint) -> BranchPoint | None:
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

    def _led_to(self, point: BranchPoint) -> list[BranchPoint]:
        """A point, and those that follow whatever the outcome of its test is."""
        found = [point]
        while (following := self.after(found[-1])) is not None and not any([following is p for p in found]):
            found.append(following)
        return found

    def after(self, point: BranchPoint) -> BranchPoint | None:
        """The next point that a way leads to, whatever the outcome of the test is."""
        return point.general.to if point.general is not None else self.of(point)


class _Outer(NamedTuple):
    """A value of the program around a branch."""

    number: int


class _Writer:
    """A program under construction, which may be that of one side of a branch in another."""

    def __init__(self, meetings: _JoinPoints, outer: _Writer | None = None) -> None:
        self.meetings = meetings
        self.program = Builder()
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
            self._constants[key] = self.program.constant(x, frozen=is_frozen)
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
            self.program.append(step._replace(args=args, outs=tuple([known[o] for o in step.outs])))
        return [here(o) for o in piece.outputs]

    def choice(self, point: BranchPoint, values: Sequence[Any], target: BranchPoint) -> list[Any]:
        """Take one of the two ways from a point, and those that follow, until they meet."""
        self.meetings.lines.append(point.line)
        *slots, truth = [self.own(v) for v in values]
        (no, of_no), (yes, of_yes) = [self._side(point, slots, outcome, target) for outcome in (False, True)]
        joint = _Join(self, no, yes)
        return joint.written(truth, list(zip(of_no, of_yes, strict=True)), point.line)

    def _side(
        self, point: BranchPoint, slots: Sequence[int], outcome: bool, target: BranchPoint
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


Pair = tuple[int, int]
"""A value of the side that is taken if not, and the one that stands for it on the other side."""


class _Join:
    """The two sides of a branch in a program; steps that both end with follow it, and are taken once."""

    def __init__(self, outer: _Writer, no: _Writer, yes: _Writer) -> None:
        self.outer = outer
        self.sides = (no, yes)
        self.known: dict[Pair, int] = {}
        """What pairs are called outside."""
        self._around: list[dict[int, int]] = []
        """By side, what values of the program around are called there."""

    def written(self, truth: int, values: Sequence[tuple[Any, Any]], line: str) -> list[int]:
        """Write the branch, and what follows it on both sides; the values that the sides end with."""
        no, yes = self.sides
        ends = [a.number if type(a) is _Outer and a == b else (no.own(a), yes.own(b)) for a, b in values]
        self._around = [{inside: n for n, inside in side.taken.items()} for side in self.sides]
        pairs = [end for end in ends if isinstance(end, tuple)]
        size = self._shared(pairs)
        shared = list(zip(*[side.program.cut(size) for side in self.sides], strict=True))
        made = {pair for a, b in shared for pair in zip(a.outs, b.outs, strict=True)}
        read = [pair for a, b in shared for pair in zip(a.args, b.args, strict=True)]
        self._branch(truth, [pair for pair in dict.fromkeys([*read, *pairs]) if pair not in made], line)
        program = self.outer.program
        for a, b in shared:
            args = tuple([self.known[pair] for pair in zip(a.args, b.args, strict=True)])
            outs = tuple([program.new(no.program.types[o]) for o in a.outs])
            self.known.update(zip(zip(a.outs, b.outs, strict=True), outs, strict=True))
            program.append(a._replace(args=args, outs=outs))
        return [self.known[end] if isinstance(end, tuple) else end for end in ends]

    def _shared(self, pairs: Sequence[Pair]) -> int:
        """How many of the last steps are the same, so that the fewest numbers have to be handed out of the sides."""
        no, yes = [side.program for side in self.sides]
        needed = dict.fromkeys([pair for pair in pairs if self._same(pair) is None])
        least, best = self._numbers(needed), 0
        for size, (a, b) in enumerate(zip(reversed(no.steps), reversed(yes.steps), strict=False), 1):
            types = [[p.types[n] for n in (*step.args, *step.outs)] for p, step in ((no, a), (yes, b))]
            if a.primitive is not b.primitive or types[0] != types[1] or key_of(a.params) != key_of(b.params):
                break
            for pair in zip(a.outs, b.outs, strict=True):
                needed.pop(pair, None)
            if any([m in a.outs or n in b.outs for m, n in needed]):  # made here, but for something else there
                break
            operands = list(zip(a.args, b.args, strict=True))
            needed.update(dict.fromkeys([pair for pair in operands if self._same(pair) is None]))
            if self._numbers(needed) <= least:
                least, best = self._numbers(needed), size
        return best

    def _numbers(self, pairs: Iterable[Pair]) -> int:
        types = self.sides[0].program.types
        return sum([max(1, types[m].size) for m, _ in pairs])

    def _same(self, pair: Pair) -> int | None:
        """The one value outside that both are; None if there is none."""
        around = [known.get(n) for known, n in zip(self._around, pair, strict=True)]
        if around[0] is not None and around[0] == around[1]:
            return around[0]
        if not all([n in side.program.constants for side, n in zip(self.sides, pair, strict=True)]):
            return None
        x, y = [side.program.constants[n] for side, n in zip(self.sides, pair, strict=True)]
        return self.outer.constant(x) if key_of((type(x), x)) == key_of((type(y), y)) else None

    def _branch(self, truth: int, pairs: Sequence[Pair], line: str) -> None:
        """Write the branch itself, which hands out these values."""
        program, results = self.outer.program, []
        for pair in pairs:
            same = self._same(pair)
            if same is not None:
                self.known[pair] = same
                continue
            types = [side.program.types[n] for side, n in zip(self.sides, pair, strict=True)]
            if types[0] != types[1]:
                raise NoWayError
            for side, n in zip(self.sides, pair, strict=True):
                side.program.give([n])
            self.known[pair] = program.new(types[0])
            results.append(self.known[pair])
        given = list(dict.fromkeys([n for side in self.sides for n in side.taken]))
        for side in self.sides:
            inside = [side.taken.get(n) for n in given]
            side.program.take([
                side.program.new(program.types[n]) if i is None else i for n, i in zip(given, inside, strict=True)
            ])  # fmt: skip
        branches = tuple([side.program.build() for side in self.sides])
        if results:
            params = {"branches": branches, "sizes": (1, len(given))}
            program.append(Step(cond, (truth, *given), params, tuple(results), line))
        elif any([may_fail(branch, step) for branch in branches for step in branch.steps]):
            raise NoWayError


@program_pass
def trimmed(program: Program) -> Program:
    """Branches without results that nobody reads, and without operands for these."""
    return without_dead(rewritten_back(without_dead(program), _trimmed_choice))


def _trimmed_choice(step: Step, needed: set[int]) -> Step:
    if step.primitive is not cond:
        return step
    kept = [k for k, o in enumerate(step.outs) if o in needed] or [0]
    branches = [b.having(outputs=[b.outputs[k] for k in kept]) for b in step.params["branches"]]
    branches = [trimmed(b) for b in branches]
    read = [read_by(b.steps, b.outputs) for b in branches]
    given = step.args[1:]
    places = [k for k in range(len(given)) if any([b.inputs[k] in r for b, r in zip(branches, read, strict=True)])]
    branches = [b.having(inputs=[b.inputs[k] for k in places]) for b in branches]
    programs = [interned(renumbered(b, {*r, *b.inputs})) for b, r in zip(branches, read, strict=True)]
    params = {"branches": tuple(programs), "sizes": (1, len(places))}
    return step._replace(
        args=(step.args[0], *[given[k] for k in places]), params=params, outs=tuple([step.outs[k] for k in kept])
    )
