"""One round of a loop of Python's, captured on its own: what is carried from round to round, and when it is all right.

A test in it that has both ways lead back to the start is taken both ways: Python goes through the round once more, from
the same variables, as if the test came out differently. All ways together are the body of the loop.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ...core.errors import user_line
from ...core.traced import LOCAL, PYTHON, Traced, concrete, is_python
from ...core.values import Value, decidable, dtype_of
from ...ir.arithmetic import Pythons
from ...ir.capture import CaptureTrace, GuardRefusedError, Tests, example
from ...ir.conditions import Checked
from ...ir.counts import TRUTH, USUAL, Count, Number, Range
from ...ir.effects import effects_so_far
from ...ir.failures import may_fail
from ...ir.loops import WhileOperands
from ...ir.interpret import replay
from ...ir.program import GUARD, Step, Type, type_of
from ...ir.recording.variables import FrameVariables, Slot, Variables
from ...numpy.numbers.counts import made, range_of
from ...numpy.numbers.python_numbers import made_by_python
from ...ops.shape import constant_astype, item
from . import cond
from .capture import Body, as_numpy_scalar, as_type, captured, finished
from .while_loop import apply

Place = tuple[CodeType, int]
RANGE: Range = (-USUAL, USUAL)
"""Within this Python's integers may be from round to round; where one is not, the loop is over."""


class Visit(NamedTuple):
    """A truth test, and what there was at the time."""

    frame: FrameType
    place: Place
    scope: Variables
    variables: FrameVariables
    outcome: bool
    tested: Any
    """The plain value that was tested."""
    effects: int
    """How many effects there had been."""
    decisions: int
    """How many decisions there had been."""


class Decision(NamedTuple):
    """A test in a round."""

    place: Place
    outcome: bool
    can_differ: bool
    """Whether the round comes to its end if it comes out differently."""


class Way(NamedTuple):
    """A way through a round, from its start to its end."""

    body: Body
    """What becomes of all that is carried, and of what is tested."""
    guards: Body
    """For each decision, whether it comes out as it did."""
    outcomes: list[bool]
    """How decisions came out, in the order of these guards."""
    ends: list[Range | None]
    """What the Python integers among the carried can be at the end."""


@dataclass(slots=True)
class Round:
    """A round that is being captured."""

    start: Visit
    outer: CaptureTrace
    loops: Tests
    updated: frozenset[int]
    """The places, among the slots, of arrays that are updated in place."""
    usual: dict[tuple[FrameType, Place], bool]
    """Outcomes of tests as they are in all rounds but the last."""
    carried: list[int]
    """The places, among the slots, of those that differ from round to round, each once."""
    capture: CaptureTrace = field(init=False)
    inside: FrameVariables = field(init=False)
    """The variables when it began."""
    tested: Traced = field(init=False)
    """What was tested last."""
    first: list[Value] = field(default_factory=list)
    """What those that are carried stood for."""
    updates: int = 0
    """How many updates in place there had been."""
    script: list[bool] = field(default_factory=list)
    """How the first tests are to come out, this time."""
    decisions: list[Decision] = field(default_factory=list)
    supposes: bool = False
    """Whether it goes on as if a test had come out differently."""
    ways: list[Way] = field(default_factory=list)
    waiting: list[list[bool]] = field(default_factory=list)
    """Scripts of further ways."""

    def refuse(self) -> NoReturn:
        """Give up: it is not what it seemed."""
        self.capture.refused = True  # also if the function catches this
        raise GuardRefusedError

    def enter(self, script: list[bool]) -> None:
        """From here on what is carried belongs to the program of a round."""
        slots, sharing = self.start.variables.slots, self.start.variables.sharing()
        self.capture = capture = CaptureTrace(lift=True)
        capture.root, capture.loops = self.outer.root, self.loops
        self.script, self.decisions, self.supposes = script, [], False
        self.first = [Traced(*slots[k][1:]) if slots[k].is_handle else slots[k].x for k in self.carried]
        values = [slot.x for slot in slots]
        for k, old in zip(self.carried, self.first, strict=True):
            handle = _inside(capture, values[k], old)
            if k in self.updated:
                _become(values[k], handle)  # whoever has it sees that
            else:
                values[k] = handle
        self.start.scope.put([values[j] for j in sharing])
        found = self.start.scope.now()
        assert found is not None
        self.inside = found
        self.tested = capture.input(self.start.tested)
        if LOCAL.updates is None:
            LOCAL.updates = []
        self.updates = len(LOCAL.updates)

    def leave(self) -> None:
        """Let the variables be as they were."""
        slots = self.start.variables.slots
        for k, old in zip(self.carried, self.first, strict=True):
            if k in self.updated:
                _become(slots[k].x, old)
        self.start.scope.put([slot.x for slot in slots])
        self.capture.end()

    def suppose(self, x: Traced, frame: FrameType, place: Place) -> bool | None:
        """The outcome of a test that is known before; None if its value decides."""
        k = len(self.decisions)
        wanted = self.script[k] if k < len(self.script) else self.usual.get((frame, place))
        number, value = self.capture.number_of(x)
        if wanted is None or number in self.capture.program.constants:
            return None
        expected = type(value)(wanted)
        self.capture.program.steps.append(Step(GUARD, (number,), {"expected": expected}, (), user_line()))
        if bool(value) != wanted:
            self.supposes = LOCAL.supposes = True
        return wanted


