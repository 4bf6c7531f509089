"""The ways through a round of a loop of Python's: whether they come back to where they began, and the loop of them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...capture.recording.variables import FrameVariables, Slot
from ...core.traced import LOCAL, PYTHON, Traced, concrete
from ...core.values import Value, decidable, dtype_of
from ...ir.arithmetic import Pythons
from ...ir.capture import example
from ...ir.conditions import Checked
from ...ir.counts import TRUTH, Count, Number, Range
from ...ir.effects import effects_so_far
from ...ir.fold import guards_in, has_kind, leading_to, may_fail
from ...ir.interpret import replay
from ...ir.keys import key_of
from ...ir.loops import WhileOperands
from ...ir.program import GUARD, Type, type_of
from ...numpy.numbers.counts import made, range_of
from ...numpy.numbers.python_numbers import made_by_python
from ...ops.shape import constant_astype, item
from ..loops import cond
from ..loops.capture import Body, as_type, captured, finished
from ..loops.while_loop import apply
from .loop_iteration import RANGE, Round, become, is_carriable, plain_of


class Way(NamedTuple):
    """A way through a round, from its start to its end."""

    body: Body
    """What becomes of all that is carried, and of what is tested."""
    guards: list[Body]
    """For each decision, whether it comes out as it did. What leads to one may raise: then the path does not fit."""
    outcomes: list[bool]
    """How decisions came out, in the order of these guards."""
    ends: list[Range | None]
    """What the Python integers among the carried can be at the end."""


def more_carried(under_way: Round) -> list[int]:
    """What else has changed, on a way that is not the first; none if that cannot be carried."""
    now, inside = under_way.start.scope.now(), under_way.inside
    if now is None or not now.is_like(inside):
        return []
    sharing = inside.sharing()
    rows = enumerate(zip(inside.slots, now.slots, strict=True))
    found = [k for k, (before, after) in rows if sharing[k] not in under_way.carried and not after.is_still(before)]
    slots = under_way.start.variables.slots
    is_fine = all([sharing[k] == k and is_carriable(slots[k], under_way.outer) for k in found])
    return found if is_fine and all([now.slots[k].x is not slots[k].x or not slots[k].is_handle for k in found]) else []


def way_of(under_way: Round, x: Traced) -> Way | None:
    """The way that has come to its end at the test of `x`; None if it does not come back to where it began."""
    start, capture, carried = under_way.start, under_way.capture, under_way.carried
    now = start.scope.now()
    if now is None or not _comes_back(under_way, now) or capture.assumptions.are_refused or dtype_of(x).kind != "b":
        return None
    steps = capture.program.steps
    guards = guards_in(steps)
    if not all([isinstance(step.params["expected"], (bool, np.bool_)) for step in guards]):
        return None
    if has_kind(steps, Checked, Pythons) or not _is_harmless(under_way):
        return None
    ends = [now.slots[k].x for k in carried]
    ranges = [range_of(end) if type(end) is Count else None for end in ends]
    if any([type(concrete(end)) is int and found is None for end, found in zip(ends, ranges, strict=True)]):
        return None
    outcomes = [bool(step.params["expected"]) for step in guards]
    asked = [Traced(step.params["expected"], capture, step.args[0]) for step in guards]
    truths = [_as_truth(a if a.value else np.logical_not(a)) for a in asked]
    steps = [step for step in capture.program.steps if step.primitive is not GUARD]
    body = finished(capture, [*ends, x], steps)
    types = [body.program.types[n] for n in body.program.inputs[len(body.hoisted) :]]
    if types != [body.program.types[o] for o in body.program.outputs]:
        return None
    guards_of = [finished(capture, [truth], leading_to(steps, [truth.node])[0]) for truth in truths]
    return Way(body, guards_of, outcomes, ranges)


def finished_loop(under_way: Round) -> tuple[bool, int]:
    """Take the other rounds: the outcome of the test that Python goes on from, and how many there were."""
    start, carried, ways = under_way.start, under_way.carried, under_way.ways
    body = ways[0].body
    types = [body.program.types[n] for n in body.program.inputs[len(body.hoisted) :]]
    hulls = [_hull(old, [way.ends[k] for way in ways]) for k, old in enumerate(under_way.first)]
    carry = [as_type(v, t) for v, t in zip([*under_way.first, start.tested], types, strict=True)]
    samples = [as_type(plain_of(v), t) for v, t in zip(carry, types, strict=True)]
    needed: list[bool] = []
    everything = list(range(len(ways)))

    def ask(*given: Value) -> list[Value]:
        same = _as_truth(given[-1] if start.outcome else np.logical_not(given[-1]))
        conditions = [c for x, hull in zip(given, hulls, strict=False) for c in _in_range(x, hull)]
        condition = _Choice(ways, given).is_among(everything)
        conditions += [] if condition is None else [condition]
        needed.append(bool(conditions))
        return [functools.reduce(np.logical_and, conditions, same)]

    def step(*given: Value) -> list[Value]:
        return list(cond.apply(_Choice(ways, given).index(everything), [way.body for way in ways], given))

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
            become(slots[k].x, after)
        else:
            values[k] = after
    start.scope.put([values[j] for j in start.variables.sharing()])
    outcome = bool(under_way.outer.decided(decidable(tested))) if needed[-1] else not start.outcome
    return outcome, int(concrete(count))


class _Choice:
    """Which way is taken by a round that begins with given values: only the guards that tell are looked at."""

    def __init__(self, ways: list[Way], given: Sequence[Value]) -> None:
        self.ways = ways
        self.given = given

    def index(self, among: list[int], k: int = 0) -> Any:
        """The number of the way, among these, which are alike before guard `k`; one of them is taken."""
        here, there = self._parted(among, k)
        if here is there:
            return np.int64(among[0])
        if not there:
            return self.index(here, k + 1)
        return np.where(self._truth(among[0], k), self.index(here, k + 1), self.index(there, k + 1))

    def is_among(self, among: list[int], k: int = 0) -> Any:
        """Whether one of these ways is taken; None if one is in any case."""
        here, there = self._parted(among, k)
        if here is there:
            return None
        either = [self.is_among(part, k + 1) if part else np.False_ for part in (here, there)]
        inside, outside = [np.True_ if c is None else c for c in either]
        if inside is outside is np.True_:
            return None
        truth = self._truth(among[0], k)
        return np.where(truth, inside, outside) if there else np.logical_and(truth, inside)

    def _parted(self, among: list[int], k: int) -> tuple[list[int], list[int]]:
        """The ways that decide as the first one does at guard `k`, and the others; twice the same after the last."""
        outcomes = [self.ways[w].outcomes for w in among]
        if k == len(outcomes[0]):
            return among, among
        same = [w for w, o in zip(among, outcomes, strict=True) if o[k] == outcomes[0][k]]
        return same, [w for w in among if w not in same]

    def _truth(self, way: int, k: int) -> Any:
        guard = self.ways[way].guards[k]
        return replay(guard.program, [*guard.hoisted, *self.given])[0]


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
    if not isinstance(new, Traced) or type_of(plain_of(new)) != kind:
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
            return False  # it is no handle, or that of the start was updated, which others may have
        elif not (start.variables.slots[k].is_handle or after.trace is capture):
            return False  # a number that is another one for no reason that is seen
    for x, trace in (LOCAL.updates or [])[under_way.updates :]:
        is_new = trace.level >= capture.level or (not trace.level and id(x) not in start.variables.seen)
        if not is_new and id(x) not in updated:
            return False
    return True


def _is_harmless(under_way: Round) -> bool:
    """Whether what a round has left in the programs around it cannot raise: it is taken whatever a loop decides."""
    for capture, size in zip(under_way.around, under_way.sizes, strict=True):
        program = capture.program
        for step in program.steps[size:]:
            if step.primitive is GUARD or not may_fail(program, step):
                continue
            key = step.primitive, step.args, key_of(step.params)
            if not any([key == (s.primitive, s.args, key_of(s.params)) for s in program.steps[:size]]):
                return False  # it has not been taken before
    return True


def _as_slot(x: Traced) -> Slot:
    return Slot(x, x.value, x.traced_by, x.node)


def _as_truth(x: Value) -> Any:
    """One of Python's truth values as NumPy's."""
    return constant_astype(x.current() if isinstance(x, Number) else x, dtype=np.dtype(bool))
