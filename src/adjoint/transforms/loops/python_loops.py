"""Loops of Python's in a recording: a `while` whose variables come back as they were becomes a `while_loop`.

A recording sees a loop of Python's round by round, and the number of rounds is part of the path. But if the variables
of a frame at a truth test are the same as at the last test in the same place, but for the values of handles, then the
round in between is all there is to the loop: Python would do the same with other values, for as long as the test comes
out as it did. So one more round is captured as the body of a `while_loop`, which takes the remaining rounds at once,
and Python goes on from the test that ends the loop, with variables as they are then.

What may not happen in a round, so that this is right: other decisions by values, effects, updates in place, changes of
anything that can be reached from the variables (`ir/recording/variables.py`). Nothing but the variables may be on the
frame's stack (`core/frames/testing.py`). If the captured round is not what it seemed, the function is recorded once
more without this loop. The rounds that are compared are recorded as usual, hence a loop has a few paths: for no round,
for one, and so on up to those, and then one for any number.
"""

from __future__ import annotations

from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

from ...core.frames.testing import tests_in_loop
from ...core.frames.whose import is_users_code
from ...core.traced import LOCAL, PYTHON, Traced, is_python, snapshot
from ...core.values import Value, dtype_of
from ...ir.arithmetic import Pythons
from ...ir.capture import CaptureTrace, GuardRefusedError, example
from ...ir.conditions import Checked
from ...ir.counts import Number
from ...ir.effects import effects_so_far
from ...ir.loops import WhileOperands
from ...ir.program import GUARD, Type, type_of
from ...ir.recording.variables import FrameVariables, Handle, variables_of
from ...numpy.numbers.python_numbers import made_by_python
from ...ops.shape import item
from .capture import Body, as_numpy_scalar, as_type, captured, finished
from .while_loop import apply

Place = tuple[CodeType, int]


class Visit(NamedTuple):
    """A truth test, and what there was at the time."""

    frame: FrameType
    place: Place
    variables: FrameVariables
    outcome: bool
    program_size: tuple[int, int]
    """How many values and steps the program had."""
    besides: tuple[int, int]
    """How many effects and updates in place there had been."""
    since: int
    """How many values the program had at the first of the visits that are alike."""


class Round(NamedTuple):
    """A round that is being captured."""

    start: Visit
    outer: CaptureTrace
    capture: CaptureTrace
    carried: list[int]
    """The places, among the handles, of those that differ from round to round, each once."""
    first: list[Traced]
    """What these stood for."""


class PythonLoops:
    """Sees the truth tests of one recording."""

    def __init__(self) -> None:
        self._refused: set[Place] = set()
        self.begin()

    def begin(self) -> None:
        """Before a function is recorded, for the first time or once more."""
        self._last: Visit | None = None
        self._round: Round | None = None
        self.has_started = False
        """Whether this recording has captured a round: if it fails, the loop may be why."""

    @property
    def is_in_a_round(self) -> bool:
        """Whether a round is being captured."""
        return self._round is not None

    def failed(self) -> bool:
        """Whether the recording cannot be used, as a round was not what it seemed: then not to be tried again."""
        if self._round is None:
            return False
        self._refused.add(self._round.start.place)
        return True

    def truth(self, x: Traced, frame: FrameType) -> bool:
        """The outcome of a test, or that of the one which ends the loop it belongs to."""
        capture: Any = x.traced_by
        under_way = self._round
        if under_way is not None:
            start = under_way.start
            if capture is not under_way.capture or frame is not start.frame or _place(frame) != start.place:
                under_way.capture.refused = True  # also if the function catches this
                raise GuardRefusedError
            return self._finished(under_way, x)
        outcome = bool(capture.decided(x))
        self._visited(x, capture, frame, outcome)
        return outcome

    def _visited(self, x: Traced, capture: CaptureTrace, frame: FrameType, outcome: bool) -> None:
        """Look at the variables, and begin to capture a round if they are as they were the last time."""
        last, self._last = self._last, None
        place = _place(frame)
        if place in self._refused or not tests_in_loop(frame) or not is_users_code(frame):
            return
        if capture.plain_truths or dtype_of(x).kind != "b" or capture.conditions() is not None:
            return
        variables = variables_of(frame)
        if variables is None:
            return
        program = capture.program
        sizes = len(program.types), len(program.steps)
        now = self._last = Visit(frame, place, variables, outcome, sizes, _besides(), sizes[0])
        if last is None or not _is_alike(last, now, capture):
            return
        self._last = now = now._replace(since=last.since)
        carried = _carried(last, now, capture)
        if carried:
            self._round = _begun(now, capture, carried, self)
            self.has_started = True

    def _finished(self, under_way: Round, x: Traced) -> bool:
        """The body has come to its end: take the other rounds, and let the variables be what they are afterwards."""
        start, _, capture, carried, first = under_way
        now = variables_of(start.frame)
        if now is None or not _comes_back(under_way, now) or capture.refused or dtype_of(x).kind != "b":
            raise GuardRefusedError
        if any([isinstance(step.primitive, (Checked, Pythons)) for step in capture.program.steps]):
            raise GuardRefusedError
        capture.input(x.value)  # the last outcome, at which a round does not look
        ends = [now.handles[k].x for k in carried]
        body = finished(capture, [*ends, x])
        types = [body.program.types[n] for n in body.program.inputs[len(body.hoisted) :]]
        if types != [body.program.types[o] for o in body.program.outputs]:
            raise GuardRefusedError
        capture.end()
        for k, old in zip(carried, first, strict=True):
            _restore(start.variables.handles[k], old)
        carry = [*first, as_type(start.outcome, types[-1])]
        found = apply(_condition(types, start.outcome), body, WhileOperands((), (), tuple(carry)))
        for end, new, kind in zip(ends, found, types[:-1], strict=False):
            if kind.weak:
                new = item(new) if type(example(new)) not in PYTHON else new
                made_by_python(new)
            if not isinstance(new, Traced) or type_of(_plain(new)) != kind:
                raise GuardRefusedError
            end.value, end.traced_by, end.node = new.value, new.traced_by, new.node
        self._round = self._last = None
        return not start.outcome


