"""What the code of a frame is in the middle of, with the objects its names stand for: the function that it calls, and
the exceptions that it would catch. Read from its instructions, without its source.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import CodeType, FrameType
from typing import Any

from ..code.decode import Instruction, handlers_in, index_at, instructions
from ..code.positions import start_of
from ..code.versions import REMAINDERS, otherwise
from .variables import looked_up

UNKNOWN: Any = object()
"""What cannot be told."""
NAMES = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FAST", "LOAD_DEREF")
CALLS = frozenset(("CALL", "PRECALL", "CALL_KW", "CALL_FUNCTION_EX"))
FETCHES = CALLS | {"BINARY_SUBSCR"}
SILENT = ("PUSH_NULL", "NOP", "COPY_FREE_VARS", "PRECALL", "RESUME")


@otherwise(lambda frame: None)
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


@otherwise(lambda frame: UNKNOWN)
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


def _doing(frame: FrameType) -> Instruction:
    """The instruction that a frame stands at."""
    return instructions(frame.f_code)[index_at(frame.f_code, frame.f_lasti)]


@otherwise(lambda frame: True)
def is_calling(frame: FrameType) -> bool:
    """Whether a frame is calling something."""
    return _doing(frame).name in CALLS


@otherwise(lambda frame: False)
def is_comparing(frame: FrameType) -> bool:
    """Whether a frame compares two objects by an operator."""
    return _doing(frame).name == "COMPARE_OP"


@otherwise(lambda frame: True)
def may_fetch(frame: FrameType) -> bool:
    """Whether a frame may be taking something out of a dict; else it only asks for a key, or stores one."""
    return _doing(frame).name in FETCHES


@otherwise(lambda frame: False)
def is_at_remainder(frame: FrameType) -> bool:
    """Whether a frame is at the operator `%`."""
    step = _doing(frame)
    return step.name == "BINARY_OP" and step.arg in REMAINDERS


def is_raised_by_hand(error: BaseException) -> bool:
    """Whether a `raise` statement raised an error; where that cannot be told, it is taken to be so."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return at is not None and at.tb_lasti >= 0 and _raises(at.tb_frame.f_code, at.tb_lasti)


@otherwise(lambda code, place: True)
def _raises(code: CodeType, place: int) -> bool:
    return instructions(code)[index_at(code, place)].name == "RAISE_VARARGS"


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
    return looked_up(frame, step.value, UNKNOWN)


def _attribute(x: Any, name: str) -> Any:
    import inspect  # seldom needed

    return UNKNOWN if x is UNKNOWN else inspect.getattr_static(x, name, UNKNOWN)


@otherwise(lambda frame, error: bool(frame.f_code.co_exceptiontable))
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
