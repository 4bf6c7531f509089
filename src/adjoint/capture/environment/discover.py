"""Looking for what a function uses besides its arguments: closure cells, globals, attributes, what is in containers.

Every object that can be reached is looked into, whoever wrote its class: its dict, its slots, its items, what a
compiled type refers to or would pickle (`holding.py`). What cannot be looked into is named, so that the function is
not recorded.
Code that has not run is left out where that is known (`executed.py`).
"""

from __future__ import annotations

import gc
import operator
import sys
import threading
import types
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...core.primitive import Primitive
from ...core.traced import Traced
from ...host.code.reach import PACKAGES, SILENT, own_names, owner_of_class, owner_of_function, version_of
from ...host.code.uses import has_handler
from ...host.frames.ownership import Owner
from ..recording.executed import Executed
from .effect_arguments import read_cells
from .generated import defaults_of, generated
from .object_state import (
    FIXED,
    LRU_CACHE,
    MISSING,
    READERS,
    REFERENCES,
    SILENT_MODULES,
    TRANSPARENT,
    Digest,
    decimals_of,
    dict_of,
    is_among,
    is_by_name,
    is_compiled,
    is_compiled_function,
    is_immutable,
    is_number,
    is_structure,
    items_of,
    keys_of,
    places_of,
    referents_of,
    remembered_by,
)
from .variables import Found, Holder, Variables, is_setting
from .watch import State, Watch, content_of, placed, state_of
from .world import functions_of, is_of_talker, is_talker, talk_of

MOST = 20_000
"""Objects that are looked at; a function that can reach more is not recorded."""
UNTOUCHED = ("__dict__", "__weakref__", "__doc__", "__module__", "__abstractmethods__", "_abc_impl", "__annotations__")
BARE = frozenset({list, tuple, dict, set, frozenset, bytearray})
"""Types whose objects have no attributes of their own."""
RANDOM = (np.random.Generator, np.random.RandomState, np.random.BitGenerator)
GETTERS = frozenset({operator.attrgetter, operator.itemgetter, operator.methodcaller})
"""Types whose objects never change, though what they refer to may."""
DESCRIPTION = ("__doc__", "__name__", "__qualname__", "__module__", "__annotations__")
PARTS = (("__code__", "the code"), ("__defaults__", "the defaults"), ("__kwdefaults__", "the defaults"))
"""What of a function may be replaced."""


def look(*roots: object, executed: Executed | None = None) -> Watch:
    """The surroundings of functions and objects, as they are now; of code that ran alone, if that is known."""
    return _Looking(executed).at(roots)


def names_in_getter(x: Any) -> set[str]:
    """The attributes that a getter asks for."""
    return {part for text in x.__reduce__()[1] if isinstance(text, str) for part in text.split(".")}


def may_catch(*functions: object) -> bool:
    """Whether functions of the user's, or others that they call, have a `try` or `with`: they may catch an error."""
    return any([has_handler(f.__code__) for f in look(*functions).functions()])


