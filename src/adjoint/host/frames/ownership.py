"""Whose code it is: one question, and the one place where it is answered.

The answer follows from the module that code runs in: its name, and what is among its global names. The same source
means the same in a home folder, in a notebook and among installed packages; where a file lies is asked in one case
alone, of code that has nothing to do with NumPy (`Owner.INSTALLED`).
"""

from __future__ import annotations

import enum
import functools
import sys
from collections.abc import Mapping
from importlib.machinery import EXTENSION_SUFFIXES
from types import BuiltinFunctionType, FrameType, ModuleType
from typing import Any

OURS = __name__.partition(".")[0]
LIBRARIES = frozenset(("numpy", "scipy", "optree", "llvmlite", "numba"))
"""Packages that this library looks into or is built on, and a compiler whose settings change no result."""
BETWEEN = frozenset((OURS, "numpy", "scipy", "functools"))
"""Packages whose frames stand between the user's code and a step; cached properties are functools'."""


class Owner(enum.Enum):
    """Whose a module is. In the order in which it is decided: the first that is right."""

    OURS = "this library's"
    LIBRARY = "NumPy's or SciPy's, or of what this library is built on"
    COMPILED = "of a package with compiled code of its own, which may get to see an array: its arrays stay plain"
    USER = "the user's: whatever has NumPy, or anything of NumPy's, among its names, and whatever else is left"
    PYTHON = "the standard library's"
    INSTALLED = "of an installed package that does not compute with NumPy: it may keep caches, that change no result"


def owner_of(names: Mapping[str, Any]) -> Owner:
    """Whose a module is, given its global names."""
    if len(sys.modules) != len(_looked_at):
        _look_at_modules()
    key = names.get("__name__"), names.get("__file__"), id(names)
    found = _owners.get(key)
    if found is None:
        found = _owners[key] = _owner(names)
    return found


def _owner(names: Mapping[str, Any]) -> Owner:
    package = package_of(names)
    if package == OURS:
        return Owner.OURS
    if package in LIBRARIES:
        return Owner.LIBRARY
    is_pythons = package in sys.stdlib_module_names
    if package in _compiled and not is_pythons:
        return Owner.COMPILED
    if _computes(names):
        return Owner.USER
    if is_pythons:
        return Owner.PYTHON
    return Owner.INSTALLED if _is_installed(str(names.get("__file__") or "")) else Owner.USER


def package_of(names: Mapping[str, Any]) -> str:
    """The package that a module belongs to, given its global names; empty for a script, a notebook, a text."""
    name = names.get("__name__")
    if name == "__main__":
        name = names.get("__package__")
    return name.partition(".")[0] if isinstance(name, str) else ""


def _computes(names: Mapping[str, Any]) -> bool:
    """Whether a module has NumPy, or anything of NumPy's, among its names."""
    return _is_numpys(names.get("np")) or any([_is_numpys(x) for x in list(names.values())])


def _is_numpys(x: Any) -> bool:
    kind = type(x)
    if issubclass(kind, ModuleType):
        return vars(x).get("__name__") == "numpy"
    if kind is BuiltinFunctionType:
        return x.__module__ == "numpy"
    return str(kind.__module__).partition(".")[0] == "numpy"


def _is_installed(path: str) -> bool:
    """Whether a file is where Python installs packages."""
    import os.path

    return bool(path) and os.path.realpath(path).startswith(folders_of_packages())


@functools.cache
def folders_of_packages() -> tuple[str, ...]:
    """Where Python installs packages."""
    import os.path
    import sysconfig

    paths = sysconfig.get_paths()
    return tuple({os.path.realpath(paths[k]) + os.sep for k in ("purelib", "platlib")})


def takes_handles(names: Mapping[str, Any]) -> bool:
    """Whether a module's new arrays may be handles, so that traced values can be stored in them.

    Not those of packages with compiled code of their own, which may get to see the array, nor those of this library;
    but those of modules of such packages that are NumPy code alone, and are known to be.
    """
    if len(sys.modules) != len(_looked_at):
        _look_at_modules()
    return package_of(names) not in _compiled or names.get("__name__") in NUMPY_CODE


NUMPY_CODE: set[str] = set()
"""Modules of compiled packages whose own code is NumPy's: `adjoint.scipy` enters those it lets run through."""


_compiled = {OURS}
"""Packages of which an extension module has been imported."""
_looked_at: set[str] = set()
_owners: dict[tuple[Any, Any, int], Owner] = {}
_until_the_next_import: list[dict[Any, Any]] = [_owners]


def kept_until_the_next_import(known: dict[Any, Any]) -> dict[Any, Any]:
    """Let a dict be emptied when modules have come or gone, on which its answers depend."""
    _until_the_next_import.append(known)
    return known


def is_up_to_date() -> bool:
    """Whether no module has come or gone since the modules were looked at."""
    return len(sys.modules) == len(_looked_at)


def _look_at_modules() -> None:
    for known in _until_the_next_import:
        known.clear()
    for name, module in list(sys.modules.items()):
        if name not in _looked_at:
            _looked_at.add(name)
            path = vars(module).get("__file__") if issubclass(type(module), ModuleType) else None
            if isinstance(path, str) and path.endswith(tuple(EXTENSION_SUFFIXES)):
                _compiled.add(name.partition(".")[0])
    _looked_at.intersection_update(list(sys.modules))  # their number says whether anything is new


def owner_of_module(name: str) -> Owner:
    """Whose a module is, given its name."""
    module = sys.modules.get(name)
    return owner_of(vars(module) if issubclass(type(module), ModuleType) else {"__name__": name})


def is_library(frame: FrameType) -> bool:
    """Whether a frame stands between the user's code and a step: of this library, NumPy or SciPy."""
    return package_of(frame.f_globals) in BETWEEN


def is_ours(frame: FrameType) -> bool:
    """Whether a frame is of this library."""
    return package_of(frame.f_globals) == OURS


def is_users_code(frame: FrameType) -> bool:
    """Whether a frame is of the user's own code."""
    return owner_of(frame.f_globals) is Owner.USER
