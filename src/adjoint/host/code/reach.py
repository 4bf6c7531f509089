"""What code mentions, and whose it is: names, texts that may be names; versions of classes."""

from __future__ import annotations

import ctypes
import functools
import sys
import types
from collections.abc import Container
from typing import Any

from ..frames.ownership import Owner, owner_of, owner_of_module
from .decode import instructions
from .versions import otherwise

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


PACKAGES = (Owner.COMPILED, Owner.INSTALLED)
"""Those that may keep settings of their own: which of their code runs has to be seen."""
SILENT = (Owner.OURS, Owner.LIBRARY)
"""Those that keep nothing in their modules that results depend on, and ask objects for attributes all the time."""


def owner_of_function(f: types.FunctionType) -> Owner:
    """Whose a function is."""
    return owner_of(f.__globals__)


def is_users_function(f: types.FunctionType) -> bool:
    """Whether a function is the user's own."""
    return owner_of_function(f) is Owner.USER


def owner_of_class(kind: type) -> Owner:
    """Whose a class is."""
    return owner_of_module(str(kind.__module__))


def own_names(kind: type) -> frozenset[str]:
    """The private attributes that the methods of a class mention: where it keeps what it knows."""
    methods = [f for base in kind.__mro__ for f in vars(base).values() if type(f) is types.FunctionType]
    return frozenset([name for f in methods for name in f.__code__.co_names if name.startswith("_")])


@functools.lru_cache(4096)
@otherwise(lambda code: frozenset(code.co_names))
def _globals_of(code: types.CodeType) -> frozenset[str]:
    return frozenset([i.value for i in instructions(code) if i.name in ("LOAD_GLOBAL", "LOAD_NAME")])


def codes_in(code: types.CodeType, run: Container[Any] | None = None) -> list[types.CodeType]:
    """A piece of code and those written inside it; only those that have run, if that is known."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType) and (run is None or c in run)]
    return [code, *[found for c in inner for found in codes_in(c, run)]]


def globals_of(code: types.CodeType, run: Container[Any] | None = None) -> set[str]:
    """The names that a function looks up as globals, or else as builtins."""
    return {name for c in codes_in(code, run) for name in _globals_of(c)}


@functools.lru_cache(4096)
@otherwise(lambda code: frozenset(code.co_names))
def _attributes_of(code: types.CodeType) -> frozenset[str]:
    kinds = ("LOAD_ATTR", "STORE_ATTR", "DELETE_ATTR")
    return frozenset([i.value for i in instructions(code) if i.name in kinds])


def attributes_of(code: types.CodeType, run: Container[Any] | None = None) -> set[str]:
    """The names of attributes that a function reads or sets, with those of the functions inside it."""
    return {name for c in codes_in(code, run) for name in _attributes_of(c)}


def names_of(code: types.CodeType, run: Container[Any] | None = None) -> set[str]:
    """The names of globals and attributes that a function mentions, with those of the functions inside it."""
    return {name for c in codes_in(code, run) for name in c.co_names}


def texts_of(code: types.CodeType, run: Container[Any] | None = None) -> set[str]:
    """The texts in a function that may be names, as in `getattr(x, "gain", 1.0)` and `attrgetter("layer.gain")`."""
    return {name for c in codes_in(code, run) for text in c.co_consts for name in _names_in(text)}


def _names_in(text: object) -> list[str]:
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