def begun(last: Visit, now: Visit, outer: CaptureTrace, loops: Tests, usual: Any) -> Round | None:
    """A round with all that has changed since the last visit; None if there cannot be one."""
    slots, sharing = now.variables.slots, now.variables.sharing()
    changed = [k for k, slot in enumerate(slots) if not slot.is_still(last.variables.slots[k])]
    carried = [k for k in changed if sharing[k] == k]
    if not carried or not all([_is_carriable(slots[k], outer) for k in carried]):
        return None
    updated = frozenset([k for k in carried if slots[k].is_handle and slots[k].x is last.variables.slots[k].x])
    found = Round(now, outer, loops, updated, usual, carried)
    found.enter([])
    return found


def _is_carriable(slot: Slot, capture: CaptureTrace) -> bool:
    """Whether a value can be carried along: a number, or a handle of the program around the loop."""
    x: Any = slot.x
    if not slot.is_handle:
        return type(x) is not int or RANGE[0] <= x <= RANGE[1]
    if type(x) not in (Traced, Number, Count) or dtype_of(x).kind not in "fciub":
        return False
    if type(concrete(x)) is int and type(x) is not Count:
        return False
    while isinstance(x, Traced) and x.traced_by is not capture:
        if x.traced_by.lead:
            return False
        x = x.value
    return isinstance(x, Traced)


def _inside(capture: CaptureTrace, x: Any, old: Any) -> Traced:
    """What stands for a value in a round."""
    plain = _plain(old)
    if type(plain) is int or (type(plain) is bool and type(x) in (bool, Count)):
        count = capture.count(plain)
        if type(plain) is int:
            capture.ranges[count.node] = RANGE
        return count
    handle = capture.input(plain)
    return Number(plain, capture, handle.node) if type(x) in (float, Number) else handle


def _plain(x: Any) -> Value:
    """The value of a handle, as Python's number or as NumPy's."""
    return example(x) if is_python(x) else as_numpy_scalar(example(x))


def _become(x: Traced, other: Traced) -> None:
    x.value, x.traced_by, x.node = other.value, other.traced_by, other.node


def more_carried(under_way: Round) -> list[int]:
    """What else has changed, on a way that is not the first; none if that cannot be carried."""
    now, inside = under_way.start.scope.now(), under_way.inside
    if now is None or not now.is_like(inside):
        return []
    sharing = inside.sharing()
    rows = enumerate(zip(inside.slots, now.slots, strict=True))
    found = [k for k, (before, after) in rows if sharing[k] not in under_way.carried and not after.is_still(before)]
    slots = under_way.start.variables.slots
    is_fine = all([sharing[k] == k and _is_carriable(slots[k], under_way.outer) for k in found])
    return found if is_fine and all([now.slots[k].x is not slots[k].x or not slots[k].is_handle for k in found]) else []


