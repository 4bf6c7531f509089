"""What a function uses besides its arguments: closure cells, globals, attributes and the containers in them.

A recording relies on all of it. A `Watch` remembers what was there; before each run it says whether it still is, and
after a recording what the function itself has changed.
"""

from __future__ import annotations

import functools
import os.path
import sysconfig
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.errors import LIBRARIES
from ..core.primitive import Primitive
from ..core.traced import Traced
from .capture import same_bits

STANDARD = tuple({os.path.realpath(sysconfig.get_paths()[k]) + os.sep for k in ("stdlib", "purelib", "platlib")})
NUMBERS = (int, float, complex, str, bytes, bool, type(None), np.generic, np.dtype)
MOST = 5_000
"""Objects that are looked at; who captures more of them pays for a longer look at each call, not for a wrong result."""


class Watch:
    """The surroundings of a function, as they are now."""

    def __init__(self, *roots: Any) -> None:
        self.cells: list[tuple[Any, Any, str]] = []
        self.entries: list[tuple[dict[Any, Any], Any, Any]] = []
        self.containers: list[tuple[Any, tuple[Any, ...]]] = []
        self.arrays: list[tuple[np.ndarray, Any]] = []
        self.generators: list[tuple[Any, str]] = []
        self._seen: dict[int, Any] = {}
        self._look([*roots])

    def changed(self) -> str:
        """What is no longer as it was, in words; empty if everything is."""
        for cell, was, name in self.cells:
            if not _same(_content(cell), was):
                return f"the captured variable {name!r}"
        for owner, key, was in self.entries:
            if not _same(owner.get(key, _MISSING), was):
                return f"{key!r}"
        for container, was in self.containers:
            now = _items(container)
            if len(now) != len(was) or not all(map(_same, now, was)):
                return f"a captured {type(container).__name__}"
        for generator, state in self.generators:
            if repr(_state(generator)) != state:
                return f"a captured {type(generator).__name__}"
        return ""

    def rewritten(self) -> str:
        """Which captured array holds other numbers than before; empty if none does."""
        for array, copy in self.arrays:
            if not same_bits(array, copy):
                return f"a captured array of shape {array.shape}"
        return ""

    def _look(self, stack: list[Any]) -> None:
        """Walk through everything that can be reached; a loop, as structures may be deep."""
        while stack and len(self._seen) < MOST:
            x = stack.pop()
            if isinstance(x, (*NUMBERS, Primitive, np.ufunc, Traced)) or id(x) in self._seen:
                continue
            self._seen[id(x)] = x
            stack.extend(self._inside(x))

    def _inside(self, x: Any) -> Iterator[Any]:
        if isinstance(x, np.ndarray):
            self.arrays.append((x, x.copy()))
        elif isinstance(x, types.FunctionType):
            yield from self._function(x)
        elif isinstance(x, types.MethodType):
            yield from (x.__func__, x.__self__)
        elif isinstance(x, functools.partial):
            yield from (x.func, *x.args, *x.keywords.values())
        elif isinstance(x, (list, tuple, set, frozenset, dict)):
            if not isinstance(x, (tuple, frozenset)):
                self.containers.append((x, _items(x)))
            yield from _items(x)
        elif isinstance(x, (np.random.Generator, np.random.RandomState)):
            self.generators.append((x, repr(_state(x))))
        elif isinstance(x, (type, types.ModuleType, types.BuiltinFunctionType)):
            return
        else:
            yield from self._attributes(x)

    def _function(self, f: types.FunctionType) -> Iterator[Any]:
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            content = _content(cell)
            self.cells.append((cell, content, name))
            yield content
        yield from f.__defaults__ or ()
        yield from (f.__kwdefaults__ or {}).values()
        path = os.path.realpath(f.__code__.co_filename)
        if path.startswith(LIBRARIES) or path.startswith(STANDARD):
            return
        names = _names(f.__code__)
        for name in names:
            if name in f.__globals__:
                yield from self._entry(f.__globals__, name, names)

    def _entry(self, owner: dict[Any, Any], name: Any, names: set[str]) -> Iterator[Any]:
        found = owner[name]
        if isinstance(found, types.ModuleType):
            path = getattr(found, "__file__", None) or ""
            if path and not os.path.realpath(path).startswith((*LIBRARIES, *STANDARD)):
                for inner in names & set(vars(found)):
                    if not isinstance(vars(found)[inner], types.ModuleType):
                        self.entries.append((vars(found), inner, vars(found)[inner]))
                        yield vars(found)[inner]
            return
        self.entries.append((owner, name, found))
        yield found

    def _attributes(self, x: Any) -> Iterator[Any]:
        """The attributes of an object of the user's own class, or of a wrapper of this library."""
        attributes = getattr(x, "__dict__", None)
        if not isinstance(attributes, dict):
            return
        module = type(x).__module__.split(".")[0]
        if module in ("numpy", "scipy", "optree", "llvmlite"):
            return
        for name, value in list(attributes.items()):
            if module != "adjoint":
                self.entries.append((attributes, name, value))
            elif name not in ("fun", "jvp_rule", "vjp_rule"):
                continue
            yield value


_MISSING = object()


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return _MISSING


def _same(now: Any, was: Any) -> bool:
    """Whether a variable still holds the same object, or an equal number."""
    if now is was:
        return True
    return type(now) is type(was) and isinstance(was, NUMBERS) and repr(now) == repr(was)


def _items(container: Any) -> tuple[Any, ...]:
    if isinstance(container, dict):
        return (*container.keys(), *container.values())
    return tuple(container)


def _state(generator: Any) -> Any:
    return generator.bit_generator.state if isinstance(generator, np.random.Generator) else generator.get_state()


def _names(code: Any) -> set[str]:
    """The names of globals and attributes that a function mentions, with those of the functions inside it."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names
