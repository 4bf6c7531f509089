"""What an object holds: one reader for each way in which Python objects keep others, or numbers of their own.

A reader gives a tuple of what an object holds now. Two such tuples are alike if their parts are the same objects, or
equal numbers, so a change is seen without asking the object itself whether it is equal to what it was.
"""

from __future__ import annotations

import array
import collections
import contextvars
import copyreg
import ctypes
import functools
import gc
import io
import itertools
import mmap
import pickle
import types
import warnings
import weakref
from collections.abc import Callable, Container
from typing import Any

import numpy as np

from ...host.frames.variables import state_of_generator

MISSING: Any = object()
ANY: Any = object()
"""Stands for what may change."""
COMPARED = frozenset([int, str, bytes, bool, type(None), type(...), type(NotImplemented)])
EXACT = COMPARED | {float, complex}
"""Types whose objects never change; equal floats may differ in the sign of zero."""
CONTAINERS = (list, tuple, set, frozenset, dict, collections.deque)
FIXED = (tuple, frozenset)
BUFFERS = (
    bytearray,
    array.array,
    memoryview,
    mmap.mmap,
    ctypes.Array,
    ctypes.Structure,
    ctypes.Union,
    ctypes._SimpleCData,
)
ITERATING = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
REFERENCES = (weakref.ref, weakref.ProxyType, weakref.CallableProxyType)
TRANSPARENT: tuple[Any, ...] = (
    type({}.keys()),
    type({}.values()),
    type({}.items()),
    types.MappingProxyType,
    types.CellType,
    functools.partial,
    super,
    np.ufunc,
    type(functools.cmp_to_key(max)),
)
"""Compiled types that keep nothing but references to others."""
BY_IDENTITY = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType)
SILENT_MODULES = (
    "_thread",
    "_io",
    "_socket",
    "_ssl",
    "select",
    "logging",
    "inspect",
    "typing",
    "_typing",
    "datetime",
    "re",
    "_contextvars",
)
"""Modules of objects that no number is kept in: locks, files, connections, loggers; and of some that never change."""


class _Pair(ctypes.Structure):
    _fields_ = (("first", ctypes.c_int),)


IMMUTABLE = {range, slice, object, types.CodeType, types.GenericAlias, types.UnionType, type(_Pair.first)} | {
    *(types.GetSetDescriptorType, types.MemberDescriptorType, types.MethodDescriptorType),
    *(types.WrapperDescriptorType, types.ClassMethodDescriptorType),
}
"""Compiled types whose objects never change."""
WORDS = ("string", "large_string", "string_view")
"""Types of pyarrow's arrays whose memory nobody else writes to, as one does to that of numbers: the names of pandas."""
HEAP = 1 << 9
LRU_CACHE: Any = functools._lru_cache_wrapper

Reader = Callable[[Any], tuple[Any, ...]]


def items_of(x: Any) -> tuple[Any, ...]:
    """What a container has in it; not what a subclass says it has."""
    if isinstance(x, dict):
        plain: Any = collections.OrderedDict if isinstance(x, collections.OrderedDict) else dict
        return (*plain.keys(x), *plain.values(x))
    for kind in (list, tuple, set, frozenset, collections.deque):
        if isinstance(x, kind):
            return tuple(kind.__iter__(x))  # type: ignore[arg-type]
    return tuple(x)


def bytes_of(x: Any) -> tuple[Any, ...]:
    """What memory holds that is no array's."""
    try:
        if isinstance(x, mmap.mmap):
            return (x[:],)
        view = memoryview(x)
    except (ValueError, TypeError) as error:  # released, closed, or none
        return (repr(error),)
    return view.format, str(view.shape), view.tobytes()


def context_of(x: contextvars.ContextVar[Any]) -> tuple[Any, ...]:
    """What a context variable is set to here."""
    try:
        return (x.get(),)
    except LookupError:
        return (MISSING,)


def referent_of(x: Any) -> tuple[Any, ...]:
    """What a weak reference refers to; nothing if that is gone."""
    try:
        found = x() if isinstance(x, weakref.ref) else x.__init__.__self__
    except (ReferenceError, AttributeError):
        return (None,)
    return (found.__func__, found.__self__) if isinstance(found, types.MethodType) else (found,)


