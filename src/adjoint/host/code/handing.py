"""Where code reads a name only to hand it to a call: `callback(seen.append, x)`. In doubt a name counts as read."""

from __future__ import annotations

import functools
from types import CodeType
from typing import TYPE_CHECKING, Any

from .decode import Instruction, instructions, stack_effect
from .graph import jumps_in
from .versions import NULL_IS_LAST, otherwise

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ..records import NamedTuple

GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")
BETWEEN = ("RESUME", "NOP")
CALLS = ("PRECALL", "CALL", "CALL_KW", "CALL_FUNCTION_EX")
SILENT = ("COPY_FREE_VARS", "MAKE_CELL", "KW_NAMES", "LOAD_CONST", "RETURN_CONST")
"""Instructions that read no variable."""
CLOSING = ("LOAD_CLOSURE", "LOAD_FAST")
"""Instructions that may put a cell into the closure of a function."""


class Handing(NamedTuple):
    """One handing over: the number of the instruction, the name that is handed over, and the names of the function."""

    at: int
    name: str
    callee: tuple[str, ...]


@functools.lru_cache(4096)
def _steps(code: CodeType) -> list[Instruction]:
    return [i for i in instructions(code) if i.name not in BETWEEN]


@functools.lru_cache(4096)
@otherwise(lambda code: [])
def handings_in(code: CodeType) -> list[Handing]:
    """The names that code hands to functions as the first argument, or whose attributes it does."""
    steps = _steps(code)
    found: list[Handing] = []
    k = 0
    while k < len(steps):
        start, k = k, k + 1
        if steps[start].name not in GLOBALS:
            continue
        while k < len(steps) and steps[k].name == "LOAD_ATTR":
            k += 1
        owner = _handed_over(code, steps, k)
        if owner is not None:
            found.append(Handing(owner, steps[owner].value, tuple([i.value for i in steps[start:k]])))
    return found


def names_besides(code: CodeType, handings: list[Handing]) -> set[Any]:
    """The names that code mentions elsewhere than at some handings over."""
    sites = {handing.at for handing in handings}
    steps = _steps(code)
    return {
        i.value for k, i in enumerate(steps) if k not in sites and i.name not in SILENT and isinstance(i.value, str)
    }


@otherwise(lambda code: ({*code.co_cellvars, *code.co_freevars}, set(code.co_freevars)))
def cells_in(code: CodeType) -> tuple[set[str], set[str]]:
    """The variables that code may put into closures of functions that it makes, and those whose content it reads."""
    steps = [i for i in _steps(code) if isinstance(i.value, str)]
    read = {i.value for i in steps if i.name not in (*CLOSING, *SILENT)}
    return {i.value for i in steps if i.name in CLOSING}, read


def _handed_over(code: CodeType, steps: list[Instruction], start: int) -> int | None:
    """The instruction that loads the first argument of the call whose function has just been loaded, or its owner.

    It is a variable, or an attribute of one, or of an attribute: `log`, `seen.append`, `self.seen.append`.
    """
    if NULL_IS_LAST and start < len(steps) and steps[start].name == "PUSH_NULL":
        start += 1
    if start >= len(steps) or steps[start].name not in (*GLOBALS, "LOAD_DEREF", "LOAD_FAST"):
        return None
    end = start + 1
    while end < len(steps) and steps[end].name == "LOAD_ATTR":
        end += 1
    is_called = any([step.calls for step in steps[start:end]]) or (NULL_IS_LAST and steps[end].name == "PUSH_NULL")
    if is_called or not _is_left_alone(code, steps, end):
        return None
    owner = max(start, end - 2)
    return None if steps[owner].name == "LOAD_FAST" else owner


def _is_left_alone(code: CodeType, steps: list[Instruction], start: int) -> bool:
    """Whether what has been loaded stays where it is until a call takes it, together with what is loaded after it."""
    above = 0
    for step in steps[start:]:
        if step.name in CALLS and (above + stack_effect(step) < 0 or above == 0):
            return True
        if step.place in jumps_in(code):
            return False
        above += stack_effect(step)
        if above <= 0:
            return step.name == "KW_NAMES"
    return False
