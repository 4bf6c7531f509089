"""The variables of a frame as they are: handles and numbers apart, and all that can be reached from the rest."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.primitive import Primitive
from ...core.trace import Trace
from ...core.traced import Traced
from ...host.code.reach import owner_of_class
from ...host.frames.ownership import OURS, Owner
from ...host.frames.variables import set_variables, variables_in
from ...ir.bits import Copy, same_bits
from ...ir.program import KINDS
from ..environment.object_state import dict_of, is_compiled, is_immutable, is_number, places_of
from ..environment.watch import content_of, placed

MOST = 2000
"""Objects that are looked at."""
WHOLE = (Primitive, Trace, types.CodeType)
"""What is not looked into."""


class Slot(NamedTuple):
    """A handle or a number among the variables, and what it stood for."""

    x: Any
    value: Any = None
    trace: Any = None
    node: Any = None

    @property
    def is_handle(self) -> bool:
        """Whether it is a handle; a plain number otherwise."""
        return self.trace is not None

    def is_still(self, other: Slot) -> bool:
        """Whether it is the same handle, which stands for the same value, or the same number."""
        if not self.is_handle or not other.is_handle:
            return self.is_handle == other.is_handle and is_same_fact(Fact(self.x), Fact(other.x))
        return all([a is b for a, b in zip(self, other, strict=True)])


class FrameVariables(NamedTuple):
    """The variables of a frame at one time."""

    slots: list[Slot]
    """In the order of names: variables that are handles or numbers, or items of tuples that are variables."""
    rest: list[Any]
    """Everything else: objects that have to be the very same, and texts that have to be equal."""
    seen: frozenset[int]
    """The identities of all objects that can be reached, but for handles among the slots."""

    def is_like(self, other: FrameVariables) -> bool:
        """Whether all but the slots is as it was, and the same variables share a handle."""
        if len(self.rest) != len(other.rest) or self.sharing() != other.sharing():
            return False
        return all([is_same_fact(a, b) for a, b in zip(self.rest, other.rest, strict=True)])

    def sharing(self) -> list[int]:
        """For each slot the first place at which the very same handle stands."""
        first: dict[int, int] = {}
        return [first.setdefault(id(s.x), k) if s.is_handle else k for k, s in enumerate(self.slots)]


class FrameScope:
    """The variables of a frame that matter, and the iterators of loops that it is in."""

    def __init__(self, frame: types.FrameType, live: frozenset[str] | None, iterators: Sequence[Any]) -> None:
        self._frame = frame
        self._live = live
        self._iterators = iterators

    def _named(self) -> list[tuple[str, Any]]:
        found = variables_in(self._frame).items()
        return sorted([(name, x) for name, x in found if self._live is None or name in self._live])

    def now(self) -> FrameVariables | None:
        """What they hold; None if something cannot be looked into: an iterator, a generator of random numbers."""
        looking = _Looking()
        try:
            for name, x in self._named():
                looking.rest.append(Fact(name))
                looking.variable(x)
            for iterator in self._iterators:
                looking.rest += [iterator, iterator.limits]
                looking.variable(iterator.following)
        except UnknownError:
            return None
        return FrameVariables(looking.slots, looking.rest, frozenset(looking.seen))

    def put(self, values: Sequence[Any]) -> None:
        """Let the slots hold these."""
        rest = iter(values)
        set_variables(self._frame, {name: _with_slots(x, rest) for name, x in self._named()})
        for iterator in self._iterators:
            iterator.following = _with_slots(iterator.following, rest)


def _with_slots(x: Any, values: Iterator[Any]) -> Any:
    if _is_handle(x) or _is_counted(x):
        return next(values)
    if type(x) is tuple:
        items = [_with_slots(item, values) for item in x]
        return x if all([a is b for a, b in zip(items, x, strict=True)]) else tuple(items)
    return x


def _is_handle(x: Any) -> bool:
    return issubclass(type(x), Traced) and bool(x.traced_by.level)


def _is_counted(x: Any) -> bool:
    """Whether it is a number that can become a handle."""
    return type(x) in (int, bool, float) or (issubclass(type(x), np.generic) and x.dtype.kind in KINDS)


class UnknownError(Exception):
    """An object whose contents cannot be seen, or a handle that may share memory with others."""


class Fact(NamedTuple):
    """A number, a text or a type in words, which is told from others by its bits."""

    x: Any


def is_same_fact(a: Any, b: Any) -> bool:
    """Whether two facts are the same, two copies of arrays hold the same, or something else is the very same object."""
    if type(a) is Fact:
        return type(b) is Fact and type(a.x) is type(b.x) and _word(a.x) == _word(b.x)
    if type(a) is Copy:
        return type(b) is Copy and same_bits(a.array, b.array)
    return a is b


def _word(x: Any) -> Any:
    if type(x) in (int, str):
        return x
    return (x.dtype, x.tobytes()) if isinstance(x, np.generic) else repr(x)


class _Looking:
    def __init__(self) -> None:
        self.slots: list[Slot] = []
        self.rest: list[Any] = []
        self.seen: set[int] = set()

    def variable(self, x: Any) -> None:
        """A variable, or an item of a tuple that is one."""
        if _is_handle(x):
            self.slots.append(Slot(x, x.value, x.traced_by, x.node))
            self.rest.append(Slot)
        elif _is_counted(x):
            self.slots.append(Slot(x))
            self.rest.append(type(x))
        elif type(x) is tuple:
            self.rest += [tuple, Fact(len(x))]
            for item in x:
                self.variable(item)
        else:
            self._look(x)

    def _look(self, x: Any) -> None:
        if is_number(x):
            self.rest.append(Fact(x))
            return
        self.rest.append(x)
        if id(x) in self.seen:
            return
        self.seen.add(id(x))
        if len(self.seen) > MOST:
            raise UnknownError
        for part in self._parts(x):
            self._look(part)

    def _parts(self, x: Any) -> Sequence[Any]:
        """What an object refers to; it keeps nothing else."""
        kind = type(x)
        if issubclass(kind, Traced):  # that no handle is updated meanwhile is for others to see
            return () if x.traced_by.level else (x.value,)
        if kind is np.ndarray and not x.dtype.hasobject:
            self.rest.append(Copy(x))
            return ()
        found = parts_of_code(x)
        if found is not None:
            return found
        if kind in (list, tuple, set, frozenset):
            return list(x)
        if kind is dict:
            return [*x.keys(), *x.values()]
        _, _, parts = parts_of_object(x)
        return [kind, *parts]


def parts_of_object(x: Any) -> tuple[int, int, list[Any]]:
    """What an object of a class written in Python refers to: how many items and attributes it has, and all of them."""
    kind = type(x)
    if is_compiled(kind) and not issubclass(kind, tuple):
        raise UnknownError
    items = list(x) if issubclass(kind, tuple) else []
    own = dict_of(x) or {}
    slots = [placed(place, x) for _, place in places_of(kind)]
    return len(items), len(own), [*items, *own.keys(), *own.values(), *slots]


def parts_of_code(x: Any) -> Sequence[Any] | None:
    """What a function, a class or a module refers to; None for other objects.

    Modules, and classes that are not the user's, are not looked into: code that changes these is refused by the
    recording as a whole.
    """
    kind = type(x)
    if issubclass(kind, WHOLE) or is_immutable(x):
        return ()
    if issubclass(kind, types.ModuleType):
        return () if sys.modules.get(x.__name__) is x else None
    if issubclass(kind, type):
        return [*vars(x).values(), *x.__bases__] if owner_of_class(x) is Owner.USER else ()
    if kind is types.BuiltinFunctionType:
        return () if x.__self__ is None or type(x.__self__) is types.ModuleType else (x.__self__,)
    if kind is types.FunctionType:
        cells = [content_of(cell) for cell in x.__closure__ or ()]
        return [x.__code__, x.__defaults__, x.__kwdefaults__, x.__dict__, *cells]
    if kind is types.MethodType:
        return (x.__func__, x.__self__)
    if kind is functools.partial:
        return (x.func, x.args, x.keywords, x.__dict__)
    if _is_ours(kind) and callable(x) and "fun" in (own := dict_of(x) or {}):
        return (own["fun"],)
    return None


def _is_ours(kind: type) -> bool:
    """Whether a class is this library's own: what jitted functions and those with rules keep changes no result."""
    return kind.__module__.partition(".")[0] == OURS
