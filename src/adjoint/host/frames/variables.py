"""The variables of frames that are under way, and where each of them stands: read, looked up, set."""

from __future__ import annotations

import builtins
import ctypes
from collections.abc import Mapping
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

from ..code.versions import VARIABLES_ARE_A_COPY

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ..records import NamedTuple

ITERATION_PATCH = {
    "what": "local variables of the user's functions under way: handles in the place of numbers and arrays while one "
    "iteration of a loop is recorded for all, and what they are after the loop "
    "(`transforms/control/loop_iteration.py`)",
    "when": "while `jit` records",
    "why": "one recording for any number of iterations",
    "undone": "when the iteration has been recorded",
}
BRANCH_PATCH = {
    "what": "local variables of the user's functions, at truth tests: two that hold one handle get one each, a float "
    "that differs from side to side becomes a handle (`transforms/control/branches.py`)",
    "when": "while `jit` records",
    "why": "the program has to tell which variable a step reads",
    "undone": "not at all: the values are the same, and the function's own from then on",
}


class HeldAt(NamedTuple):
    """Where an array is held: a variable of the frame, or an attribute behind one."""

    variable: str
    attributes: tuple[str, ...] = ()


def place_of(frame: FrameType) -> tuple[int, int]:
    """A frame and where it stands, told from every other one as long as it is under way."""
    return id(frame), frame.f_lasti


def instruction_of(frame: FrameType) -> tuple[CodeType, int]:
    """Where a frame stands in its code, the same for each of its calls."""
    return frame.f_code, frame.f_lasti


def variables_in(frame: FrameType) -> Mapping[str, Any]:
    """The variables of a frame by name, as they are now."""
    return frame.f_locals


def set_variables(frame: FrameType, values: Mapping[str, Any]) -> None:
    """Let variables of a frame that is under way hold these."""
    variables: Any = frame.f_locals
    variables.update(values)
    if VARIABLES_ARE_A_COPY:
        ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))


def looked_up(frame: FrameType, name: str, missing: Any = None) -> Any:
    """What a name stands for in a frame: a variable, a global, or something built in."""
    for scope in (frame.f_locals, frame.f_globals, vars(builtins)):
        if name in scope:
            return scope[name]
    return missing


def state_of_generator(x: object) -> tuple[Any, ...]:
    """Where a generator or coroutine stands, and its variables; nothing if it is none, or has ended."""
    frames = [getattr(x, name, None) for name in ("gi_frame", "cr_frame", "ag_frame")]
    frame = next((f for f in frames if f is not None), None)
    return () if frame is None else (frame.f_lasti, *frame.f_locals.values())


def is_cell(frame: FrameType, name: str) -> bool:
    """Whether a variable is one that functions written inside each other share."""
    return name in frame.f_code.co_cellvars or name in frame.f_code.co_freevars


def is_parameter(frame: FrameType, name: str) -> bool:
    """Whether a variable was given by who called, who may have kept the only reference that is counted."""
    code = frame.f_code
    return name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] and not is_cell(frame, name)


def held(frame: FrameType, place: HeldAt) -> Any:
    """What a place holds, None if it is not to be found without running code."""
    found = frame.f_locals.get(place.variable)
    for name in place.attributes:
        found = getattr(found, "__dict__", {}).get(name)
    return found


def hold(frame: FrameType, place: HeldAt, x: Any) -> None:
    """Let a place hold something."""
    if place.attributes:
        owner = held(frame, HeldAt(place.variable, place.attributes[:-1]))
        owner.__dict__[place.attributes[-1]] = x
    else:
        set_variables(frame, {place.variable: x})


def names_holding(frame: FrameType, x: object) -> list[str]:
    """The variables of a frame that hold an object."""
    return [name for name in list(frame.f_locals) if frame.f_locals[name] is x]