def decimals_of(x: Any) -> tuple[Any, ...]:
    """How decimal numbers are rounded in this context."""
    now = x()
    return now.prec, now.rounding, now.Emin, now.Emax, now.capitals, now.clamp, repr(now.traps)


def remembered_by(x: object) -> list[dict[Any, Any]]:
    """The results that a cached function remembers, by arguments."""
    return [r for r in referents_of(x) if type(r) is dict]


def referents_of(x: object) -> tuple[Any, ...]:
    """The objects that a compiled type holds, as it tells the garbage collector; attributes are looked at apart."""
    own = dict_of(x)
    apart = {id(own), id(type(x)), *(map(id, own.values()) if own else ())}
    return tuple([r for r in gc.get_referents(x) if id(r) not in apart and not isinstance(r, type)])


def places_of(kind: type) -> list[tuple[str, Any]]:
    """The attributes of a class and its bases that have a place of their own in each object, and how each is read."""
    found = [(name, place) for base in kind.__mro__ for name, place in vars(base).items()]
    return [(name, p) for name, p in found if isinstance(p, types.MemberDescriptorType) and name != "__dict__"]


def keys_of(x: object) -> tuple[Any, ...]:
    """The names of the attributes of a class or module."""
    return tuple(vars(x))


def dict_of(x: object) -> dict[str, Any] | None:
    """The attributes of an object that are in a dict; not what a method of its own says they are."""
    own = getattr_static(x, "__dict__")
    return own if isinstance(own, dict) else None


def getattr_static(x: object, name: str) -> Any:
    """An attribute as `object` finds it, or else as the object itself does."""
    for find in (object.__getattribute__, getattr):
        try:
            return find(x, name)
        except Exception:  # noqa: S112  (whatever an object's own methods raise)
            continue
    return MISSING


def is_compiled(kind: type) -> bool:
    """Whether a class, or one that it is built on, is written in C and may keep something that Python does not see.

    Objects of a class that Python made have no more room than for their attributes.
    """
    while kind is not object and not is_among(kind, EXACT):
        base, own = kind.__base__ or object, vars(kind)
        attributes = [v for v in own.values() if isinstance(v, types.MemberDescriptorType)]
        room = 8 * (len(attributes) + len(own.keys() & {"__dict__", "__weakref__"}))
        if not kind.__flags__ & HEAP or kind.__basicsize__ - base.__basicsize__ > room:
            return True
        kind = base
    return False


class Digest:
    """What a compiled object means, as it would be pickled; arrays that it holds are in `arrays` and count by identity.

    Classes and functions that it holds are in `code`. Made from an object that cannot be pickled, or not the same way
    twice, it raises.
    """

    def __init__(self, x: Any) -> None:
        first: list[Any] = []
        again: list[Any] = []
        self._dumped(x, first)
        self._dumped(x, again)
        kept = {id(a) for a in first}
        found = [a for a in again if id(a) in kept]  # arrays that are made anew each time: what they hold counts
        self.arrays = [a for a in found if isinstance(a, np.ndarray)]
        self.code = [c for c in found if not isinstance(c, np.ndarray)]
        self._known = {id(a) for a in self.arrays}
        if self(x) != self(x):
            raise pickle.PicklingError("never the same twice")

    def __call__(self, x: object) -> tuple[Any, ...]:
        """One tuple with the bytes."""
        return (self._dumped(x),)

    def _dumped(self, x: object, found: list[Any] | None = None) -> bytes:
        out = io.BytesIO()
        pickler: Any = _Pickler(out, 5)
        pickler.dispatch_table = collections.ChainMap(UNPICKLED, dict[Any, Any](copyreg.dispatch_table))
        pickler.found, pickler.known = found, set() if found is not None else self._known
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pickler.dump(x)
        return out.getvalue()


def _said(x: object) -> Any:
    """An iterator that says all that it holds."""
    return str, (repr(x),)


def _moving(x: object) -> Any:
    """An iterator that takes its items from others: what is in its memory, where it counts, and what these hold."""
    start = object.__basicsize__
    own = ctypes.string_at(id(x) + start, type(x).__basicsize__ - start)
    held = [part for part in gc.get_referents(x) if part is not type(x)]
    return tuple, ([own, *[present_in(part) if type(part) is tuple else part for part in held]],)


