"""Undo the changes that last, and make them again before the next function is traced.

A function that another one makes as it runs has a part of that one's code, and they share variables. Where these have
been changed, all functions that are still there are found by asking the garbage collector.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Iterator
from types import AsyncGeneratorType, CodeType, CoroutineType, FrameType, FunctionType, GeneratorType, ModuleType
from typing import Any

from ..frames.ownership import OURS, package_of
from .changes import CHANGES, MISSING, Attribute, Change, ClosureVariable, GlobalName, Patch

_undone: list[Change] = []
"""What `put_back` has undone, the last change first."""
_codes: dict[int, tuple[CodeType, CodeType, Patch]] = {}
"""By the identity of a code that functions have been given: the code, theirs before, and whose change it is."""
_values: dict[int, tuple[Any, Any, Patch]] = {}
"""The same for what variables of enclosing functions have been given."""


def replace_code(patch: Patch, f: FunctionType, code: CodeType, needed: dict[str, Any]) -> None:
    """Give a function other code, of which inner functions are made from then on, and the global names it needs."""
    module = sys.modules.get(f.__globals__.get("__name__", ""))
    lasts = issubclass(type(module), ModuleType) and vars(module) is f.__globals__  # and may be held for good
    for name, value in needed.items():
        _note(GlobalName(patch, f.__globals__ if lasts else f, name, value), MISSING)
    _remember_code(patch, f.__code__, code)
    Attribute(patch, f, "__code__", code)


def _remember_code(patch: Patch, before: CodeType, after: CodeType) -> None:
    if before is not after:
        _codes[id(after)] = after, before, patch
        for old, new in zip(before.co_consts, after.co_consts, strict=True):
            if type(old) is CodeType:
                _remember_code(patch, old, new)


def replace_variable(patch: Patch, f: FunctionType, name: str, value: Any) -> None:
    """Give a variable that a function closes over another value, which stands for the one that it has."""
    _values[id(value)] = value, ClosureVariable(patch, f, name, value).before, patch


def put_back() -> int:
    """Let everything be as it was; how many changes have been undone. What others have changed since is left alone."""
    _find_inner_functions()
    under_way = list(_frames_under_way())
    changes = [change for change in reversed(list(CHANGES.values())) if not _is_needed(change, under_way)]
    undone = [change for change in changes if change.undo()]
    _undone.extend(undone)
    return len(undone)


def make_again() -> None:
    """Make all changes again that have been undone, but where something else is found by now."""
    while _undone:
        _undone.pop().make_again()


def _find_inner_functions() -> None:
    """Note the changes in functions that have got them from others."""
    for f in [x for x in gc.get_objects() if type(x) is FunctionType]:
        code, before, patch = _codes.get(id(f.__code__), (None, None, {}))
        if code is f.__code__ and (id(f), Attribute, "__code__") not in CHANGES:
            _note(Attribute(patch, f, "__code__", code), before)
        if f.__closure__ and package_of(f.__globals__) != OURS:
            _find_variables(f)


def _find_variables(f: FunctionType) -> None:
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
        try:
            value, before, patch = _values.get(id(cell.cell_contents), (MISSING, None, {}))
        except ValueError:  # not filled
            continue
        if cell.cell_contents is value and (id(f), ClosureVariable, name) not in CHANGES:
            _note(ClosureVariable(patch, f, name, value), before)


def _note(change: Change, before: Any) -> None:
    """Say what was there before a change, where it is not what was found."""
    change.before = before


def _is_needed(change: Change, under_way: Iterable[tuple[CodeType, dict[str, Any]]]) -> bool:
    """Whether code that is running reads a name that it has been given: it cannot go on without."""
    if type(change) is not GlobalName or change.before is not MISSING or change.owner() is None:
        return False
    names = change.names()
    return any([variables is names and _reads(code, change.name) for code, variables in under_way])


def _reads(code: CodeType, name: str) -> bool:
    return name in code.co_names or any([type(c) is CodeType and _reads(c, name) for c in code.co_consts])


def _frames_under_way() -> Iterator[tuple[CodeType, dict[str, Any]]]:
    """The codes that threads are running, or that will go on later, and their global names."""
    waiting: list[FrameType | None] = list(sys._current_frames().values())
    for x in gc.get_objects():
        if type(x) is GeneratorType:
            waiting.append(x.gi_frame)
        elif type(x) is CoroutineType:
            waiting.append(x.cr_frame)
        elif type(x) is AsyncGeneratorType:
            waiting.append(x.ag_frame)
    for frame in waiting:
        while frame is not None:
            yield frame.f_code, frame.f_globals
            frame = frame.f_back
