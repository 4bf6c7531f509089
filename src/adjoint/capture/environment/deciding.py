"""Code that decides by what the world says: the time, whether a file is there. A recording would not ask again."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterable
from typing import Any

from ...host.code.reach import codes_in
from ...host.code.uses import SourceLine, lines_of, modules_imported
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


def decided_by(executed: Executed, functions: Iterable[types.FunctionType]) -> str:
    """What the user's code asks the world and decides by; empty if there is nothing. Functions say what it captures."""
    captured = {f.__code__: inspect.getclosurevars(f).nonlocals for f in functions if f.__closure__}
    for code, variables in executed.items():
        if owner_of(variables) is not Owner.USER:
            continue
        for inner in codes_in(code):
            known = {**variables, **captured.get(code, {}), **modules_imported(inner)}
            found = _state(inner, known) or _clock(inner, known)
            if found:
                return found
    return ""


def _state(code: types.CodeType, variables: dict[str, Any]) -> str:
    """A function that says how the world is, which code calls."""
    return next((found for line in lines_of(code) if (found := _asked(line, variables, STATES))), "")


def _clock(code: types.CodeType, variables: dict[str, Any]) -> str:
    """A clock whose time, or what a line makes of it, another line compares."""
    told: dict[str, str] = {}
    for line in lines_of(code) * 2:  # a loop may come back to a line
        found = _asked(line, variables, CLOCKS) or next((told[n] for n in line.loaded if n in told), "")
        if found:
            told |= dict.fromkeys(line.stored, found)
            if line.decides:
                return found
    return ""


def _asked(line: SourceLine, variables: dict[str, Any], known: dict[str, frozenset[str]]) -> str:
    """What a line of code mentions of some functions."""
    names = line.mentioned
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
