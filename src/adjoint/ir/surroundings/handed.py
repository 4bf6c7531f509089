"""Names that code reads only to hand them to a call that is made for its effect: `ad.debug.callback(seen.append, x)`.

What is in `seen` says nothing about the result then, so that a recording relies on which list it is, and not on its
items. The code is read instruction by instruction; in doubt a name counts as read.
"""

from __future__ import annotations

import dis
import functools
import sys
import types
from collections.abc import Container
from typing import Any, NamedTuple, TypeVar

F = TypeVar("F")

_takers: list[Any] = []
"""Functions that call their first argument for its effect, after a run."""
GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")
ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
CELLS = ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")
BETWEEN = ("CACHE", "EXTENDED_ARG", "RESUME", "NOP")
CALLS = ("PRECALL", "CALL", "CALL_KW", "CALL_FUNCTION_EX")
SILENT = ("COPY_FREE_VARS", "MAKE_CELL", "KW_NAMES", "LOAD_CONST", "RETURN_CONST")
"""Instructions that read no variable."""
NULL_LAST = sys.version_info >= (3, 13)
"""Whether `PUSH_NULL` comes after the function that is to be called, and not before it."""


def takes_an_effect(function: F) -> F:
    """Decorate a function that calls its first argument for its effect."""
    _takers.append(function)
    return function


def handed_in(code: types.CodeType, variables: dict[str, Any]) -> frozenset[str]:
    """The names of globals, closure variables and attributes that code reads for such calls alone."""
    sites = _sites(code)
    if not sites:
        return frozenset()
    taken = [site for site in sites if any([_found(variables, site.callee) is taker for taker in _takers])]
    return frozenset({site.name for site in taken}) - _others(code, frozenset([site.at for site in taken]))


def read_cells(code: types.CodeType, variables: dict[str, Any], run: Container[Any]) -> set[str]:
    """The closure variables whose content code reads, or that of functions written inside it that have run."""
    made = {i.argval for i in _steps(code) if i.opname in ("LOAD_CLOSURE", "LOAD_FAST")}
    read = {i.argval for i in _steps(code) if i.opname not in ("LOAD_CLOSURE", "LOAD_FAST", *SILENT)}
    read -= handed_in(code, variables)
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType) and inner in run:
            read |= read_cells(inner, variables, run) & made
    return {name for name in code.co_freevars if name in read}


class _Site(NamedTuple):
    """One handing over: the number of the instruction, the name that is handed over, and the way to the function."""

    at: int
    name: str
    callee: tuple[str, ...]


@functools.lru_cache(4096)
def _steps(code: types.CodeType) -> list[dis.Instruction]:
    return [i for i in dis.get_instructions(code) if i.opname not in BETWEEN]


@functools.lru_cache(4096)
def _sites(code: types.CodeType) -> list[_Site]:
    steps, found = _steps(code), []
    k = 0
    while k < len(steps):
        start, k = k, k + 1
        if steps[start].opname not in GLOBALS:
            continue
        while k < len(steps) and steps[k].opname in ATTRIBUTES:
            k += 1
        owner = _handed_over(steps, k)
        if owner is not None:
            found.append(_Site(owner, steps[owner].argval, tuple([i.argval for i in steps[start:k]])))
    return found


def _handed_over(steps: list[dis.Instruction], start: int) -> int | None:
    """The instruction that loads the first argument of the call whose function has just been loaded, or its owner.

    It is a variable, or an attribute of one, or of an attribute: `log`, `seen.append`, `self.seen.append`.
    """
    if NULL_LAST and start < len(steps) and steps[start].opname == "PUSH_NULL":
        start += 1
    if start >= len(steps) or steps[start].opname not in (*GLOBALS, *CELLS, "LOAD_FAST"):
        return None
    end = start + 1
    while end < len(steps) and steps[end].opname in ATTRIBUTES:
        end += 1
    is_called = any(map(_is_called, steps[start:end])) or (NULL_LAST and steps[end].opname == "PUSH_NULL")
    if is_called or not _is_left_alone(steps, end):
        return None
    owner = max(start, end - 2)
    return None if steps[owner].opname == "LOAD_FAST" else owner


def _is_called(step: dis.Instruction) -> bool:
    """Whether an instruction loads something that is to be called."""
    if step.opname == "LOAD_METHOD":
        return True
    has_mark = step.opname == "LOAD_GLOBAL" or (step.opname == "LOAD_ATTR" and sys.version_info >= (3, 12))
    return has_mark and bool(step.arg is not None and step.arg & 1)


def _is_left_alone(steps: list[dis.Instruction], start: int) -> bool:
    """Whether what has been loaded stays where it is until a call takes it, together with what is loaded after it."""
    above = 0
    for step in steps[start:]:
        if step.opname in CALLS:
            effect = dis.stack_effect(step.opcode, step.arg, jump=False)
            if above + effect < 0 or above == 0:
                return True
        if step.opcode in dis.hasjrel or step.opcode in dis.hasjabs:
            return False
        above += dis.stack_effect(step.opcode, step.arg if step.opcode >= dis.HAVE_ARGUMENT else None, jump=False)
        if above <= 0:
            return step.opname == "KW_NAMES"
    return False


def _others(code: types.CodeType, sites: frozenset[int]) -> set[Any]:
    """The names that code mentions elsewhere."""
    steps = _steps(code)
    return {
        i.argval for k, i in enumerate(steps) if k not in sites and i.opname not in SILENT and isinstance(i.argval, str)
    }


def _found(variables: dict[str, Any], path: tuple[str, ...]) -> Any:
    """What a path of names leads to, through modules alone."""
    x = variables.get(path[0])
    for name in path[1:]:
        if not isinstance(x, types.ModuleType):
            return None
        x = vars(x).get(name)
    return x