def way_of(under_way: Round, x: Traced) -> Way | None:
    """The way that has come to its end at the test of `x`; None if it does not come back to where it began."""
    start, capture, carried = under_way.start, under_way.capture, under_way.carried
    now = start.scope.now()
    if now is None or not _comes_back(under_way, now) or capture.refused or dtype_of(x).kind != "b":
        return None
    steps = capture.program.steps
    guards = [step for step in steps if step.primitive is GUARD]
    if not all([isinstance(step.params["expected"], (bool, np.bool_)) for step in guards]):
        return None
    if any([isinstance(step.primitive, (Checked, Pythons)) for step in steps]):
        return None
    ends = [now.slots[k].x for k in carried]
    ranges = [range_of(end) if type(end) is Count else None for end in ends]
    if any([type(concrete(end)) is int and found is None for end, found in zip(ends, ranges, strict=True)]):
        return None
    outcomes = [bool(step.params["expected"]) for step in guards]
    asked = [Traced(step.params["expected"], capture, step.args[0]) for step in guards]
    truths = [_as_truth(a if a.value else np.logical_not(a)) for a in asked]
    capture.program.steps = [step for step in capture.program.steps if step.primitive is not GUARD]
    body = finished(capture, [*ends, x])
    types = [body.program.types[n] for n in body.program.inputs[len(body.hoisted) :]]
    if types != [body.program.types[o] for o in body.program.outputs]:
        return None
    capture.program.steps = _needed(capture.program.steps, [t.node for t in truths])
    of_guards = finished(capture, truths)
    if any([may_fail(of_guards.program, step) for step in of_guards.program.steps]):
        return None  # it would be taken in the last round as well, which may end before
    return Way(body, of_guards, outcomes, ranges)


def finished_loop(under_way: Round) -> tuple[bool, int]:
    """Take the other rounds: the outcome of the test that Python goes on from, and how many there were."""
    start, carried, ways = under_way.start, under_way.carried, under_way.ways
    body = ways[0].body
    types = [body.program.types[n] for n in body.program.inputs[len(body.hoisted) :]]
    hulls = [_hull(old, [way.ends[k] for way in ways]) for k, old in enumerate(under_way.first)]
    carry = [as_type(v, t) for v, t in zip([*under_way.first, start.tested], types, strict=True)]
    samples = [as_type(np.ones(t.shape, t.dtype)[()], t) for t in types]
    needed: list[bool] = []

    def ask(*given: Value) -> list[Value]:
        same = _as_truth(given[-1] if start.outcome else np.logical_not(given[-1]))
        known = [replay(way.guards.program, [*way.guards.hoisted, *given]) for way in ways]
        conditions = [c for x, hull in zip(given, hulls, strict=False) for c in _in_range(x, hull)]
        _, condition = _chosen(ways, known, list(range(len(ways))), 0)
        conditions += [] if condition is None else [condition]
        needed.append(bool(conditions))
        return [functools.reduce(np.logical_and, conditions, same)]

    def step(*given: Value) -> list[Value]:
        known = [replay(way.guards.program, [*way.guards.hoisted, *given]) for way in ways]
        index, _ = _chosen(ways, known, list(range(len(ways))), 0)
        return list(cond.apply(index, [way.body for way in ways], given))

    asked = captured(ask, samples)
    if len(ways) > 1:
        body = captured(step, samples)
    under_way.leave()
    *found, tested, count = apply(asked, body, WhileOperands((), (), tuple(carry)))
    slots = start.variables.slots
    values = [slot.x for slot in slots]
    for k, new, kind, hull in zip(carried, found, types, hulls, strict=False):
        after = _outside(under_way, under_way.inside.slots[k].x, new, kind, hull)
        if k in under_way.updated:
            _become(slots[k].x, after)
        else:
            values[k] = after
    start.scope.put([values[j] for j in start.variables.sharing()])
    outcome = bool(under_way.outer.decided(decidable(tested))) if needed[-1] else not start.outcome
    return outcome, int(concrete(count))


