"""What a function uses besides its arguments: closure cells, globals, attributes and the containers in them.

A recording relies on all of it. A `Watch` remembers what was there; before each run it says whether it still is, and
after a recording what the function itself has changed.
"""

from __future__ import annotations

import array
import collections
import ctypes
import dis
import functools
import os.path
import sys
import sysconfig
import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..core.errors import LIBRARIES
from ..core.primitive import Primitive
from ..core.traced import Traced
from .bits import Copy

PACKAGES = ("numpy", "scipy", "optree", "llvmlite", "adjoint", "pandas", "matplotlib", "sklearn", "torch", "jax")
"""Packages whose objects are not looked into: what they keep for themselves is not the user's to change."""

_paths = sysconfig.get_paths()
STANDARD = tuple({os.path.realpath(_paths[k]) + os.sep for k in ("stdlib", "platstdlib")})
INSTALLED = tuple({os.path.realpath(_paths[k]) + os.sep for k in ("purelib", "platlib")})
NUMBERS = (int, float, complex, str, bytes, bool, type(None), np.generic, np.dtype)
SEQUENCES = (list, tuple, set, frozenset, dict, collections.deque, bytearray, array.array)
FIXED = (tuple, frozenset)
MOST = 20_000
"""Objects that are looked at; a function that can reach more is not recorded."""

Found = tuple[Any, str]
"""An object, and how the user would name it."""


