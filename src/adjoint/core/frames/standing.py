"""What the code of a frame is in the middle of, with the objects its names stand for: the function that it calls, and
the exceptions that it would catch. Read from its instructions, without its source.
"""

from __future__ import annotations

import builtins
import dis
import functools
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

UNKNOWN: Any = object()
ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
NAMES = (
    "LOAD_GLOBAL",
    "LOAD_NAME",
    "LOAD_FAST",
    "LOAD_FAST_CHECK",
    "LOAD_FAST_BORROW",
    "LOAD_DEREF",
    "LOAD_CLASSDEREF",
)
SILENT = ("CACHE", "EXTENDED_ARG", "PUSH_NULL", "NOP", "COPY_FREE_VARS", "PRECALL", "RESUME")


def called_at(frame: FrameType) -> Any:
    """The function that a frame is calling, or None if that cannot be told: both begin at the same character."""
    steps = _steps(frame.f_code)
    at = next((k for k, step in enumerate(steps) if step.offset == frame.f_lasti), None)
    if at is None or steps[at].positions is None:
        return None
    here = steps[at].positions
    for k in range(at - 1, -1, -1):
        there = steps[k].positions
        if there is None or here is None or (there.lineno, there.col_offset) != (here.lineno, here.col_offset):
            continue
        found = _chain(frame, steps[k:at])
        if found is not UNKNOWN:
            return found
    return None


def argument_at(frame: FrameType) -> Any:
    """The only argument of the function that a frame is calling, if it is a name, an attribute or a constant."""
    steps = [step for step in _steps(frame.f_code) if step.opname not in (*SILENT, "KW_NAMES")]
    at = next((k for k, step in enumerate(steps) if step.offset >= frame.f_lasti), 0)
    if steps[at].opname == "CALL_KW":
        at -= 1  # the names of keywords
    count = steps[at].arg if steps[at].opname == "CALL" else 1
    k = at - 1
    if count != 1 or k < 0:
        return UNKNOWN
    if steps[k].opname == "LOAD_CONST":
        return steps[k].argval
    while k > 0 and steps[k].opname in ATTRIBUTES:
        k -= 1
    return _chain(frame, steps[k:at])


def _chain(frame: FrameType, steps: list[dis.Instruction]) -> Any:
    """What `a.b.c` stands for, read from the instructions that begin with `a`; attributes are read, not computed."""
    found = _named(frame, steps[0])
    for step in steps[1:]:
        if step.opname in SILENT:
            continue
        if found is UNKNOWN or step.opname not in ATTRIBUTES:
            break
        found = _attribute(found, step.argval)
    return found


def _named(frame: FrameType, step: dis.Instruction) -> Any:
    name = step.argval[0] if type(step.argval) is tuple and step.opname.startswith("LOAD_FAST") else step.argval
    if step.opname not in NAMES and not step.opname.startswith("LOAD_FAST"):
        return UNKNOWN
    for scope in (frame.f_locals, frame.f_globals, vars(builtins)):
        if name in scope:
            return scope[name]
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
    steps = [step for step in _steps(frame.f_code) if step.offset >= start and step.opname not in SILENT]
    is_handler = bool(steps) and steps[0].opname == "PUSH_EXC_INFO"
    return is_handler and any([_covers(kind, error) for kind in _kinds(frame, steps[1:])])


def _kinds(frame: FrameType, steps: list[dis.Instruction]) -> Iterator[Any]:
    """The exceptions that the clauses of a `try` name, one after the other; `UNKNOWN` for what has to be computed."""
    waiting: list[Any] = []
    if steps and steps[0].opname == "POP_TOP":  # except:
        yield BaseException
    for k, step in enumerate(steps):
        name, count = step.opname, step.arg or 0
        if name in MATCHES:
            yield waiting[-1] if len(waiting) == 1 else UNKNOWN
            jump = steps[k + 1]
            following = [s for s in steps if s.offset >= jump.argval] if jump.opname.startswith("POP_JUMP") else []
            yield from _kinds(frame, following)
            return
        if name in ATTRIBUTES and waiting:
            waiting.append(_attribute(waiting.pop(), step.argval))
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
        place = next((entry.target for entry in _entries(code) if entry.start <= place < entry.end), place)
    return found[1:]


@functools.lru_cache(4096)
def _steps(code: CodeType) -> list[dis.Instruction]:
    return list(dis.get_instructions(code))


@functools.lru_cache(4096)
def _entries(code: CodeType) -> list[Any]:
    """The parts of a code that have a handler, innermost first."""
    entries: list[Any] = dis.Bytecode(code).exception_entries  # type: ignore[attr-defined]
    return entries
