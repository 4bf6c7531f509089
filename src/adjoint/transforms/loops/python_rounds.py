"""One round of a loop of Python's, captured on its own: what is carried from round to round, and when it is all right."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ...core.errors import user_line
from ...core.traced import LOCAL, PYTHON, Traced, concrete, is_python, snapshot
from ...core.values import Value, decidable, dtype_of
from ...ir.arithmetic import Pythons
from ...ir.capture import CaptureTrace, GuardRefusedError, Tests, example
from ...ir.conditions import Checked
from ...ir.counts import USUAL, WORD, Count, Number, Range
from ...ir.effects import effects_so_far
from ...ir.failures import may_fail
from ...ir.loops import WhileOperands
from ...ir.program import GUARD, Failure, Step, Type, type_of
from ...ir.recording.variables import FrameVariables, Slot, Variables
from ...numpy.numbers.counts import made, range_of
from ...numpy.numbers.python_numbers import made_by_python
from ...ops.shape import constant_astype, item
from .capture import Body, as_numpy_scalar, as_type, finished
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
    effects: int
    """How many effects there had been."""
    decisions: int
    """How many decisions there had been."""


@dataclass(slots=True)
class Round:
    """A round that is being captured."""

    start: Visit
    outer: CaptureTrace
    capture: CaptureTrace
    carried: list[int]
    """The places, among the slots, of those that differ from round to round, each once."""
    first: list[Value]
    """What these stood for."""
    inside: FrameVariables
    """The variables when it began."""
    tested: Traced
    """What was tested last."""
    updates: int
    """How many updates in place there had been."""
    expected: dict[tuple[FrameType, Place], bool] = field(default_factory=dict)
    """Outcomes of tests as they are in all rounds but the last."""

    def refuse(self) -> NoReturn:
        """Give up: it is not what it seemed."""
        self.capture.refused = True  # also if the function catches this
        raise GuardRefusedError


def begun(last: Visit, now: Visit, outer: CaptureTrace, x: Traced, loops: Tests) -> Round | None:
    """From here on what has changed since the last visit belongs to the program of a round; None if it cannot."""
    slots, sharing = now.variables.slots, now.variables.sharing()
    changed = [k for k, slot in enumerate(slots) if not slot.is_still(last.variables.slots[k])]
    carried = [k for k in changed if sharing[k] == k]
    if not carried or not all([_is_carriable(slots[k], outer) for k in carried]):
        return None
    capture = CaptureTrace(lift=True)
    capture.root, capture.loops = outer.root, loops
    first = [snapshot(slots[k].x) for k in carried]
    values = [slot.x for slot in slots]
    for k in carried:
        handle = _inside(capture, values[k])
        if values[k] is last.variables.slots[k].x and slots[k].is_handle:
            _become(values[k], handle)  # updated in place: whoever has it sees that
        else:
            values[k] = handle
    now.scope.put([values[j] for j in sharing])
    inside = now.scope.now()
    assert inside is not None
    if LOCAL.updates is None:
        LOCAL.updates = []
    return Round(now, outer, capture, carried, first, inside, capture.input(x.value), len(LOCAL.updates))


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


def _inside(capture: CaptureTrace, x: Any) -> Traced:
    """What stands for a value in a round."""
    plain = _plain(x)
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


def expect(capture: CaptureTrace, x: Traced, outcome: bool) -> None:
    """Go on as if a test came out so; a guard says that it has to."""
    number, value = capture.number_of(x)
    capture.program.steps.append(Step(GUARD, (number,), {"expected": type(value)(outcome)}, (), user_line()))


def finished_loop(under_way: Round, x: Traced) -> tuple[bool, int]:
    """Take the other rounds: the outcome of the test that Python goes on from, and how many there were."""
    start, capture, carried = under_way.start, under_way.capture, under_way.carried
    now = start.scope.now()
    if now is None or not _comes_back(under_way, now) or capture.refused or dtype_of(x).kind != "b":
        under_way.refuse()
    steps = capture.program.steps
    if any([isinstance(step.primitive, (Checked, Pythons)) for step in steps]):
        under_way.refuse()
    ends = [now.slots[k].x for k in carried]
    conditions = [*_guards(under_way), *_ranges(under_way, ends)]
    same = _as_truth(under_way.tested if start.outcome else np.logical_not(under_way.tested))
    for condition in conditions:
        same = np.logical_and(same, _as_truth(condition))
    capture.program.steps = [step for step in capture.program.steps if step.primitive is not GUARD]
    body = finished(capture, [*ends, x])
    capture.program.steps = _needed(capture.program.steps, same.node)
    cond = finished(capture, [same])
    types = [body.program.types[n] for n in body.program.inputs[len(body.hoisted) :]]
    if types != [body.program.types[o] for o in body.program.outputs]:
        under_way.refuse()
    if any([may_fail(cond.program, step) for step in cond.program.steps]):
        under_way.refuse()  # it would be taken in the last round as well, which may end before
    hulls = [_hull(old, end) for old, end in zip(under_way.first, ends, strict=True)]
    return _taken(under_way, cond, body, types, hulls, bool(conditions))


def _taken(
    under_way: Round, cond: Body, body: Body, types: list[Type], hulls: list[Range], may_go_on: bool
) -> tuple[bool, int]:
    start, carried = under_way.start, under_way.carried
    inside = under_way.inside.slots
    for k, old in zip(carried, under_way.first, strict=True):
        if inside[k].x is start.variables.slots[k].x:
            _become(inside[k].x, old)
    carry = [as_type(v, t) for v, t in zip([*under_way.first, start.outcome], types, strict=True)]
    *found, tested, count = apply(cond, body, WhileOperands((), (), tuple(carry)))
    values = [slot.x for slot in inside]
    for k, new, kind, hull in zip(carried, found, types, hulls, strict=False):
        after = _outside(under_way, inside[k].x, new, kind, hull)
        if inside[k].x is start.variables.slots[k].x:
            _become(inside[k].x, after)
        else:
            values[k] = after
    start.scope.put([values[j] for j in under_way.inside.sharing()])
    under_way.capture.end()
    outcome = bool(under_way.outer.decided(decidable(tested))) if may_go_on else not start.outcome
    return outcome, int(concrete(count))


def _outside(under_way: Round, x: Traced, new: Any, kind: Type, hull: Range) -> Traced:
    """What stands for a value after the loop."""
    if type(x) is Count:
        return made(under_way.outer, decidable(new), hull, ())  # type: ignore[no-any-return]
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
        was = start.variables.slots[k]
        if sharing[k] not in under_way.carried:
            if not after.is_still(before):
                return False
        elif before.x is was.x:
            updated.add(id(before.x))
            if after.x is not before.x:
                return False
        elif type(after.x) not in (Traced, Number, Count) or not before.is_still(_as_slot(before.x)):
            return False
        elif not was.is_handle and after.trace is not capture:
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


def _needed(steps: list[Step], number: int) -> list[Step]:
    """The steps that lead to a value; those that may raise are taken in the round, if it is taken."""
    needed, found = {number}, []
    for step in reversed(steps):
        if not needed.isdisjoint(step.outs):
            needed.update(step.args)
            found.append(step)
    return found[::-1]


def _guards(under_way: Round) -> list[Value]:
    """The decisions of a round, as truth values that say whether they come out as they did."""
    capture, found = under_way.capture, []
    for step in capture.program.steps:
        if step.primitive is not GUARD:
            continue
        expected = step.params["expected"]
        if isinstance(expected, Failure) or not isinstance(expected, (bool, np.bool_)):
            under_way.refuse()
        asked = Traced(expected, capture, step.args[0])
        found.append(asked if expected else np.logical_not(asked))
    return found


def _ranges(under_way: Round, ends: list[Any]) -> list[Value]:
    """That Python's integers are where a round takes them to be."""
    found: list[Value] = []
    for k, old, end in zip(under_way.carried, under_way.first, ends, strict=True):
        x = under_way.inside.slots[k].x
        if type(x) is not Count or type(x.value) is bool:
            continue
        if type(end) is not Count:
            under_way.refuse()
        low, high = _hull(old, end)
        x = Count(x.value, under_way.capture, x.node)
        low_enough = x <= RANGE[1] if high > RANGE[1] else None
        found += [c for c in (low_enough, x >= RANGE[0] if low < RANGE[0] else None) if c is not None]
    return found


def _hull(old: Any, end: Any) -> Range:
    """All that one of Python's integers can be after the loop."""
    if type(end) is not Count:
        return WORD
    bounds = [range_of(Count(old.value, old.traced_by, old.node) if isinstance(old, Traced) else old), range_of(end)]
    return min([low for low, _ in bounds]), max([high for _, high in bounds])
