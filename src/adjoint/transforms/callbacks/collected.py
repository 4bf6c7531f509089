"""What the functions given to a solver collect, if it is read afterwards: plain numbers, which nothing follows."""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...core.errors import ImpureError, message
from ...core.frames.whose import Owner, owner_of
from ...core.traced import Traced
from .reach import Reach, content_of

COUNTS = (bool, int)


class Collected:
    """The variables and containers behind a solver's arguments, as they are before it runs."""

    def __init__(self, reach: Reach, values: Sequence[Any]) -> None:
        self.counts = any(map(_runs_again, values))
        """Whether counts matter too: a derivative may take them for constants, a program or a batch may not."""
        self._held = [(x, _content(x)) for x in reach.objects.values() if issubclass(type(x), HOLDERS)]
        self._handles, self._given = reach.handles, list[tuple[int, Any, Any]]()

    def given(self, values: Sequence[Any]) -> None:
        """Remember the arrays that a run is given in the place of handles."""
        self._given = [(id(h), v, _content(v)) for h, v in zip(self._handles, values, strict=True) if type(v) is ARRAY]

    def refuse_if_read(self, name: str) -> None:
        """Refuse a function that goes on with what was collected."""
        changed = {number for number, x, before in self._given if any(map(_differ, before, _content(x)))}
        variables: set[str] = set()
        for x, before in self._held:
            now = _content(x)
            if isinstance(x, types.FunctionType):
                pairs = zip(x.__code__.co_freevars, before, now, strict=True)
                variables.update([n for n, a, b in pairs if a is not b and (self.counts or not isinstance(b, COUNTS))])
            elif len(before) != len(now) or any(map(_differ, before, now)):
                changed.add(id(x))
        if not (changed or variables):
            return
        for frame in _frames():
            for variable in _read_later(frame):
                held = frame.f_locals.get(variable)
                if variable in variables or not changed.isdisjoint(Reach(held).objects):
                    raise ImpureError(
                        message(
                            f"What a function given to {name} changes is used after the call, through"
                            f"  {variable}:  nothing follows it there.",
                            fix="Compute what is needed from the solver's result, which counts evaluations too;\n"
                            "  what is collected to be looked at belongs outside, and is read there.",
                        )
                    )


ARRAY = np.ndarray  # and no traced one
HOLDERS = (types.FunctionType, list, dict, ARRAY)


def _content(x: Any) -> list[Any]:
    """What a container holds, or the variables of a function; of an array its bytes."""
    if isinstance(x, types.FunctionType):
        return list(map(content_of, x.__closure__ or ()))
    if isinstance(x, Traced):
        return []
    if isinstance(x, ARRAY):
        return [x.tobytes()] if x.flags.writeable and x.size <= SMALL and x.dtype != object else []
    return [*dict.keys(x), *dict.values(x)] if isinstance(x, dict) else list(x)


def _differ(a: Any, b: Any) -> bool:
    """Whether a container holds something else now."""
    return a is not b and not (isinstance(a, bytes) and isinstance(b, bytes) and a == b)


SMALL = 1000
"""How many elements an array has at most that is looked at: what is collected is in small ones."""


def _runs_again(x: Any) -> bool:
    """Whether a value is one of a program or a batch."""
    while isinstance(x, Traced):
        if x.traced_by.is_capture or x.traced_by.lead:
            return True
        x = x.value
    return False


def _frames() -> Iterator[types.FrameType]:
    """The calls of the user's functions that lead here, from where tracing began."""
    frame: types.FrameType | None = sys._getframe(1)
    found = False
    while frame is not None:
        owner = owner_of(frame.f_globals)
        if owner is Owner.USER:
            found = True
            yield frame
        elif found and owner is Owner.OURS:
            return
        frame = frame.f_back


def _read_later(frame: types.FrameType) -> set[str]:
    """The local variables that a call may still read, in the next round of a loop too."""
    code, here = frame.f_code, frame.f_lasti
    steps = list(dis.get_instructions(code))
    jumps = [s for s in steps if s.offset > here and "JUMP_BACKWARD" in s.opname and s.argval <= here]
    start = min([s.argval for s in jumps], default=here + 1)
    found = {n for s in steps if s.offset > here for n in _names(s, code)[0]}
    past = [s for s in steps if s.offset <= here]
    line = past[-1].positions and past[-1].positions.lineno
    loaded = [n for s in past if s.positions and s.positions.lineno == line for n in _names(s, code)[0]]
    found.update([n for n in loaded if loaded.count(n) > 1])  # as f in  f(brentq(f, 0, 1)),  which waits on the stack
    written: set[str] = set()
    for step in past:
        if start <= step.offset:
            read, stored = _names(step, code)
            found.update(read - written)
            written |= stored
    return found


def _names(step: dis.Instruction, code: types.CodeType) -> tuple[set[str], set[str]]:
    """The local variables that an instruction reads, and those that it sets."""
    kind, names = step.opname, step.argval if isinstance(step.argval, tuple) else (step.argval,)
    if kind == "STORE_FAST_LOAD_FAST":
        return {names[1]}, {names[0]}
    if kind.startswith(("STORE_FAST", "STORE_DEREF")):
        return set(), set(names)
    if kind.startswith("LOAD_DEREF"):
        return set(names), set()
    if kind.startswith("LOAD_FAST"):  # of a variable of inner functions it makes a closure
        return set(names) - set(code.co_cellvars) - set(code.co_freevars), set()
    return set(), set()
