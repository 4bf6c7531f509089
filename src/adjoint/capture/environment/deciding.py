"""Code that decides by what the world says: the time, whether a file is there. A recording would not ask again."""

from __future__ import annotations

import functools
import inspect
import itertools
import sys
import types
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

from ...host.code.decode import Instruction, instructions
from ...host.frames.ownership import Owner, owner_of
from ..recording.executed import Executed
from .world import CLOCKS

_FILES = frozenset((
    "exists", "lexists", "isfile", "isdir", "islink", "ismount", "getsize", "getmtime", "getatime", "getctime",
    "samefile",
))  # fmt: skip
_PATHS = frozenset((
    "exists", "is_file", "is_dir", "is_symlink", "stat", "lstat", "glob", "rglob", "iterdir", "cwd",
))  # fmt: skip
STATES = {
    "os": frozenset(("stat", "lstat", "access", "getcwd", "getcwdb", "getloadavg", "statvfs", "readlink")),
    "posixpath": _FILES,
    "ntpath": _FILES,
    "genericpath": _FILES,
    "pathlib": _PATHS,
    "glob": frozenset(("glob", "iglob")),
    "shutil": frozenset(("which", "disk_usage")),
    "threading": frozenset(("active_count", "enumerate")),
    "_thread": frozenset(("locked",)),
}
"""Functions and methods that say how the world is, by the module that has them; `os.path` has the system's name."""
DECIDES = ("COMPARE_OP", "CONTAINS_OP", "IS_OP", "UNARY_NOT", "POP_JUMP", "JUMP_IF")
"""How the names of instructions begin that make or follow a truth value."""


def decided_by(executed: Executed, functions: Iterable[types.FunctionType]) -> str:
    """What the user's code asks the world and decides by; empty if there is nothing. Functions say what it captures."""
    captured = {f.__code__: inspect.getclosurevars(f).nonlocals for f in functions if f.__closure__}
    for code, variables in executed.items():
        if owner_of(variables) is not Owner.USER:
            continue
        for inner in _with_inner(code):
            known = {**variables, **captured.get(code, {}), **_imported(inner)}
            found = _state(inner, known) or _clock(inner, known)
            if found:
                return found
    return ""


def _imported(code: types.CodeType) -> dict[str, Any]:
    """The modules that code imports, by the names that it gives them."""
    pairs = itertools.pairwise(instructions(code))
    return {
        b.value: sys.modules.get(a.value)
        for a, b in pairs
        if a.name == "IMPORT_NAME" and b.name.startswith("STORE_") and type(b.value) is str
    }


def _with_inner(code: types.CodeType) -> list[types.CodeType]:
    return [code, *[c for k in code.co_consts if type(k) is types.CodeType for c in _with_inner(k)]]


def _state(code: types.CodeType, variables: dict[str, Any]) -> str:
    """A function that says how the world is, which code calls."""
    return next((found for line in _lines(code) if (found := _asked(line, variables, STATES))), "")


def _clock(code: types.CodeType, variables: dict[str, Any]) -> str:
    """A clock whose time, or what a line makes of it, another line compares."""
    told: dict[str, str] = {}
    for line in _lines(code) * 2:  # a loop may come back to a line
        names = [s.value for s in line if s.name.startswith("LOAD_") and type(s.value) is str]
        found = _asked(line, variables, CLOCKS) or next((told[n] for n in names if n in told), "")
        if found:
            told |= {s.value: found for s in line if s.name.startswith("STORE_") and type(s.value) is str}
            if any([s.name.startswith(DECIDES) for s in line]):
                return found
    return ""


def _asked(line: tuple[Instruction, ...], variables: dict[str, Any], known: dict[str, frozenset[str]]) -> str:
    """What a line of code mentions of some functions."""
    names = {s.value for s in line if type(s.value) is str}
    for name in names & variables.keys():
        held = variables[name]
        kind = type(held)  # what an object calls its class may be code of the user's
        if issubclass(kind, types.ModuleType):
            modules = [held, *[m for n in names if issubclass(type(m := vars(held).get(n)), types.ModuleType)]]
            found = [(m.__name__, n) for m in modules for n in sorted(known.get(m.__name__, frozenset()) & names)]
        elif issubclass(kind, (types.BuiltinFunctionType, types.FunctionType)):
            is_known = held.__name__ in known.get(held.__module__ or "", ())
            found = [(held.__module__ or "", held.__name__)] if is_known else []
        else:
            kind = held if issubclass(kind, type) else kind
            found = [(kind.__module__, n) for n in sorted(known.get(kind.__module__, frozenset()) & names)]
        if found:
            return f"{found[0][0].replace('posixpath', 'os.path').replace('genericpath', 'os.path')}.{found[0][1]}"
    return ""


@functools.lru_cache(4096)
def _lines(code: types.CodeType) -> list[tuple[Instruction, ...]]:
    """The instructions, line by line."""
    starts, numbers = zip(*[(start, number) for start, _, number in code.co_lines()], strict=True)
    found: dict[Any, list[Instruction]] = {}
    for step in instructions(code):
        found.setdefault(numbers[bisect_right(starts, step.place) - 1], []).append(step)
    return [tuple(steps) for steps in found.values()]