class _Looking:
    def __init__(self, executed: Executed | None) -> None:
        self.watch = Watch()
        self._executed = executed
        self._variables = Variables(self.watch, executed)
        self._digested: set[int] = set()
        self._objects: list[tuple[Any, dict[str, Any]]] = []
        self._described: list[Any] = []
        self._talkers: list[Any] = []
        """Objects of compiled types that may talk to the world."""
        self._settable: list[tuple[Any, dict[str, Any]]] = []
        """Objects of this library on which the user may set attributes."""

    def at(self, roots: tuple[object, ...]) -> Watch:
        """Look at everything that can be reached."""
        stack = [*[Found(root, "") for root in roots], *self._variables.of_executed()]
        later: list[Found] = []  # what belongs to packages, unless it is the user's own as well
        while stack or later:
            if not stack:
                self._visit(later.pop(), stack)
            while stack:
                found = stack.pop()
                if found.holder is None:
                    self._visit(found, stack)
                else:
                    later.append(found)
            if not later:  # modules last, as all names have been seen by then
                stack += self._variables.of_modules()
        self._note_absent()
        self._note_talk()
        return self.watch

    def _note_talk(self) -> None:
        """Calls by which others are reached: they are made anew each time, so nothing is recorded."""
        names = self._variables.mentioned
        found = [talk_of(x, names) for x in self._talkers] + [
            functions_of(module, names) for module in self._variables.modules() if is_talker(module)
        ]
        for what in found:
            if what and not self.watch.unwatchable:
                self.watch.unwatchable = (
                    f"it calls {what}, which may talk to the world: a recording would not repeat it"
                )

    def _visit(self, found: Found, stack: list[Found]) -> None:
        x, watch = found.x, self.watch
        if is_number(x) or type(x) in (Primitive, Traced) or id(x) in watch.seen or watch.unwatchable:
            return
        watch.seen[id(x)] = x
        if len(watch.seen) > MOST:
            watch.unwatchable = f"more than {MOST:,} objects are behind the captured {type(x).__name__}{found.name}"
            return
        if is_of_talker(x):
            self._talkers.append(x)
            return
        stack.extend(self._inside(*found))

    def _inside(self, x: Any, name: str, holder: Holder | None) -> Iterator[Found]:
        kind = type(x)
        if issubclass(kind, np.ndarray):
            yield from self._array(x, name, holder)
        elif kind is types.FunctionType:
            yield from self._function(x)
        elif kind is types.MethodType:
            yield from (Found(x.__func__, name, holder), Found(x.__self__, name, holder))
        elif issubclass(kind, (staticmethod, classmethod)):
            yield Found(x.__func__, name, holder)
        elif kind is property:
            yield from [Found(part, name, holder) for part in (x.fget, x.fset)]
        elif issubclass(kind, RANDOM):
            self.watch.generators.append((x, state_of(x), name))
        elif issubclass(kind, type):
            yield from self._class(x)
        elif issubclass(kind, types.ModuleType):
            self._variables.note_module(x)
        elif kind is types.BuiltinFunctionType or kind is types.MethodWrapperType:
            if x.__self__ is not None and type(x.__self__) is not types.ModuleType:
                yield Found(x.__self__, name, holder)
        else:
            yield from self._object(x, name, holder)

    def _array(self, x: np.ndarray, name: str, holder: Holder | None) -> Iterator[Found]:
        self.watch.met_arrays.append((x, name))
        if x.dtype.hasobject:
            yield from [Found(item, name, holder) for item in np.ndarray.view(x, np.ndarray).ravel().tolist()]
        if type(x) is not np.ndarray:
            yield from self._attributes(x, holder)

    def _function(self, f: types.FunctionType) -> Iterator[Found]:
        code, run = f.__code__, self._executed
        owner = owner_of_function(f)
        foreign, installed = owner is not Owner.USER, owner in PACKAGES
        if not foreign or owner is Owner.OURS or f.__dict__:  # with attributes that users set
            self._described.append(f)
        if run is not None and code not in run:
            yield from [Found(value, f" {f.__name__}.{key}") for key, value in f.__dict__.items()]
            return
        holder = Holder(f) if foreign and owner not in SILENT else None
        read = code.co_freevars if run is None or foreign else read_cells(code, f.__globals__, run)
        for name, cell in zip(code.co_freevars, f.__closure__ or (), strict=True):
            content = content_of(cell)
            self.watch.cells.append((cell, content, name))
            yield from [Found(content, f" {name!r}", holder)] if name in read else []
        yield from [Found(x, f" among the defaults of {f.__name__!r}", holder) for x in f.__defaults__ or ()]
        yield from [Found(x, f" {name!r}", holder) for name, x in (f.__kwdefaults__ or {}).items()]
        self.watch.meets_packages = self.watch.meets_packages or installed
        for key, value in f.__dict__.items():
            if key != "__wrapped__":
                self.watch.entries.append((f.__dict__, key, value, f"{f.__name__}.{key}", holder is not None))
                yield Found(value, f" {f.__name__}.{key}", holder)
        if foreign and (run is None or not installed):
            return
        self.watch.attributes += [(f, part, getattr(f, part), f"{words} of {f.__name__!r}") for part, words in PARTS]
        if f.__kwdefaults__:
            self._state(f.__kwdefaults__, items_of, f" of defaults of {f.__name__!r}", holder)
        if not foreign:
            yield from self._variables.of_code(code, f.__globals__)

    def _class(self, kind: type) -> Iterator[Found]:
        """What a class holds: methods, and attributes that all its objects share; of a package's, code that has run."""
        owner = owner_of_class(kind)
        if kind is object or kind is type or kind.__module__ == "builtins" or owner is Owner.OURS:
            return
        if kind.__module__ in ("decimal", "_decimal") and kind.__name__ == "Decimal":
            self._state(sys.modules["decimal"].getcontext, decimals_of, " of decimal numbers", None)
        users, installed = owner is Owner.USER, owner in PACKAGES
        self._described += [kind] if users else []
        self.watch.meets_packages = self.watch.meets_packages or installed
        if not users and self._executed is None:
            return
        holder = None if users else Holder(kind)
        held: list[tuple[Mapping[Any, Any], str, Any, str]] = []
        written = generated(kind)
        for key, value in list(vars(kind).items()):
            special = (users or installed) and key.startswith("__")
            if key not in UNTOUCHED and (special or self._variables.may_be_read(key)):
                held.append((vars(kind), key, value, f"{kind.__name__}.{key}"))
                if key in written:
                    parts = defaults_of(kind) if key in ("__init__", "__new__") else []
                    yield from [Found(x, f" among the fields of {kind.__name__}", holder) for x in parts]
                elif users or (type(value) in (dict, list) and is_setting(value)):
                    yield Found(value, f" {kind.__name__}.{key}", holder)
            if not users and key not in written:  # code that may have run, or may have been asked for something
                value = getattr(value, "__func__", getattr(value, "fget", value))
                if type(value) is types.FunctionType and (self._has_run(value) or self._variables.may_be_read(key)):
                    yield Found(value, "", holder)
        if users or installed:
            self.watch.classes.append((kind, version_of(kind), kind.__bases__, held))
        yield from [Found(base, "", holder) for base in (*kind.__bases__, type(kind))]

    def _has_run(self, f: types.FunctionType) -> bool:
        return self._executed is not None and f.__code__ in self._executed

    def _object(self, x: object, name: str, holder: Holder | None) -> Iterator[Found]:
        """Whatever is not code: its items, what it refers to, its attributes."""
        kind = type(x)
        if owner_of_class(kind) is Owner.OURS:
            yield from self._transformed(x)
            return
        if is_immutable(x) or is_compiled_function(kind):
            return
        if is_among(kind, GETTERS):
            self._variables.mention(names_in_getter(x))
        if is_structure(kind) or is_among(kind, GETTERS):
            yield from [Found(item, name, holder) for item in referents_of(x)]
            return
        reader = next((reader for kinds, reader in READERS if issubclass(kind, kinds)), None)
        if reader is not None:
            if not issubclass(kind, FIXED):
                self._state(x, reader, name, holder)
            yield from [Found(item, name, holder) for item in reader(x)]
        elif kind.__module__ in SILENT_MODULES and not issubclass(kind, threading.local):
            return
        elif kind is not types.SimpleNamespace and is_compiled(kind):
            yield from self._compiled(x, name, holder)
        if not is_among(kind, BARE) and not issubclass(kind, REFERENCES):
            yield from self._attributes(x, holder)

    def _transformed(self, x: object) -> Iterator[Found]:
        """A jitted function, or one with rules of its own: what it was made of, and what the user has set on it."""
        own, private = dict_of(x), own_names(type(x))
        if own is None:
            return
        for key, value in own.items():
            if key not in private and key not in (*DESCRIPTION, "__wrapped__"):
                where = f"the attribute {key!r} of a {type(x).__name__}"
                self.watch.entries.append((own, key, value, where, False))
                yield Found(value, f" in {where}")
        self._settable.append((x, own))

    def _compiled(self, x: Any, name: str, holder: Holder | None) -> Iterator[Found]:
        """What an object of a compiled type keeps: references to others, or whatever it would pickle."""
        kind = type(x)
        if (
            is_immutable(x)
            or issubclass(kind, threading.local)
            or any([base.__module__ in SILENT_MODULES for base in kind.__mro__])
        ):
            return
        if kind is LRU_CACHE:
            yield Found(x.__wrapped__, name, holder)
            for results in remembered_by(x):
                self.watch.states.append(State(results, items_of, items_of(results), name, False, growing=True))
                found = [part for item in results.values() for part in (item, *gc.get_referents(item))]
                yield from [Found(item, name, holder) for item in found if not type(item).__name__.startswith("_lru")]
        elif is_by_name(x) or (kind is np.ufunc and not referents_of(x)):
            return
        elif issubclass(kind, TRANSPARENT):
            self._state(x, referents_of, name, holder)
            yield from [Found(item, name, holder) for item in referents_of(x)]
        else:
            yield from self._pickled(x, name, Holder(x, holder))

    def _pickled(self, x: object, name: str, holder: Holder) -> Iterator[Found]:
        """What an object would pickle; or else the object of a package that it belongs to, whose cache it may be."""
        at: Holder | None = holder
        while at is not None:
            if at.x is not x and id(at.x) in self._digested:
                return
            try:
                digest = Digest(at.x)
            except Exception:  # whatever an object raises that cannot be pickled
                at = at.outer
                continue
            self._digested.add(id(at.x))
            self._state(at.x, digest, name, holder)
            yield from [Found(item, name, holder) for item in (*digest.arrays, *digest.code)]
            return
        self.watch.unwatchable = f"what is inside the captured {type(x).__name__}{name} cannot be seen"

    def _attributes(self, x: object, holder: Holder | None) -> Iterator[Found]:
        """The attributes of an object, in its dict or in places of their own."""
        kind, own, watch = type(x), dict_of(x), self.watch
        yield Found(kind, "")
        users = kind is types.SimpleNamespace or owner_of_class(kind) is Owner.USER
        holder = None if users else Holder(x, holder)
        if users:
            watch.kinds.append((x, kind))
        if own is not None:
            watch.attributes.append((x, "__dict__", own, f"the attributes of a {kind.__name__}"))
            if users:
                self._objects.append((x, own))
            else:
                self._state(own, items_of, f" of attributes of a {kind.__name__}", holder)
            for key, value in list(own.items()):
                if not users or self._variables.may_be_read(key):
                    where = f"the attribute {key!r} of a {kind.__name__}"
                    watch.entries.append((own, key, value, where, not users))
                    if not users or not self._variables.is_only_handed(key):
                        yield Found(value, f" in {where}", holder)
        for key, place in places_of(kind):
            value, where = placed(place, x), f"the attribute {key!r} of a {kind.__name__}"
            watch.places.append((x, place, value, where, not users))
            yield Found(value, f" in {where}", holder)

    def _state(self, x: Any, reader: Any, name: str, holder: Holder | None) -> None:
        self.watch.states.append(State(x, reader, reader(x), name, holder is not None))

    def _note_description(self, x: Any) -> None:
        """Attributes of a function or class that Python itself sets, and those of a function that users set."""
        names = [name for name in DESCRIPTION if name in self._variables.attributes]
        if type(x) is types.FunctionType:
            self._state(x.__dict__, items_of, f" of attributes of {x.__name__!r}", None)
            if self._executed is not None and x.__code__ not in self._executed:  # else they are watched anyway
                names += [name for name, _ in PARTS[1:]]
            if "__annotations__" in names:
                self._state(x.__annotations__, items_of, f" of annotations of {x.__name__!r}", None)
        self.watch.attributes += [(x, name, getattr(x, name, None), f"{name} of {x.__name__!r}") for name in names]

    def _note_absent(self) -> None:
        """Names that are not there now, and would be found before what is there if they came: `self.scale = 2.0`, where
        `scale` was the class's; an attribute that is asked for in case it exists.
        """
        for x, own in self._objects:
            kind = type(x)
            for name in self._variables.names - own.keys():
                if hasattr(kind, name) or name not in vars(np):
                    missing = (own, name, MISSING, f"the attribute {name!r} of a {kind.__name__}", False)
                    self.watch.entries.append(missing)
            if self._variables.reads_whole_dicts():
                self._state(own, items_of, f" of attributes of a {kind.__name__}", None)
        for x, own in self._settable:
            absent = self._variables.names - own.keys() - own_names(type(x))
            what = f"{type(x).__name__} {getattr(x, '__name__', '')}".strip()
            self.watch.entries += [
                (own, name, MISSING, f"the attribute {name!r} of a {what}", False)
                for name in absent
                if not hasattr(type(x), name)
            ]
        for x in self._described if self._variables.attributes else ():
            self._note_description(x)
            if isinstance(x, type) and self._variables.reads_whole_dicts():
                self._state(x, keys_of, f" {x.__name__!r}", None)
        for kind, _, _, held in self.watch.classes:
            there = vars(kind)
            if owner_of_class(kind) is not Owner.USER:
                continue
            held += [(there, name, MISSING, f"{kind.__name__}.{name}") for name in self._variables.names - there.keys()]