def _place(frame: FrameType) -> Place:
    return frame.f_code, frame.f_lasti


def _besides() -> tuple[int, int]:
    return effects_so_far(), LOCAL.updates


def _is_alike(last: Visit, now: Visit, capture: CaptureTrace) -> bool:
    """Whether all but the values of handles is as at the last visit, and nothing was decided in between."""
    if last.frame is not now.frame or last.place != now.place or last.outcome != now.outcome:
        return False
    if now.besides != last.besides or not now.variables.is_like(last.variables):
        return False
    steps = capture.program.steps[last.program_size[1] : now.program_size[1] - 1]  # without this test
    return not any([step.primitive is GUARD for step in steps])


def _carried(last: Visit, now: Visit, capture: CaptureTrace) -> list[int]:
    """Which handles a round has replaced, each once; none, if one of them may be known to others."""
    sharing, found = now.variables.sharing(), []
    for k, (before, after) in enumerate(zip(last.variables.handles, now.variables.handles, strict=True)):
        if after.is_still(before):
            continue
        if after.x is before.x or not _is_carriable(after, capture, now.since):
            return []
        found += [k] if sharing[k] == k else []
    return found


def _is_carriable(handle: Handle, capture: CaptureTrace, since: int) -> bool:
    """Whether a handle is of a value that was computed in the loop: nobody else has it, but for the variables."""
    x: Any = handle.x
    if type(x) not in (Traced, Number) or dtype_of(x).kind not in ("fcb" if is_python(x) else "fciub"):
        return False  # of Python's integers the capture has to know the range
    while isinstance(x, Traced) and x.traced_by is not capture:
        if x.traced_by.lead:
            return False
        x = x.value
    return isinstance(x, Traced) and x.node >= since and x.node not in capture.origins


def _begun(start: Visit, outer: CaptureTrace, carried: list[int], loops: PythonLoops) -> Round:
    """From here on the handles that are carried belong to the program of a round."""
    capture = CaptureTrace(guards=False, lift=True)
    capture.root, capture.loops = outer.root, loops
    handles = [start.variables.handles[k].x for k in carried]
    first = [snapshot(x) for x in handles]
    for x in handles:
        inside = capture.input(_plain(x))
        x.value, x.traced_by, x.node = inside.value, inside.traced_by, inside.node
    return Round(start, outer, capture, carried, first)


def _plain(x: Traced) -> Value:
    """The value of a handle, as Python's number or as NumPy's."""
    return example(x) if is_python(x) else as_numpy_scalar(example(x))


def _restore(handle: Handle, old: Traced) -> None:
    handle.x.value, handle.x.traced_by, handle.x.node = old.value, old.traced_by, old.node


def _comes_back(under_way: Round, now: FrameVariables) -> bool:
    """Whether a captured round ends with the variables that it began with, but for those that are carried."""
    start, outer, _, carried, _ = under_way
    if _besides() != start.besides or not now.is_like(start.variables):
        return False
    if any([step.primitive is GUARD for step in outer.program.steps[start.program_size[1] :]]):
        return False
    sharing = now.sharing()
    for k, (before, after) in enumerate(zip(start.variables.handles, now.handles, strict=True)):
        if sharing[k] in carried:
            if after.x is before.x or type(after.x) not in (Traced, Number):
                return False
        elif not after.is_still(before):
            return False
    return True


def _condition(types: list[Type], outcome: bool) -> Body:
    """That the last part of the carry is as it was."""

    def ask(*carry: Value) -> list[Value]:
        return [carry[-1] if outcome else np.logical_not(carry[-1])]

    return captured(ask, [as_type(np.ones(t.shape, t.dtype)[()], t) for t in types])