def _chosen(ways: list[Way], known: list[Any], among: list[int], k: int) -> tuple[Any, Any]:
    """Which of these ways is taken, and whether one is; None if one is in any case. They are alike before guard `k`."""
    first = among[0]
    if k == len(ways[first].outcomes):
        return np.int64(first), None
    here, there = [[w for w in among if (ways[w].outcomes[k] == ways[first].outcomes[k]) is same] for same in (True, False)]
    index, condition = _chosen(ways, known, here, k + 1)
    truth = known[first][k]
    if not there:
        return index, truth if condition is None else np.logical_and(truth, condition)
    other, otherwise = _chosen(ways, known, there, k + 1)
    index = np.where(truth, index, other)
    if condition is None and otherwise is None:
        return index, None
    either = [np.True_ if c is None else c for c in (condition, otherwise)]
    return index, np.where(truth, *either)


def _in_range(x: Value, hull: Range | None) -> list[Value]:
    """That one of Python's integers is where a round takes it to be."""
    if hull is None or type(concrete(x)) is not int:
        return []
    number = constant_astype(x, dtype=np.dtype(np.int64))
    found = [np.less_equal(number, np.int64(RANGE[1]))] if hull[1] > RANGE[1] else []
    return [*found, np.greater_equal(number, np.int64(RANGE[0]))] if hull[0] < RANGE[0] else found


def _hull(old: Any, ends: list[Range | None]) -> Range | None:
    """All that one of Python's integers can be after the loop; None for anything else."""
    bounds = [end for end in ends if end is not None]
    if not bounds:
        return None
    bounds.append(range_of(Count(old.value, old.traced_by, old.node) if isinstance(old, Traced) else old))
    return min([low for low, _ in bounds]), max([high for _, high in bounds])


def _outside(under_way: Round, x: Traced, new: Any, kind: Type, hull: Range | None) -> Traced:
    """What stands for a value after the loop."""
    if type(x) is Count:
        return made(under_way.outer, decidable(new), TRUTH if hull is None else hull, ())  # type: ignore[no-any-return]
    if kind.weak:
        new = item(new) if type(example(new)) not in PYTHON else new
        made_by_python(new)
    if not isinstance(new, Traced) or type_of(_plain(new)) != kind:
        under_way.refuse()
    return Number(new.value, new.traced_by, new.node) if type(x) is Number and new.traced_by.is_capture else new


def _comes_back(under_way: Round, now: FrameVariables) -> bool:
    """Whether a captured round ends with the variables that it began with, but for those that are carried."""
    inside, capture, start = under_way.inside, under_way.capture, under_way.start
    if effects_so_far() != start.effects or not now.is_like(inside):
        return False
    sharing, updated = inside.sharing(), set()
    for k, (before, after) in enumerate(zip(inside.slots, now.slots, strict=True)):
        if sharing[k] not in under_way.carried:
            if not after.is_still(before):
                return False
        elif sharing[k] in under_way.updated:
            updated.add(id(before.x))
            if after.x is not before.x:
                return False
        elif type(after.x) not in (Traced, Number, Count) or not before.is_still(_as_slot(before.x)):
            return False
        elif not start.variables.slots[k].is_handle and after.trace is not capture:
            return False
    for x, trace in (LOCAL.updates or [])[under_way.updates :]:
        is_new = trace.level >= capture.level or (not trace.level and id(x) not in start.variables.seen)
        if not is_new and id(x) not in updated:
            return False
    return True


def _as_slot(x: Traced) -> Slot:
    return Slot(x, x.value, x.traced_by, x.node)


def _as_truth(x: Value) -> Any:
    """One of Python's truth values as NumPy's."""
    return constant_astype(x.current() if isinstance(x, Number) else x, dtype=np.dtype(bool))


def _needed(steps: list[Step], numbers: list[int]) -> list[Step]:
    """The steps that lead to values; those that may raise are taken in the round, if it is taken."""
    needed, found = {*numbers}, []
    for step in reversed(steps):
        if not needed.isdisjoint(step.outs):
            needed.update(step.args)
            found.append(step)
    return found[::-1]
