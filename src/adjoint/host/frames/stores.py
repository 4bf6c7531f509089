"""Which variable a frame is storing into, and where, from its instructions: `v[i, 1:] = x`, `self.v[mask] = x`.

Compiled code asks a value for its number in the middle of such a statement. What is on the frame's stack cannot be
read, but instructions without effects, as keys usually are, can be carried out again.
"""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Callable
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..code.decode import Instruction, instructions
from ..code.versions import IN_PLACE, otherwise
from .variables import HeldAt

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ..records import NamedTuple


class Storing(NamedTuple):
    """A statement that stores elements into what a place holds; the key is what these instructions give."""

    place: HeldAt
    key: tuple[Instruction, ...]


class Claims:
    """What makes handles of plain arrays that traced values are stored into: `adjoint.numpy` fills it in."""

    stored: Callable[[Any, FrameType], bool] = staticmethod(lambda x, frame: False)
    """Whether a value that a frame stores has been stored, into a handle."""
    updated: Callable[[Any, FrameType], Any] = staticmethod(lambda out, frame: None)
    """A handle for the array that a frame updates by an operator, or None."""
    updated_at: Callable[[Any, FrameType], Any] = staticmethod(lambda inputs, frame: None)
    """A handle for the array that a frame gives to `ufunc.at`, or None."""


CLAIMS = Claims()

OPERATORS = {0: operator.add, 10: operator.sub, 5: operator.mul, 2: operator.floordiv, 6: operator.mod}
"""Operators by the argument of their instruction."""
SAFE = frozenset((int, bool, np.ndarray, tuple, list, slice, type(None)))
"""What can be computed with, or read from, as often as one likes."""
PURE = (tuple, list, len, slice, int, min, max, abs)
"""What can be called on them."""
NAMES = ("LOAD_FAST", "LOAD_DEREF", "LOAD_GLOBAL")
TAKES = {
    **dict.fromkeys((*NAMES, "LOAD_CONST", "PRECALL"), 0),
    **dict.fromkeys(("BINARY_OP", "BINARY_SUBSCR"), 2),
    **dict.fromkeys(("UNARY_NEGATIVE", "LOAD_ATTR"), 1),
}
"""How many values an instruction takes that gives one."""


@otherwise(lambda frame: None)
def store_of(frame: FrameType) -> Storing | None:
    """The statement that a frame is at, if it stores elements and can be understood."""
    return _store(frame.f_code, frame.f_lasti)


@functools.lru_cache(4096)
def _store(code: CodeType, place: int) -> Storing | None:
    steps = instructions(code)
    at = next((k for k, step in enumerate(steps) if step.place == place), None)
    if at is None or steps[at].name not in ("STORE_SUBSCR", "STORE_SLICE"):
        return None
    end = at
    if at > 1 and [(s.name, s.arg) for s in steps[at - 2 : at]] == [("SWAP", 3), ("SWAP", 2)]:  # v[i] += x
        copies = [k for k in range(at) if [(s.name, s.arg) for s in steps[k : k + 2]] == [("COPY", 2)] * 2]
        if not copies:
            return None
        end = copies[-1]
    start = _start(steps, end, 1 if steps[at].name == "STORE_SUBSCR" else 2)
    first = None if start is None else _start(steps, start, 1)
    if start is None or first is None:
        return None
    held = _place(steps[first:start])
    key = (
        *steps[start:end],
        *([Instruction(place, "BUILD_SLICE", 2, None, False, 0)] if steps[at].name == "STORE_SLICE" else []),
    )
    return None if held is None else Storing(held, key)


def _start(steps: tuple[Instruction, ...], end: int, wanted: int) -> int | None:
    """Where the instructions begin that give the last values before an instruction; None if they do anything else."""
    k = end
    while wanted and k > 0:
        k -= 1
        takes = _takes(steps[k])
        if takes is None:
            return None
        wanted += takes - _gives(steps[k])
    return None if wanted else k


