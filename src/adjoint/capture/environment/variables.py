"""Variables that code reads by name: globals, what it imports, what modules hold, texts that are names."""

from __future__ import annotations

import builtins
import os
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ...host.code.reach import (
    PACKAGES,
    SILENT,
    attributes_of,
    codes_in,
    globals_of,
    names_in_sources,
    names_of,
    owner_of_class,
    texts_of,
)
from ...host.frames.ownership import Owner, owner_of, package_of
from ..recording.executed import Executed
from .effect_arguments import handed_in
from .object_state import MISSING, is_compiled, is_number, keys_of
from .watch import State, Watch

BY_TEXT = frozenset({"globals", "vars", "eval", "exec", "locals"})
"""Functions that find variables by text."""
ANY_ATTRIBUTE = frozenset({"getattr", "vars", "__dict__", "attrgetter", "methodcaller", "__getattribute__", "dir"})
"""Names in code that may read any attribute."""
ANY_MODULE = frozenset({"import_module", "__import__", "modules"})
MOST_SETTINGS = 200
OF_FRAMES = frozenset({"_getframe", "currentframe", "f_globals", "__globals__"})
READS_STATE = frozenset({"state", "get_state", "__getstate__", "__reduce__", "bit_generator", "spawn", "seed_seq"})
"""Names in code that may read the state of a random generator without drawing from it."""
USUAL_ATTRIBUTES = frozenset(
    [name for x in (np, np.linalg, np.ndarray, list, dict, str) for name in dir(x) if not name.startswith("__")]
)
"""Attributes of modules of NumPy's, of arrays and containers."""
BUSY_MODULES = ("sys", "warnings", "builtins", "gc", "threading", "logging", "inspect", "linecache", "types", "typing")
"""Modules whose variables change all the time and say nothing about numbers."""


class Holder(NamedTuple):
    """An object of a package, or code of one: what it holds may be a cache, which fills when it is used."""

    x: Any
    outer: Holder | None = None


class Found(NamedTuple):
    """An object, how the user would name it, and the object of a package that it belongs to, if it does."""

    x: Any
    name: str
    holder: Holder | None = None


