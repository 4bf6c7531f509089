"""Names that code reads only to hand them to a call that is made for its effect: `ad.debug.callback(seen.append, x)`.

What is in `seen` says nothing about the result then, so that a recording relies on which list it is, and not on its
items. The code is read instruction by instruction; in doubt a name counts as read.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Container
from typing import Any, NamedTuple, TypeVar

from ...host.code.decode import Instruction, instructions, stack_effect
from ...host.code.graph import jumps_in
from ...host.code.versions import NULL_IS_LAST

F = TypeVar("F")

_takers: list[Any] = []
"""Functions that call their first argument for its effect, after a run."""
GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")
BETWEEN = ("RESUME", "NOP")
CALLS = ("PRECALL", "CALL", "CALL_KW", "CALL_FUNCTION_EX")
SILENT = ("COPY_FREE_VARS", "MAKE_CELL", "KW_NAMES", "LOAD_CONST", "RETURN_CONST")
"""Instructions that read no variable."""


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
    made = {i.value for i in _steps(code) if i.name in ("LOAD_CLOSURE", "LOAD_FAST")}
    read = {i.value for i in _steps(code) if i.name not in ("LOAD_CLOSURE", "LOAD_FAST", *SILENT)}
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
def _steps(code: types.CodeType) -> list[Instruction]:
    return [i for i in instructions(code) if i.name not in BETWEEN]


@functools.lru_cache(4096)
def _sites(code: types.CodeType) -> list[_Site]:
    steps, found = _steps(code), []
    k = 0
    while k < len(steps):
        start, k = k, k + 1
        if steps[start].name not in GLOBALS:
            continue
        while k < len(steps) and steps[k].name == "LOAD_ATTR":
            k += 1
        owner = _handed_over(code, steps, k)
        if owner is not None:
            found.append(_Site(owner, steps[owner].value, tuple([i.value for i in steps[start:k]])))
    return found


def _handed_over(code: types.CodeType, steps: list[Instruction], start: int) -> int | None:
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


def _is_left_alone(code: types.CodeType, steps: list[Instruction], start: int) -> bool:
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


def _others(code: types.CodeType, sites: frozenset[int]) -> set[Any]:
    """The names that code mentions elsewhere."""
    steps = _steps(code)
    return {
        i.value for k, i in enumerate(steps) if k not in sites and i.name not in SILENT and isinstance(i.value, str)
    }


def _found(variables: dict[str, Any], path: tuple[str, ...]) -> Any:
    """What a path of names leads to, through modules alone."""
    x = variables.get(path[0])
    for name in path[1:]:
        if not isinstance(x, types.ModuleType):
            return None
        x = vars(x).get(name)
    return x