def present_in(x: tuple[Any, ...]) -> list[Any]:
    """The items of a tuple that may be half empty, as compiled objects have: to read a missing one is a crash."""
    return gc.get_referents(x)


MOVING = (
    "accumulate", "batched", "chain", "compress", "cycle", "dropwhile", "filterfalse", "groupby", "islice", "pairwise",
    "starmap", "takewhile", "zip_longest",
)  # fmt: skip
ITERATORS = {getattr(itertools, name): _moving for name in MOVING if hasattr(itertools, name)}
ITERATORS |= {itertools.count: _said, itertools.repeat: _said}
UNPICKLED: dict[Any, Any] = {kind: how for kind, how in ITERATORS.items() if kind.__reduce__ is object.__reduce__}
"""Iterators that cannot be pickled, from Python 3.14 on, and what they hold; of others it cannot be seen."""


class _Pickler(pickle.Pickler):
    known: set[int]
    found: list[Any] | None

    def persistent_id(self, obj: object) -> Any:
        """The number of what is watched apart: arrays, classes, functions."""
        is_array = isinstance(obj, np.ndarray) and not obj.dtype.hasobject
        if not is_array and not isinstance(obj, BY_IDENTITY):
            return None
        if self.found is not None:
            self.found.append(obj)
            return id(obj)
        return id(obj) if not is_array or id(obj) in self.known else None


def is_among(kind: type, kinds: Container[Any]) -> bool:
    """Whether a class is one of these; not asking a metaclass, which may say anything."""
    return type(kind) is type and kind in kinds


def is_immutable(x: object) -> bool:
    """Whether an object of a compiled type never changes; NumPy's own universal functions among them."""
    if is_among(type(x), IMMUTABLE) or (type(x) is np.ufunc and getattr(np, x.__name__, None) is x):
        return True
    return type(x).__module__ == "pyarrow.lib" and str(getattr(x, "type", "")) in WORDS


def is_by_name(x: Any) -> bool:
    """Whether an object is pickled by the name of a variable that holds it: as a function, it is nothing but itself."""
    try:
        return isinstance(x.__reduce__(), str)
    except Exception:  # whatever an object's own methods raise
        return False


def is_structure(kind: type) -> bool:
    """Whether objects of a class are optree's structures: these never change, though what they refer to may."""
    return kind.__name__ == "PyTreeSpec" and kind.__module__.partition(".")[0] == "optree"


def is_compiled_function(kind: type) -> bool:
    """Whether objects of a class are functions that numba compiles: globals are constants of the code by then."""
    return str(kind.__module__).partition(".")[0] == "numba"


def is_number(x: object) -> bool:
    """Whether a value never changes and has nothing inside: a number, a text, None."""
    kind = type(x)
    return is_among(kind, EXACT) or (
        issubclass(kind, (np.generic, np.dtype)) and not issubclass(kind, (np.void, np.object_))
    )


def same(now: object, was: object) -> bool:
    """Whether a variable still holds the same object, or a number that cannot be told from it."""
    if now is was or was is ANY:
        return True
    kind = type(was)
    if type(now) is not kind or not is_number(was):
        return False
    return bool(now == was) if kind in COMPARED else repr(now) == repr(was)


def alike(now: tuple[object, ...], was: tuple[object, ...]) -> bool:
    """Whether an object holds what it held."""
    return len(now) == len(was) and all(map(same, now, was))


def still_has(x: dict[Any, Any], was: tuple[object, ...]) -> bool:
    """Whether a dict has all that it had: more of it is no change of a cache. Keys may be handles that traces left."""
    half, now = len(was) // 2, {id(key): value for key, value in x.items()}
    return all([same(now.get(id(key), MISSING), value) for key, value in zip(was[:half], was[half:], strict=True)])


READERS: tuple[tuple[Any, Reader], ...] = (
    (CONTAINERS, items_of),
    (BUFFERS, bytes_of),
    (np.void, lambda x: (x.dtype, x.tobytes())),
    (contextvars.ContextVar, context_of),
    (REFERENCES, referent_of),
    (ITERATING, state_of_generator),
    (np.flatiter, lambda x: (x.base, x.index)),
)
"""How objects are read that are neither plain ones with attributes nor compiled in a way that only they know."""