class Variables:
    """What is mentioned in code, and the variables that are found by it."""

    def __init__(self, watch: Watch, executed: Executed | None) -> None:
        self.watch = watch
        self._executed = executed
        self.names: set[str] = set()
        """Attributes that are mentioned anywhere, by name or as text."""
        self.attributes: set[str] = set()
        """Attributes that may be a function's or the user's module's: `f.calls`, `getattr(settings, "gain", 1.0)`."""
        self.mentioned: set[str] = set()
        """All attributes that code mentions which is not Python's own."""
        self._handed: set[str] = set()
        """Names that code which has run reads for calls that are made for their effect."""
        self._asked: set[str] = set()
        """Attributes that this library and NumPy ask objects for."""
        self._any_attribute = False
        self._seen: set[tuple[int, str]] = set()
        self._modules: dict[int, tuple[types.ModuleType, set[str]]] = {}

    def note_module(self, module: types.ModuleType) -> None:
        """Look at a module later, when all names have been seen."""
        self._modules.setdefault(id(module), (module, set()))

    def modules(self) -> list[types.ModuleType]:
        """Those that have been noted."""
        return [module for module, _ in self._modules.values()]

    def of_code(self, code: types.CodeType, variables: dict[str, Any]) -> Iterator[Found]:
        """The globals that code looks up, and the modules that it imports or names as a text."""
        run = self._executed
        handed = set() if run is None else self._handed_in(code, variables, run)
        mentioned, texts = names_of(code, run) - handed, texts_of(code, run)
        self.mention(mentioned | texts)
        self.mentioned |= attributes_of(code, run) | (texts if mentioned & ANY_ATTRIBUTE else set())
        self.attributes |= attributes_of(code, run) - USUAL_ATTRIBUTES
        self.attributes |= texts if mentioned & {"getattr", "hasattr", "setattr"} else set()
        looked_up = globals_of(code, run)
        for name in handed & looked_up & variables.keys():
            self.watch.entries.append((variables, name, variables[name], f"the global variable {name!r}", False))
        looked_up -= handed
        names = set(looked_up)
        if looked_up & BY_TEXT:
            names |= texts | names_in_sources(code)
            self.mention(names)
        if (run is None and looked_up & BY_TEXT) or looked_up & {"globals", "vars", "locals"} or mentioned & OF_FRAMES:
            names |= {name for name, value in variables.items() if _is_data(name, value)}
        for name in names:
            if (id(variables), name) in self._seen:
                continue
            self._seen.add((id(variables), name))
            if name in variables:
                self.watch.entries.append((variables, name, variables[name], f"the global variable {name!r}", False))
                yield Found(variables[name], f" {name!r}")
            elif name in looked_up:  # a builtin, or nothing yet: a global of that name would be taken instead
                self.watch.entries.append((variables, name, MISSING, f"the global variable {name!r}", False))
                yield from self._builtin(name)
        imported = {name for name in mentioned | texts if isinstance(sys.modules.get(name), types.ModuleType)}
        if mentioned & ANY_MODULE:
            imported |= {name for name, module in list(sys.modules.items()) if _is_own_module(module)}
        for name in imported - names:
            yield Found(sys.modules[name], f" {name!r}")
        if mentioned & {"getenv", "getenvb", "environb"}:
            yield Found(os.environ, " os.environ", Holder(os))

    def _handed_in(self, code: types.CodeType, variables: dict[str, Any], run: Executed) -> set[str]:
        """The names that code reads for calls that are made for their effect, and for nothing else."""
        found = {c: handed_in(c, variables) for c in codes_in(code, run)}
        handed = set().union(*found.values()) - {name for c in found for name in c.co_names if name not in found[c]}
        self._handed |= handed
        return handed

    def _builtin(self, name: str) -> Iterator[Found]:
        known = vars(builtins)
        if name in known and (id(known), name) not in self._seen:
            self._seen.add((id(known), name))
            self.watch.entries.append((known, name, known[name], f"builtins.{name}", False))
            yield Found(known[name], f" builtins.{name}")

    def mention(self, names: set[str]) -> None:
        """Take note of names that code mentions."""
        self.names |= names
        self._any_attribute = self._any_attribute or bool(names & ANY_ATTRIBUTE)
        self.watch.reads_state = self.watch.reads_state or bool(names & READS_STATE)

    def of_executed(self) -> Iterator[Found]:
        """What code has read that ran and may not be found by looking: evaluated text, and code of packages."""
        for code, variables in (self._executed or {}).items():
            owner = owner_of(variables)
            if owner in SILENT:
                self._asked |= set(code.co_names)
            elif owner in PACKAGES:
                yield from [f._replace(holder=Holder(code)) for f in self.of_code(code, variables) if is_setting(f.x)]
            elif owner is Owner.USER:
                yield from self.of_code(code, variables)
            elif package_of(variables) != "importlib":  # which asks modules for this and that
                self.mention(set(code.co_names))

    def of_modules(self) -> list[Found]:
        """Variables of modules whose names are mentioned anywhere, or all of them if any attribute may be read."""
        found = []
        for module, done in list(self._modules.values()):
            variables, owner = vars(module), owner_of(vars(module))
            users, installed = owner is Owner.USER, owner in PACKAGES
            if not users and module.__name__.split(".")[0] in BUSY_MODULES:
                continue
            names = (self.names | self._handed | {"__getattr__"}) & variables.keys()
            if users and self._any_attribute:
                names |= {name for name, value in variables.items() if _is_data(name, value)}
            self.watch.reads_state = self.watch.reads_state or module.__name__ in ("copy", "pickle")
            if users:
                missing = self.attributes - variables.keys() - done
                done |= missing
                where = f"{module.__name__}."
                self.watch.entries += [(variables, name, MISSING, where + name, False) for name in missing]
                if self.reads_whole_dicts() and (id(variables), "") not in self._seen:
                    self._seen.add((id(variables), ""))
                    self.watch.states.append(State(module, keys_of, keys_of(module), f" {module.__name__!r}", False))
            for name in names - done:
                done.add(name)
                value, where = variables[name], f"{module.__name__}.{name}"
                self.watch.meets_packages = self.watch.meets_packages or installed
                if users or installed or is_setting(value):
                    self.watch.entries.append((variables, name, value, where, False))
                if self.is_only_handed(name):
                    continue
                if users or is_setting(value) or isinstance(value, (type, types.ModuleType, types.FunctionType)):
                    found.append(Found(value, f" {where}", None if users else Holder(module)))
        return found

    def may_be_read(self, key: object) -> bool:
        """Whether code that has run may have read an attribute; anything may, as long as that is not known."""
        if self._executed is None or self._any_attribute or key in self._handed:
            return True
        return key in self.names or key in self._asked

    def reads_whole_dicts(self) -> bool:
        """Whether code may go through all attributes of an object."""
        return bool(self.names & {"vars", "__dict__", "dir"})

    def is_only_handed(self, key: object) -> bool:
        """Whether nothing is done with an attribute but to hand it, or its method, to a call made for its effect."""
        return key in self._handed and not (self._any_attribute or key in self.names or key in self._asked)


def _is_data(name: str, value: object) -> bool:
    """Whether a variable of a module is one that the user set: no function, class, module or name of Python's."""
    return not name.startswith("__") and not isinstance(value, (type, types.ModuleType, types.FunctionType))


def is_setting(value: Any, depth: int = 4) -> bool:
    """Whether a variable of a package may be set by its users: numbers, arrays, containers of them, an object.

    A container of anything else is the package's own affair: a cache, a register of classes.
    """
    if is_number(value) or isinstance(value, (np.ndarray, type(os.environ))):
        return True
    kind = type(value)
    if kind in (dict, list, tuple):
        items = list(value.values() if kind is dict else value)
        return depth > 0 and len(items) <= MOST_SETTINGS and all([is_setting(item, depth - 1) for item in items])
    return owner_of_class(kind) in PACKAGES and not is_compiled(kind) and not callable(value)


def _is_own_module(module: object) -> bool:
    return type(module) is types.ModuleType and owner_of(vars(module)) is Owner.USER
