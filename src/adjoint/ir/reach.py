"""What code mentions, and whose it is: names, texts that may be names, files, modules, versions of classes."""

from __future__ import annotations

import ctypes
import dis
import functools
import os.path
import sys
import sysconfig
import types
from collections.abc import Container, Mapping
from typing import Any

import numpy as np

from ..core.callsite import OURS, package_of, takes_handles

LIBRARIES = tuple([os.path.realpath(path) + os.sep for path in (f"{__file__}/../..", f"{np.__file__}/..")])
"""Where the files of this library and of NumPy are."""
_paths = sysconfig.get_paths()
STANDARD = tuple({os.path.realpath(_paths[k]) + os.sep for k in ("stdlib", "platstdlib")})
INSTALLED = tuple({os.path.realpath(_paths[k]) + os.sep for k in ("purelib", "platlib")})
SILENT = ("numpy", "scipy", "optree", "llvmlite", "adjoint")
"""Packages that keep nothing in their modules that results depend on."""
VERSION = 384
"""Where CPython keeps the version of a class: a number that no class has had before, new after every change."""


def version_of(kind: type) -> int:
    """The version of a class; 0 if it has none, so that nobody knows whether it has been changed."""
    return _number_at(kind) if has_versions() else 0


@functools.cache
def has_versions() -> bool:
    """Whether this Python keeps versions where they are looked for: tried out on classes that are changed."""
    if sys.implementation.name != "cpython" or object.__basicsize__ != 16 or sys.getsizeof(type) < VERSION + 4:
        return False
    base = type("base", (), {})
    heir = type("heir", (base,), {})
    before = [_number_at(base), _number_at(heir)]
    same = [_number_at(base), _number_at(heir)]
    base.changed = 1  # type: ignore[attr-defined]
    after = [_number_at(base), _number_at(heir)]
    return before == same and 0 not in before + after and len(set(before + after)) == 4


def _number_at(kind: type) -> int:
    getattr(kind, "__name__", None)
    getattr(kind, "no such attribute", None)  # looking an attribute up gives a class its version
    return ctypes.c_uint.from_address(id(kind) + VERSION).value


@functools.cache
def is_foreign(path: str, module: str) -> bool:
    """Whether a file is not the user's: of this library, the standard library or a package.

    A module that computes with NumPy means the same wherever it lies, so that it is the user's also if it is installed;
    not in packages with compiled code of their own, whose inside nobody sees.
    """
    path = os.path.realpath(path)
    if path.startswith(INSTALLED):
        return not _computes(module)
    return path.startswith((*LIBRARIES, *STANDARD))


@functools.cache
def is_installed(path: str, module: str) -> bool:
    """Whether a file belongs to a package that may keep settings of its own: which of its code runs has to be seen."""
    path = os.path.realpath(path)
    return path.startswith(INSTALLED) and not is_silent(path) and not _computes(module)


def _computes(name: str) -> bool:
    """Whether a module of Python code alone has NumPy, or anything of NumPy's, among its names."""
    module = sys.modules.get(name)
    if type(module) is not types.ModuleType or package_of(vars(module)) in SILENT:
        return False
    found = [x for x in vars(module).values() if x is np or type(x).__module__.partition(".")[0] == "numpy"]
    return bool(found) and takes_handles(vars(module))


def is_others(f: types.FunctionType) -> bool:
    """Whether a function is not the user's."""
    return is_foreign(f.__code__.co_filename, name_in(f.__globals__))


def name_in(variables: Mapping[str, Any]) -> str:
    """The name of a module, given its variables."""
    return str(variables.get("__name__", ""))


@functools.cache
def is_silent(path: str) -> bool:
    """Whether a file is of this library, of NumPy or of another that asks objects for attributes all the time."""
    path = os.path.realpath(path)
    return path.startswith((*LIBRARIES, *[root + name + os.sep for root in INSTALLED for name in SILENT]))


def is_ours(module: Any) -> bool:
    """Whether a module, given its name, is one of this library."""
    return str(module).partition(".")[0] == OURS


def own_names(kind: type) -> frozenset[str]:
    """The private attributes that the methods of a class mention: where it keeps what it knows."""
    methods = [f for base in kind.__mro__ for f in vars(base).values() if type(f) is types.FunctionType]
    return frozenset([name for f in methods for name in f.__code__.co_names if name.startswith("_")])


def is_users(module: types.ModuleType) -> bool:
    """Whether a module is the user's own, also one that was made without a file."""
    path = path_of(module)
    if path:
        return not is_foreign(path, name_in(vars(module)))
    return module.__name__.split(".")[0] not in sys.stdlib_module_names


def path_of(module: Any) -> str:
    """The file of a module, without asking a function of its own for it; empty if it has none."""
    return (vars(module).get("__file__") or "") if isinstance(module, types.ModuleType) else ""


def file_of(kind: type) -> str:
    """The file of the module that a class is from; empty if it has none."""
    return path_of(sys.modules.get(str(kind.__module__)))


def is_users_class(kind: type) -> bool:
    """Whether a class is the user's own."""
    package = str(kind.__module__).split(".")[0]
    return (
        package not in (*SILENT, "builtins")
        and package not in sys.stdlib_module_names
        and not is_foreign(file_of(kind), str(kind.__module__))
    )


@functools.lru_cache(4096)
def _globals_of(code: types.CodeType) -> frozenset[str]:
    return frozenset([i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")])


def codes_in(code: types.CodeType, run: Container[Any] | None = None) -> list[types.CodeType]:
    """A piece of code and those written inside it; only those that have run, if that is known."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType) and (run is None or c in run)]
    return [code, *[found for c in inner for found in codes_in(c, run)]]


def globals_of(code: types.CodeType, run: Container[Any] | None = None) -> set[str]:
    """The names that a function looks up as globals, or else as builtins."""
    return {name for c in codes_in(code, run) for name in _globals_of(c)}


@functools.lru_cache(4096)
def _attributes_of(code: types.CodeType) -> frozenset[str]:
    kinds = ("LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR")
    return frozenset([i.argval for i in dis.get_instructions(code) if i.opname in kinds])


def attributes_of(code: types.CodeType, run: Container[Any] | None = None) -> set[str]:
    """The names of attributes that a function reads or sets, with those of the functions inside it."""
    return {name for c in codes_in(code, run) for name in _attributes_of(c)}


def names_of(code: types.CodeType, run: Container[Any] | None = None) -> set[str]:
    """The names of globals and attributes that a function mentions, with those of the functions inside it."""
    return {name for c in codes_in(code, run) for name in c.co_names}


def texts_of(code: types.CodeType, run: Container[Any] | None = None) -> set[str]:
    """The texts in a function that may be names, as in `getattr(x, "gain", 1.0)` and `attrgetter("layer.gain")`."""
    return {name for c in codes_in(code, run) for text in c.co_consts for name in _names_in(text)}


def _names_in(text: Any) -> list[str]:
    if isinstance(text, tuple):
        return [name for part in text for name in _names_in(part)]
    if not isinstance(text, str) or len(text) > 1000:
        return []
    if all([part.isidentifier() for part in text.split(".")]):
        return [*text.split("."), text]
    return []


def names_in_sources(code: types.CodeType) -> set[str]:
    """The names in texts that are expressions or statements, as in `eval("scale * x")`."""
    found: set[str] = set()
    for text in [text for c in codes_in(code) for text in c.co_consts if isinstance(text, str) and "\0" not in text]:
        try:
            found |= names_of(compile(text, "<text>", "exec"))
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
    return found
