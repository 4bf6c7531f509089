"""Branches of Python's in a recording: an `if` of which both sides are known becomes a `cond`.

A function of the user's that is called in a recording, by `jit` itself or by a derivative, is captured on its own, with
a note at each truth test of how Python goes on from there. What other recordings have found is added (`ways.py`), and
the steps of the whole are taken through the traces around it, as if the function had been written with `ad.cond`.

At a test, each handle among the variables gets a value of its own in the program, and handles that two variables share
become two. So the steps that follow tell which variable they read, and a step that reads anything else shows that the
variables are not all there is. A variable that is one float of Python's after one side and another after the other
becomes a handle, too.

Tests in a loop that may end at any time, or that is long, are left to `python_loops.py`: all rounds are one there.
"""

from __future__ import annotations

import sys
import threading
from types import FrameType, FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np

from ...capture.recording.continuation import (
    Continuation,
    FrameState,
    continuation_of,
    handles_behind,
    result_of,
    standing,
)
from ...core.traced import CONSTANTS, LOCAL, PYTHON, Traced, snapshot
from ...core.tree import flatten
from ...core.values import decidable, dtype_of
from ...host.frames.ownership import Owner, owner_of
from ...host.frames.variables import instruction_of, set_variables, variables_in
from ...ir.arithmetic import Pythons
from ...ir.capture import CaptureTrace, Tests, example
from ...ir.conditions import Checked
from ...ir.counts import Number
from ...ir.effects import noted
from ...ir.interpret import holds
from ...ir.program import GUARD, Program, Type
from ...numpy.numbers.python_numbers import made_by_python
from ...ops.shape import item
from ..calling import run
from .if_conversion import merged
from .loop_iteration import become, plain_of
from .path_tree import Cut, NoWayError, PathTree
from .python_loops import PythonLoops

MOST_ROUNDS = 32
"""Of a `for` in which branches are found one by one; in a longer one, and in one that may end at any time, what a round
decides is left to the loop that it becomes."""


class Branches:
    """What the recordings of one function for arguments of one kind have found."""

    def __init__(self) -> None:
        self.ways = PathTree()
        self.is_refused = False
        """Whether the function is not to be cut into ways."""
        self.keeps_sharing = False
        """Whether it updates arrays in place, so that variables which share one have to go on doing so."""
        self.has_parted = self.has_updates = False
        """Whether, in any recording, variables that shared an array were parted, or an array was updated in place."""
        self.busy = threading.Lock()