class Watch:
    """The surroundings of a function, as they are now."""

    def __init__(self, *roots: Any, with_arrays: bool = True) -> None:
        self._with_arrays = with_arrays
        self.cells: list[tuple[Any, Any, str]] = []
        self.entries: list[tuple[Mapping[Any, Any], Any, Any, str]] = []
        self.attributes: list[tuple[Any, str, Any, str]] = []
        self.containers: list[tuple[Any, tuple[Any, ...], str]] = []
        self.arrays: list[tuple[np.ndarray, Copy, str]] = []
        self.generators: list[tuple[Any, str, str]] = []
        self.classes: list[tuple[type, int, list[tuple[Mapping[Any, Any], str, Any, str]]]] = []
        """Classes of the user's own, the version Python gives them until they are changed, and what they held."""
        self._seen: dict[int, Any] = {}
        self._names: set[str] = set()
        """Attributes that are mentioned anywhere, by name or as text."""
        self._objects: list[Any] = []
        self._modules: list[types.ModuleType] = []
        self.is_complete = self._look([(root, "") for root in roots])
        self._note_absent()

    def changed(self) -> str:
        """What is no longer as it was, in words; empty if everything is."""
        for cell, was, name in self.cells:
            if not _same(_content(cell), was):
                return f"the captured variable {name!r}"
        for owner, key, was, name in self.entries:
            if not _same(owner.get(key, MISSING), was):
                return name
        for x, attribute, was, name in self.attributes:
            if not _same(getattr(x, attribute, MISSING), was):
                return name
        for kind, version, held in self.classes:
            if version == 0 or version_of(kind) != version:
                for owner, key, was, name in held:
                    if owner.get(key, MISSING) is not was:
                        return name
        for container, was, name in self.containers:
            now = _items(container)
            if len(now) != len(was) or not all(map(_same, now, was)):
                return f"the captured {type(container).__name__}{name}"
        for generator, state, name in self.generators:
            if repr(_state(generator)) != state:
                return f"the captured {type(generator).__name__}{name}"
        return ""

    def rewritten(self) -> str:
        """Which captured array holds other numbers than before; empty if none does."""
        for x, copy, name in self.arrays:
            if not copy.is_like(x):
                return f"the captured array{name} of shape {x.shape}"
        return ""

    def functions(self) -> list[types.FunctionType]:
        """The user's own functions among the surroundings."""
        found = [x for x in self._seen.values() if isinstance(x, types.FunctionType)]
        return [f for f in found if not is_foreign(f.__code__.co_filename)]

    def knows(self, x: Any) -> bool:
        """Whether an object is part of the surroundings."""
        return self._seen.get(id(x)) is x

    def _look(self, stack: list[Found]) -> bool:
        """Walk through everything that can be reached; a loop, as structures may be deep."""
        while stack:
            x, name = stack.pop()
            if isinstance(x, (*NUMBERS, Primitive, np.ufunc, Traced)) or id(x) in self._seen:
                continue
            self._seen[id(x)] = x
            if len(self._seen) > MOST:
                return False
            stack.extend(self._inside(x, name))
        return True

    def _inside(self, x: Any, name: str) -> Iterator[Found]:
        if isinstance(x, np.ndarray):
            if self._with_arrays:
                self.arrays.append((x, Copy(x), name))
        elif isinstance(x, types.FunctionType):
            yield from self._function(x)
        elif isinstance(x, types.MethodType):
            yield from ((x.__func__, name), (x.__self__, name))
        elif isinstance(x, functools.partial):
            yield from [(part, name) for part in (x.func, *x.args, *x.keywords.values())]
        elif isinstance(x, (staticmethod, classmethod)):
            yield x.__func__, name
        elif isinstance(x, property):
            yield from [(part, name) for part in (x.fget, x.fset)]
        elif isinstance(x, SEQUENCES):
            items = _items(x)
            if not isinstance(x, FIXED):
                self.containers.append((x, items, name))
            yield from [(item, name) for item in items]
        elif isinstance(x, (np.random.Generator, np.random.RandomState)):
            self.generators.append((x, repr(_state(x)), name))
        elif isinstance(x, type):
            yield from self._class(x)
        elif isinstance(x, types.ModuleType):
            if _is_users(x):
                self._modules.append(x)
        elif not isinstance(x, types.BuiltinFunctionType):
            yield from self._attributes(x, name)

    def _function(self, f: types.FunctionType) -> Iterator[Found]:
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or (), strict=True):
            content = _content(cell)
            self.cells.append((cell, content, name))
            yield content, f" {name!r}"
        yield from [(x, f" among the defaults of {f.__name__!r}") for x in f.__defaults__ or ()]
        yield from [(x, f" {name!r}") for name, x in (f.__kwdefaults__ or {}).items()]
        if is_foreign(f.__code__.co_filename):
            return
        self.attributes.append((f, "__defaults__", f.__defaults__, f"the defaults of {f.__name__!r}"))
        if f.__kwdefaults__:
            self.containers.append((f.__kwdefaults__, _items(f.__kwdefaults__), f" of defaults of {f.__name__!r}"))
        for key, value in f.__dict__.items():
            if key != "__wrapped__":
                self.entries.append((f.__dict__, key, value, f"{f.__name__}.{key}"))
                yield value, f" {f.__name__}.{key}"
        names = names_of(f.__code__)
        self._names |= names | texts_of(f.__code__)
        looked_up = globals_of(f.__code__)
        if looked_up & {"globals", "vars", "eval", "exec"}:  # variables by text
            names |= texts_of(f.__code__)
        for name in names:
            if name in f.__globals__:
                yield from self._entry(f.__globals__, name, names, f"the global variable {name!r}")
            elif isinstance(sys.modules.get(name), types.ModuleType):  # imported inside the function
                yield sys.modules[name], f" {name!r}"
            elif name in looked_up:  # a builtin, or nothing yet: a global of that name would be taken instead
                self.entries.append((f.__globals__, name, MISSING, f"the global variable {name!r}"))

    def _entry(self, owner: dict[Any, Any], key: str, names: set[str], name: str) -> Iterator[Found]:
        found = owner[key]
        self.entries.append((owner, key, found, name))
        if not isinstance(found, types.ModuleType):
            yield found, f" {key!r}"
            return
        if id(found) in self._seen or not _is_users(found):
            return
        self._seen[id(found)] = found
        for inner in names & set(vars(found)):
            yield from self._entry(vars(found), inner, names, f"{key}.{inner}")

    def _class(self, kind: type) -> Iterator[Found]:
        """What a class of the user's own holds: methods, and attributes that all its objects share."""
        if kind.__module__.split(".")[0] in (*PACKAGES, "builtins") or is_foreign(_file_of(kind)):
            return
        held: list[tuple[Mapping[Any, Any], str, Any, str]] = []
        for key, value in list(vars(kind).items()):
            if key not in ("__dict__", "__weakref__", "__doc__", "__module__", "__abstractmethods__", "_abc_impl"):
                held.append((vars(kind), key, value, f"{kind.__name__}.{key}"))
                yield value, f" {kind.__name__}.{key}"
        self.classes.append((kind, version_of(kind), held))
        yield from [(base, "") for base in kind.__bases__]

    def _attributes(self, x: Any, name: str) -> Iterator[Found]:
        """The attributes of an object of the user's own class, or of a wrapper of this library."""
        kind = type(x)
        module = kind.__module__.split(".")[0]
        if module == "adjoint":
            yield from [(getattr(x, part, None), name) for part in ("fun", "jvp_rule", "vjp_rule")]
            return
        if module in PACKAGES:
            return
        yield kind, ""
        self._objects.append(x)
        for key, value in list((getattr(x, "__dict__", None) or {}).items()):
            self.entries.append((vars(x), key, value, f"the attribute {key!r} of a {kind.__name__}"))
            yield value, f" in the attribute {key!r} of a {kind.__name__}"
        for key in [key for base in kind.__mro__ for key in _slots(base)]:
            value = getattr(x, key, MISSING)
            self.attributes.append((x, key, value, f"the attribute {key!r} of a {kind.__name__}"))
            yield value, f" in the attribute {key!r} of a {kind.__name__}"

    def _note_absent(self) -> None:
        """Names that are not there now, and would be found before what is there if they came: `self.scale = 2.0`, where
        `scale` was the class's; an attribute that is asked for in case it exists.
        """
        for module in self._modules:
            for name in self._names & set(vars(module)):
                value = vars(module)[name]
                self.entries.append((vars(module), name, value, f"{module.__name__}.{name}"))
                if isinstance(value, np.ndarray) and self._with_arrays:
                    self.arrays.append((value, Copy(value), f" {module.__name__}.{name}"))
        for x in self._objects:
            own, kind = getattr(x, "__dict__", None), type(x)
            if isinstance(own, dict):
                for name in self._names:
                    if name not in own and (hasattr(kind, name) or not hasattr(np, name)):
                        self.entries.append((own, name, MISSING, f"the attribute {name!r} of a {kind.__name__}"))
        for kind, _, held in self.classes:
            there = vars(kind)
            absent = [name for name in self._names if name not in there]
            held += [(there, name, MISSING, f"{kind.__name__}.{name}") for name in absent]


