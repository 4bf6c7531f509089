"""Which objects can be copied for a recording, and what is behind them."""

from __future__ import annotations

import abc
import dataclasses
import functools
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...host.code.reach import owner_of_class
from ...host.code.uses import compares_objects, has_same_instructions
from ...host.frames.ownership import Owner
from ...host.objects.parts import (
    ARGUMENT,
    CELL,
    CONTENT,
    DEFAULT,
    FUNCTION,
    GLOBAL,
    ITEM,
    SELF,
    WORD,
    WORDS,
    Edges,
    attributes_of,
    dict_of,
)
from ...host.objects.walk import Reached, walk
from .object_state import is_among, is_compiled

TELLING = ("__getattribute__", "__del__")
"""Methods that may tell a copy from the object, if a class has its own."""


def can_be_copied(x: object) -> bool:
    """Whether a copy of an object of the user's own class cannot be told from it, but by asking which one it is."""
    kind = type(x)
    if kind is types.SimpleNamespace:
        return True
    if type(kind) not in (type, abc.ABCMeta) or owner_of_class(kind) is not Owner.USER or is_compiled(kind):
        return False
    return all([getattr(kind, name, None) is getattr(object, name, None) for name in TELLING])


def is_named(kind: object) -> bool:
    """Whether a class is a named tuple's, as `collections.namedtuple` makes it."""
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields") and hasattr(kind, "_make")


def is_container(x: object) -> bool:
    """Whether an object is a list, tuple, named tuple or dict and nothing more."""
    kind: Any = type(x)
    if is_among(kind, (list, tuple, dict)):
        return True
    return is_named(kind) and kind.__iter__ is tuple.__iter__ and not dict_of(x)


def asks_which(codes: Iterable[types.CodeType]) -> bool:
    """Whether code asks if two objects are one, other than None and classes."""
    return any(map(_asks_which, codes))


@functools.lru_cache(4096)
def _asks_which(code: types.CodeType) -> bool:
    if _is_dataclasses_eq(code):
        return False
    return compares_objects(code) or any([_asks_which(c) for c in code.co_consts if isinstance(c, types.CodeType)])


def _is_dataclasses_eq(code: types.CodeType) -> bool:
    """Whether code is the `__eq__` that `dataclasses` writes: it asks whether both are one, but only to be quick."""
    if code.co_name != "__eq__" or code.co_filename != "<string>":
        return False
    fields = [name for name in code.co_names if name not in ("__class__", "NotImplemented")]
    like: Any = dataclasses.make_dataclass("Like", fields)
    return has_same_instructions(like.__eq__.__code__, code)


def behind(roots: Iterable[object], is_wanted: Callable[[Any], bool], *, objects: bool) -> dict[int, Any]:
    """Everything from which something wanted is reached, by numbers; through objects with attributes only if asked."""
    reached = Reached(roots, functools.partial(_held, objects=objects))
    wanted = [number for number, x in reached.objects.items() if is_wanted(x)]
    return {number: reached.objects[number] for number in (*wanted, *reached.above(wanted))}


def _held(x: Any, *, objects: bool) -> list[Any]:
    """What an object that can be copied holds, with the cells and dicts that hold it."""
    kind = type(x)
    if is_among(kind, LOOKED_INTO):
        return WITH_HOLDERS.held(x) if kind is not functools.partial else [vars(x), *WITH_HOLDERS.held(x)]
    if is_container(x):
        return list(x)
    return [dict_of(x), *attributes_of(x).values()] if objects and can_be_copied(x) else []


LOOKED_INTO = frozenset((types.FunctionType, types.MethodType, functools.partial, types.CellType, list, tuple, dict))
WITH_HOLDERS = Edges(CELL, WORDS, CONTENT, GLOBAL, FUNCTION, SELF, ARGUMENT, DEFAULT, WORD, ITEM)
IN_CALLS = Edges(CONTENT, GLOBAL, FUNCTION, ARGUMENT, DEFAULT, WORD, ITEM)


def functions_behind(root: object) -> Iterator[types.FunctionType]:
    """A function, and those that it uses itself or through containers."""
    return (x for x in walk([root], _in_calls) if type(x) is types.FunctionType)


def _in_calls(x: Any) -> list[Any]:
    if is_among(type(x), LOOKED_INTO):
        return IN_CALLS.held(x)
    return list(x) if is_container(x) else []
