"""What the code of a frame is in the middle of, with the objects its names stand for: the function that it calls, and
the exceptions that it would catch. Read from its instructions, without its source.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from types import CodeType, FrameType
from typing import Any

from ..code.decode import Instruction, handlers_in, index_at, instructions, start_of

UNKNOWN: Any = object()
NAMES = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FAST", "LOAD_DEREF")
SILENT = ("PUSH_NULL", "NOP", "COPY_FREE_VARS", "PRECALL", "RESUME")


def called_at(frame: FrameType) -> Any:
    """The function that a frame is calling, or None if that cannot be told: both begin at the same character."""
    code = frame.f_code
    steps, at = instructions(code), index_at(code, frame.f_lasti)
    start = start_of(code, steps[at])
    if start is None:
        return None
    for k in range(at - 1, -1, -1):
        if start_of(code, steps[k]) == start:
            found = _chain(frame, steps[k:at])
            if found is not UNKNOWN:
                return found
    return None


def argument_at(frame: FrameType) -> Any:
    """The only argument of the function that a frame is calling, if it is a name, an attribute or a constant."""
    steps = [step for step in instructions(frame.f_code) if step.name not in (*SILENT, "KW_NAMES")]
    at = next((k for k, step in enumerate(steps) if step.place >= frame.f_lasti), 0)
    if steps[at].name == "CALL_KW":
        at -= 1  # the names of keywords
    count = steps[at].arg if steps[at].name == "CALL" else 1
    k = at - 1
    if count != 1 or k < 0:
        return UNKNOWN
    if steps[k].name == "LOAD_CONST":
        return steps[k].value
    while k > 0 and steps[k].name == "LOAD_ATTR":
        k -= 1
    return _chain(frame, steps[k:at])


def _chain(frame: FrameType, steps: Sequence[Instruction]) -> Any:
    """What `a.b.c` stands for, read from the instructions that begin with `a`; attributes are read, not computed."""
    found = _named(frame, steps[0])
    for step in steps[1:]:
        if step.name in SILENT:
            continue
        if found is UNKNOWN or step.name != "LOAD_ATTR":
            break
        found = _attribute(found, step.value)
    return found


def _named(frame: FrameType, step: Instruction) -> Any:
    if step.name not in NAMES:
        return UNKNOWN
    for scope in (frame.f_locals, frame.f_globals, vars(builtins)):
        if step.value in scope:
            return scope[step.value]
    return UNKNOWN


def _attribute(x: Any, name: str) -> Any:
    import inspect  # seldom needed

    return UNKNOWN if x is UNKNOWN else inspect.getattr_static(x, name, UNKNOWN)


def catches(frame: FrameType, error: type[BaseException]) -> bool:
    """Whether a frame stands inside a `try` that catches such an error; where that cannot be told, it may."""
    if not frame.f_code.co_exceptiontable:
        return False
    return any([_is_caught(frame, start, error) for start in _handlers(frame.f_code, frame.f_lasti)])


def _is_caught(frame: FrameType, start: int, error: type[BaseException]) -> bool:
    steps = [step for step in instructions(frame.f_code) if step.place >= start and step.name not in SILENT]
    is_handler = bool(steps) and steps[0].name == "PUSH_EXC_INFO"
    return is_handler and any([_covers(kind, error) for kind in _kinds(frame, steps[1:])])


def _kinds(frame: FrameType, steps: Sequence[Instruction]) -> Iterator[Any]:
    """The exceptions that the clauses of a `try` name, one after the other; `UNKNOWN` for what has to be computed."""
    waiting: list[Any] = []
    if steps and steps[0].name == "POP_TOP":  # except:
        yield BaseException
    for k, step in enumerate(steps):
        name, count = step.name, step.arg or 0
        if name in MATCHES:
            yield waiting[-1] if len(waiting) == 1 else UNKNOWN
            jump = steps[k + 1]
            following = [s for s in steps if s.place >= jump.value] if jump.name.startswith("POP_JUMP") else []
            yield from _kinds(frame, following)
            return
        if name == "LOAD_ATTR" and waiting:
            waiting.append(_attribute(waiting.pop(), step.value))
        elif name == "BUILD_TUPLE" and len(waiting) >= count:
            waiting[len(waiting) - count :] = [tuple(waiting[len(waiting) - count :])]
        elif name.startswith("LOAD_"):
            waiting.append(_named(frame, step))
        elif name.startswith(COMPUTING):
            waiting.append(UNKNOWN)
        else:
            return  # a `with`, a `finally`, or the end of the clauses


MATCHES = ("CHECK_EXC_MATCH", "CHECK_EG_MATCH")
COMPUTING = ("BUILD_", "LIST_", "CALL", "BINARY_", "KW_NAMES", "COPY", "SWAP")
"""Instructions of expressions."""


def _covers(kind: Any, error: type[BaseException]) -> bool:
    if isinstance(kind, tuple):
        return any([_covers(part, error) for part in kind])
    return kind is UNKNOWN or (isinstance(kind, type) and issubclass(error, kind))


def _handlers(code: CodeType, place: int) -> list[int]:
    """Where control goes if the instruction at a place raises: there, and from there outwards."""
    found: list[int] = []
    while place not in found:
        found.append(place)
        place = next((h.target for h in handlers_in(code) if h.start <= place < h.end), place)
    return found[1:]