MISSING = object()
VERSION = 384
"""Where CPython keeps the version of a class: a number that no class has had before, new after every change."""


def version_of(kind: type) -> int:
    """The version of a class; 0 if it has none, so that nobody knows whether it has been changed."""
    if sys.implementation.name != "cpython" or object.__basicsize__ != 16:
        return 0
    getattr(kind, "__name__", None)
    getattr(kind, "no such attribute", None)  # looking an attribute up gives a class its version
    return ctypes.c_uint.from_address(id(kind) + VERSION).value


@functools.cache
def is_foreign(path: str) -> bool:
    """Whether a file is not the user's: of this library, the standard library or an installed package."""
    path = os.path.realpath(path)
    return path.startswith((*LIBRARIES, *STANDARD, *INSTALLED))


def _is_users(module: types.ModuleType) -> bool:
    """Whether a module is the user's own, also one that was made without a file."""
    path = getattr(module, "__file__", None) or ""
    return not is_foreign(path) if path else module.__name__.split(".")[0] not in sys.stdlib_module_names


def _file_of(kind: type) -> str:
    return getattr(sys.modules.get(kind.__module__), "__file__", None) or ""


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple([s for s in slots if s not in ("__dict__", "__weakref__")])


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return MISSING


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


def globals_of(code: Any) -> set[str]:
    """The names that a function looks up as globals, or else as builtins."""
    found = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= globals_of(constant)
    return found


def texts_of(code: Any) -> set[str]:
    """The texts in a function that may be names of attributes, as in `getattr(x, "gain", 1.0)`."""
    found = set()
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= texts_of(constant)
        elif isinstance(constant, str) and constant.isidentifier():
            found.add(constant)
    return found


def names_of(code: Any) -> set[str]:
    """The names of globals and attributes that a function mentions, with those of the functions inside it."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= names_of(constant)
    return names