def _takes(step: Instruction) -> int | None:
    if step.name in ("BUILD_SLICE", "BUILD_TUPLE"):
        return step.arg
    if step.name == "LOAD_ATTR" and step.calls:  # a method
        return None
    if step.name == "CALL":
        return step.arg + 2  # what is called, and the place for `self` beside it
    return None if step.name == "BINARY_OP" and step.arg not in OPERATORS else TAKES.get(step.name)


def _gives(step: Instruction) -> int:
    """How many values an instruction leaves: a name that is called comes with a place for `self`."""
    return 0 if step.name == "PRECALL" else 2 if step.name == "LOAD_GLOBAL" and step.calls else 1


def _place(steps: tuple[Instruction, ...]) -> HeldAt | None:
    """The variable that instructions read, with attributes; None if it is anything else."""
    if not steps or steps[0].name not in ("LOAD_FAST", "LOAD_DEREF"):
        return None
    if any([step.name != "LOAD_ATTR" for step in steps[1:]]):
        return None
    return HeldAt(steps[0].value, tuple([step.value for step in steps[1:]]))


@otherwise(lambda frame: None)
def updates(frame: FrameType) -> HeldAt | Storing | None:
    """What a frame updates in place, `v += x` or `v[i] += x`, if the result is stored where the operand came from."""
    return _update(frame.f_code, frame.f_lasti)


@functools.lru_cache(4096)
def _update(code: CodeType, place: int) -> HeldAt | Storing | None:
    steps = instructions(code)
    at = next((k for k, step in enumerate(steps) if step.place == place), None)
    if at is None or steps[at].name != "BINARY_OP" or steps[at].arg not in IN_PLACE:
        return None
    after = [s.name for s in steps[at + 1 : at + 4]]
    if after[:1] in (["STORE_FAST"], ["STORE_DEREF"]):
        return HeldAt(steps[at + 1].value)
    if after == ["SWAP", "SWAP", "STORE_SUBSCR"]:
        return _store(code, steps[at + 3].place)
    return None


def evaluated(frame: FrameType, steps: tuple[Instruction, ...]) -> Any:
    """What instructions without effects give; `NotImplemented` where that is not known of the values met."""
    stack: list[Any] = []
    for step in steps:
        if step.name == "LOAD_CONST":
            stack.append(step.value)
        elif step.name in NAMES:
            stack += [_read(frame, step)] * _gives(step)
        elif step.name == "PRECALL":
            continue
        elif step.name in ("BUILD_TUPLE", "BUILD_SLICE"):
            parts = stack[len(stack) - step.arg :]
            del stack[len(stack) - step.arg :]
            stack.append(tuple(parts) if step.name == "BUILD_TUPLE" else slice(*parts))
        else:
            values = [stack.pop() for _ in range(_takes(step) or 0)][::-1]
            found = _computed(step, values)
            if found is NotImplemented:
                return found
            stack.append(found)
    return stack.pop()


def _read(frame: FrameType, step: Instruction) -> Any:
    if step.name != "LOAD_GLOBAL":
        return frame.f_locals[step.value]
    return frame.f_globals[step.value] if step.value in frame.f_globals else getattr(builtins, step.value)


def _computed(step: Instruction, values: list[Any]) -> Any:
    if step.name == "LOAD_ATTR":
        return getattr(values[0], "__dict__", {}).get(step.value, NotImplemented)
    if step.name == "CALL" and (values[0] is not values[1] or values.pop(0) not in PURE):
        return NotImplemented
    called = values.pop(0) if step.name == "CALL" else None
    if not all([type(v) in SAFE or isinstance(v, np.integer) for v in values]):
        return NotImplemented
    if step.name == "CALL":
        return called(*values)  # type: ignore[misc]
    if step.name == "BINARY_OP":
        return OPERATORS[step.arg](*values)
    if step.name == "BINARY_SUBSCR":
        return values[0][values[1]]
    return -values[0]