class PythonBranches:
    """Sees the truth tests of one recording, and the calls of the user's functions."""

    def __init__(self, branches: Branches) -> None:
        self._branches = branches
        self._loops = PythonLoops()
        self._is_off = branches.is_refused
        self.lines: list[str] = []
        """Where there are branches of which the recording has both sides."""
        self.begin()

    def begin(self) -> None:
        """Before a function is recorded, for the first time or once more."""
        self._loops.begin()
        self._calls: list[_Call] = []
        self._has_cut = False
        self._in_vain = False

    @property
    def has_started(self) -> bool:
        """Whether something in the recording is a loop, or captured on its own: if it fails, that may be why."""
        return self._loops.has_started or self._has_cut

    @property
    def loop_lines(self) -> list[str]:
        """Where there are loops of Python's that have become one."""
        return list(dict.fromkeys(self._loops.lines))

    def end(self) -> None:
        """After that, however it ended."""
        self._loops.end()

    def iterated(self, frame: FrameType, place: int, items: range) -> Any:
        """What the `for` at this place of a frame is to take its items from."""
        return self._loops.iterated(frame, place, items)

    def failed(self) -> bool:
        """Whether the recording cannot be used; what was no loop, or could not be cut, will not be tried again."""
        if self._loops.failed():
            return True
        is_in_vain = self._in_vain or bool(self._calls)
        if is_in_vain:
            self._is_off = True
            self._branches.is_refused = not self._branches.keeps_sharing
        return is_in_vain

    def truth(self, x: Traced, frame: FrameType) -> bool:
        """The outcome of a test."""
        call = self._calls[-1] if self._calls else None
        if call is None or x.traced_by is not call.capture or self._loops.is_in_a_round:
            return self._loops.truth(x, frame)
        self._in_vain, before = True, self._in_vain  # also if the function catches what is raised here
        outcome = self._loops.truth(call.before_test(frame, x), frame)
        call.after_test(outcome)
        self._in_vain = before
        return outcome

    def alone(self) -> None:
        """The recording relies on what it has used alone, so what others have used is not to be added."""
        self._is_off = True

    def run(self, fun: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Call the recorded function on handles."""
        self.lines = []
        if self._is_off or not self._branches.busy.acquire(blocking=False):
            return run(fun, args, kwargs)
        before, LOCAL.around = LOCAL.around, self.called
        try:
            return run(self.called, (fun, args, kwargs), {})
        finally:
            LOCAL.around = before
            self._branches.busy.release()

    def called(self, fun: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """Call a function in a recording: on its own, if it is one of the user's, and what it is given can be seen."""
        if self._is_off or self._loops.is_in_a_round or not _is_users(fun):
            return fun(*args, **kwargs)
        others = handles_behind(fun)
        leaves, rebuild = flatten((args, kwargs))
        outer = _capture_under([*leaves, *others]) if others is not None else None
        if others is None or outer is None or outer.loops is not self:
            return fun(*args, **kwargs)
        self._has_cut = True
        self._calls.append(_Call(outer, self, self._loops, self._branches))
        try:
            found = self._calls[-1].run(fun, leaves, rebuild, others)
        except NoWayError:
            self._in_vain = True
            raise
        self.lines += self._calls.pop().lines
        return found


def _is_users(fun: Any) -> bool:
    fun = fun.__func__ if type(fun) is MethodType else fun
    return type(fun) is FunctionType and owner_of(fun.__globals__) is Owner.USER


def _capture_under(leaves: list[Any]) -> CaptureTrace | None:
    """The recording that traced arguments belong to, if decisions may be taken on all of them."""
    found: list[Any] = []
    for x in leaves:
        if not isinstance(x, Traced) or not x.traced_by.level:
            continue
        if type(x) not in (Traced, Number):
            return None
        inner: Any = x
        while isinstance(inner, Traced) and not inner.traced_by.is_capture:
            if inner.traced_by.lead:
                return None
            inner = inner.value
        if not isinstance(inner, Traced):
            return None
        found.append(inner.traced_by)
    outer = found[0] if found else None
    if outer is None or any([c is not outer for c in found]) or type(outer) is not CaptureTrace:
        return None
    is_free = outer.guards_allowed and not outer.plain_truths and not outer.origins and outer.hopes is None
    return outer if is_free and not outer.is_made_up and outer.conditions() is None else None


class _Result(NamedTuple):
    """A leaf of a result that a program computes."""

    place: int
    kind: Type


class _Call:
    """A call that is captured on its own."""

    def __init__(self, outer: CaptureTrace, tests: Tests, loops: PythonLoops, branches: Branches) -> None:
        self.outer = outer
        self.loops = loops
        self.branches = branches
        self.capture = CaptureTrace(lift=True)
        self.capture.root, self.capture.loops = outer.root, tests
        self.marks: list[Cut] = []
        self.waiting: tuple[int, Continuation, list[int], list[int]] | None = None
        self.root = sys._getframe()
        self.has_parted = False
        """Whether variables that shared an array have one each."""
        self.lines: list[str] = []
        """Of the branches that have both sides."""

    def run(self, fun: Any, leaves: list[Any], rebuild: Any, others: list[Traced]) -> Any:
        """The result of the call, through the traces around it; other handles are behind the function."""
        capture, outer = self.capture, self.outer
        captured = {id(handle) for handle in outer.lifted}
        others = [x for x in others if id(x) not in captured]
        inputs = [snapshot(x) for x in [*leaves, *others] if _is_handle(x)]
        inside = [_as(x, capture.input(plain_of(x))) if _is_handle(x) else x for x in leaves]
        lent = [(x, snapshot(x)) for x in [*others, *outer.lifted]]
        arrays = {id(x.value): snapshot(x) for x in outer.lifted}
        for x in others:
            become(x, capture.input(plain_of(x)))
        for x in outer.lifted:
            x.traced_by, x.node = capture, capture.captured(x.value).node
        capture.lifted = outer.lifted
        try:
            program, result, restore = self._captured(fun, inside, rebuild, others)
        finally:
            for x, before in lent:
                become(x, before)
            capture.end()
        found = _taken(program, inputs, arrays)
        return restore([_of_kind(found[x.place], x.kind) if type(x) is _Result else x for x in result])

    def _captured(
        self, fun: Any, inside: list[Any], rebuild: Any, others: list[Traced]
    ) -> tuple[Program, list[Any], Any]:
        """The program of the call, and its result, in which the program's results are named."""
        capture, outer, branches = self.capture, self.outer, self.branches
        size = len(outer.program.steps)
        given = [x.node for x in [*inside, *others] if _is_handle(x)]
        args, kwargs = rebuild(inside)
        start = result_of((fun, args, kwargs), capture)
        handles = [x for x in [*inside, *others, *outer.lifted] if _is_handle(x)]
        values = [x.value for x in handles]
        first = Cut(-1, start, (), [h.node for h in start.handles]) if start else None
        known = LOCAL.updates
        LOCAL.updates = updates = [] if known is None else known
        before = len(updates)
        with noted(capture) as effects:
            outputs, restore = flatten(self._called(fun, args, kwargs))
        LOCAL.updates = known
        outputs = [x.copy() if type(x) is np.ndarray else x for x in map(snapshot, outputs)]
        end = result_of(restore(outputs), capture)
        if first is None or end is None or effects or len(outer.program.steps) != size or self._is_impure():
            raise NoWayError
        if any([x.value is not value for x, value in zip(handles, values, strict=True)]):  # changed in place
            raise NoWayError
        branches.has_parted |= self.has_parted
        branches.has_updates |= len(updates) > before
        if branches.has_parted and branches.has_updates and not branches.keeps_sharing:
            branches.keeps_sharing, branches.ways = True, PathTree()
            raise NoWayError
        capture.settle()
        made = [h.node for h in end.handles]
        last = Cut(len(capture.program.steps), end, made, made)
        if sorted(first.given) != sorted(given):
            raise NoWayError
        program, self.lines = merged(branches.ways.noted(capture.program, [first, *self.marks, last]))
        program.inputs = [program.inputs[first.given.index(n)] for n in given]
        types = capture.program.types
        places = {n: _Result(k, types[n]) for k, n in enumerate(made)}
        return program, [places[x.node] if _is_handle(x) else x for x in outputs], restore

    def _called(self, fun: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        self.root = sys._getframe()
        return fun(*args, **kwargs)

    def _is_impure(self) -> bool:
        """Whether something was met that is left to recordings as a whole."""
        capture = self.capture
        if capture.unguarded or capture.refused or capture.has_truth_as_index or capture.foreign:
            return True
        return any([isinstance(step.primitive, (Checked, Pythons)) for step in capture.program.steps])

    def before_test(self, frame: FrameType, x: Traced) -> Traced:
        """Take note of how Python goes on from a test, and let each variable have a value of its own."""
        self.waiting = None
        program = self.capture.program
        if dtype_of(x).kind != "b" or x.node in program.constants:
            return x
        frames = standing(frame, self.root, self.loops.iterating)
        if frames is None or any([here.is_open or here.rounds > MOST_ROUNDS for here in frames]):
            return x
        x = Traced(x.value, x.traced_by, x.node)
        self._part(frames)
        found = continuation_of(frames, x)
        if found is None:
            return x
        self.loops.forget()
        made = [*[h.node for h in found.handles], x.node]
        for h in found.handles:
            h.node = program.new(program.types[h.node])
        self.waiting = len(program.steps), found, made, [h.node for h in found.handles]
        return x

    def after_test(self, outcome: bool) -> None:
        """Take note of the outcome of a test."""
        if self.waiting is not None:
            at, found, made, given = self.waiting
            step = self.capture.program.steps[at]
            assert step.primitive is GUARD
            assert step.args == (made[-1],)
            self.marks.append(Cut(at, found, made, given, bool(outcome), step.line))

    def _part(self, frames: list[FrameState]) -> None:
        """Make handles of new arrays, and of floats that differ from way to way, and one for each variable."""
        seen: set[int] = set()
        for frame, names, _, _ in frames:
            variables, new = variables_in(frame), dict[str, Any]()
            cells = {*frame.f_code.co_cellvars, *frame.f_code.co_freevars}
            for name in names:
                x = variables[name]
                if name in cells:
                    continue
                own = self._own(x, is_shared=id(x) in seen)
                seen.add(id(x))
                if type(x) is float and self.branches.ways.is_varying((*instruction_of(frame), name)):
                    own = Traced(x, self.capture, self.capture.constant(x))
                if own is not x:
                    new[name] = own
            if new:
                set_variables(frame, new)

    def _own(self, x: Any, *, is_shared: bool) -> Any:
        """What a variable is to hold instead of a value."""
        capture = self.capture
        if not issubclass(type(x), Traced):
            return x
        if type(x) is Traced and x.traced_by is CONSTANTS and type(x.value) is np.ndarray:
            x.value = x.value.copy()
            x.traced_by, x.node = capture, capture.constant(x.value)
        is_view = type(x) not in (Traced, Number)
        if x.traced_by is not capture or not (is_shared or is_view):
            return x
        if is_view or type(x.value) is np.ndarray:
            if self.branches.keeps_sharing:
                return x
            self.has_parted = True
        x = x.current() if is_view else x  # type: ignore[attr-defined]
        return (Traced if is_view else type(x))(x.value, x.traced_by, x.node)


def _is_handle(x: object) -> bool:
    return isinstance(x, Traced) and bool(x.traced_by.level)


def _as(x: Any, new: Any) -> Any:
    """A handle of the kind that another one is."""
    return Number(new.value, new.traced_by, new.node) if type(x) is Number else new


def _taken(program: Program, inputs: list[Any], arrays: dict[int, Traced]) -> list[Any]:
    """The steps of a program through the traces of its inputs; guards are those of the recording."""
    values: dict[int, Any] = {n: arrays.get(id(c), c) for n, c in program.constants.items()}
    if any([type(c) is np.ndarray and n not in program.frozen for n, c in values.items()]):
        raise NoWayError  # captured by another recording, but not by this one
    values.update(zip(program.inputs, inputs, strict=True))
    for step in program.steps:
        args = [values[a] for a in step.args]
        if step.primitive is GUARD:
            asked = decidable(args[0])
            if isinstance(asked, Traced):
                asked = asked.traced_by.decided(asked, step.line)
            if not holds(asked, step.params["expected"]):
                raise NoWayError
            continue
        out = step.primitive(*args, **step.params)
        values.update(zip(step.outs, out if step.primitive.multiple else (out,), strict=True))
    return [values[o] for o in program.outputs]


def _of_kind(x: Any, kind: Type) -> Any:
    """A result as Python's number, if it is one."""
    if kind.weak and isinstance(x, Traced):
        x = item(x) if type(example(x)) not in PYTHON else x
        made_by_python(x)
    return x
