"""One round of a loop of Python's, captured on its own: what is carried from round to round, and when it is all right.

A test in it that has both ways lead back to the start is taken both ways: Python goes through the round once more, from
the same variables, as if the test came out differently. All ways together are the body of the loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from ...capture.recording.variables import FrameScope, FrameVariables, Slot
from ...core.errors import user_line
from ...core.traced import LOCAL, Traced, concrete, is_python
from ...core.values import Value, dtype_of
from ...ir.capture import CaptureTrace, GuardRefusedError, Tests, example
from ...ir.counts import USUAL, Count, Number, Range
from ...ir.program import GUARD, Step
from ..loops.capture import as_numpy_scalar

if TYPE_CHECKING:
    from .loop_paths import Way

Place = tuple[CodeType, int]
RANGE: Range = (-USUAL, USUAL)
"""Within this Python's integers may be from round to round; where one is not, the loop is over."""


MOST_FORCED = 64
"""Decisions in a round after one that is taken to come out differently: there may be no end to them."""


class Visit(NamedTuple):
    """A truth test, and what there was at the time."""

    frame: FrameType
    place: Place
    scope: FrameScope
    variables: FrameVariables
    outcome: bool
    tested: Any
    """The plain value that was tested."""
    effects: int
    """How many effects there had been."""
    decisions: int
    """How many decisions there had been."""


class RoundTest(NamedTuple):
    """A test in a round."""

    place: Place
    outcome: bool
    can_differ: bool
    """Whether the round comes to its end if it comes out differently."""


@dataclass(slots=True)
class Round:
    """A round that is being captured."""

    start: Visit
    around: list[CaptureTrace]
    """The programs around it, the innermost last: that of the loop."""
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
    sizes: list[int] = field(default_factory=list)
    """How many steps the programs around it had."""
    script: list[bool] = field(default_factory=list)
    """How the first tests are to come out, this time."""
    decisions: list[RoundTest] = field(default_factory=list)
    known: dict[int, bool] = field(default_factory=dict)
    """The outcomes by the numbers of what was tested."""
    ways: list[Way] = field(default_factory=list)
    waiting: list[list[bool]] = field(default_factory=list)
    """Scripts of further ways."""

    @property
    def outer(self) -> CaptureTrace:
        """The program that the loop is a step of."""
        return self.around[-1]

    def refuse(self) -> NoReturn:
        """Give up: it is not what it seemed."""
        self.capture.assumptions.are_refused = True  # also if the function catches this
        raise GuardRefusedError

    def enter(self, script: list[bool]) -> None:
        """From here on what is carried belongs to the program of a round."""
        slots, sharing = self.start.variables.slots, self.start.variables.sharing()
        self.capture = capture = CaptureTrace(lift=True)
        capture.surroundings.root, capture.loops = self.outer.surroundings.root, self.loops
        self.script, self.decisions, self.known = script, [], {}
        self.first = [Traced(*slots[k][1:]) if slots[k].is_handle else slots[k].x for k in self.carried]
        values = [slot.x for slot in slots]
        for k, old in zip(self.carried, self.first, strict=True):
            handle = _inside(capture, values[k], old)
            if k in self.updated:
                handle.value = np.copy(handle.value)  # by which views of it see that it is another one
                become(values[k], handle)  # whoever has it sees that
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
        self.sizes = [len(program.program.steps) for program in self.around]

    def leave(self) -> None:
        """Let the variables be as they were."""
        slots = self.start.variables.slots
        for k, old in zip(self.carried, self.first, strict=True):
            if k in self.updated:
                become(slots[k].x, old)
        self.start.scope.put([slot.x for slot in slots])
        self.capture.end()

    def decide(self, x: Traced, frame: FrameType, place: Place) -> tuple[bool, bool]:
        """The outcome of a test, which is known before or by its value, and whether there might be another one."""
        capture, k = self.capture, len(self.decisions)
        number, value = capture.number_of(x)
        if number in self.known or number in capture.program.constants:
            return self.known.get(number, bool(value)), False
        if type(value) not in (bool, np.bool_):
            return bool(capture.decided(x)), False
        wanted = self.script[k] if k < len(self.script) else self.usual.get((frame, place), bool(value))
        self.known[number] = wanted
        capture.program.append(Step(GUARD, (number,), {"expected": type(value)(wanted)}, (), user_line()))
        if LOCAL.forced:
            capture.count_forced()
        elif bool(value) != wanted:
            LOCAL.forced = MOST_FORCED
        return wanted, True


def begun(last: Visit, now: Visit, around: list[CaptureTrace], loops: Tests, usual: Any) -> Round | None:
    """A round with all that has changed since the last visit; None if there cannot be one."""
    slots, sharing = now.variables.slots, now.variables.sharing()
    changed = [k for k, slot in enumerate(slots) if not slot.is_still(last.variables.slots[k])]
    carried = [k for k in changed if sharing[k] == k]
    if not carried or not all([is_carriable(slots[k], around[-1]) for k in carried]):
        return None
    updated = frozenset([k for k in carried if slots[k].is_handle and slots[k].x is last.variables.slots[k].x])
    found = Round(now, around, loops, updated, usual, carried)
    found.enter([])
    return found


def is_carriable(slot: Slot, capture: CaptureTrace) -> bool:
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
    plain = plain_of(old)
    if type(plain) is int or (type(plain) is bool and type(x) in (bool, Count)):
        count = capture.count(plain)
        if type(plain) is int:
            capture.integers.ranges[count.node] = RANGE
        return count
    handle = capture.input(plain)
    return Number(plain, capture, handle.node) if type(x) in (float, Number) else handle


def plain_of(x: Any) -> Value:
    """The value of a handle, as Python's number or as NumPy's."""
    return example(x) if is_python(x) else as_numpy_scalar(example(x))


def become(x: Traced, other: Traced) -> None:
    """Let a handle stand for what another one stands for, without saying so."""
    x.value, x.traced_by, x.node = other.value, other.traced_by, other.node
