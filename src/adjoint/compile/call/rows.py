"""What a recording relies on as rows of a table that machine code looks through: words, items of dicts, bytes.

A row says of one place what stood there. Whatever has no place that is known here has no rows, and Python looks at it.
"""

from __future__ import annotations

import collections
import ctypes
import functools
import types
import weakref
from collections.abc import Callable
from typing import Any

from ...capture.environment.object_state import (
    ANY,
    MISSING,
    TRANSPARENT,
    Digest,
    items_of,
    keys_of,
    referent_of,
    referents_of,
    same,
)
from ...capture.environment.watch import State, changed_in_class, content_of, holds_what_it_held, placed
from ...host.code.reach import VERSION, version_of
from .objects import MANAGED_DICT, VALUE, peek
from .raw import raw_rows
from .row import ITEM, MOST_ITEMS, Row, Rows, address_of, of_array, of_dict, of_list, of_set, reference, word

OBJECT, OBJECT_OR_ERROR = 6, 16
"""Types of members that are references."""
MEMBER, MEMBER_TYPE, MEMBER_OFFSET, MEMBER_FLAGS, READ_ONLY = 40, 8, 16, 24, 1
"""Where a descriptor of a slot keeps its definition, and where that has the type, the offset and the flags."""


def of_cell(cell: Any, was: object, name: str) -> Rows | None:
    """A closure cell."""
    return [reference(id(cell) + VALUE, content_of(cell), was)] if was is not ANY else []


def of_entry(owner: Any, key: Any, was: object, name: str, loose: bool) -> Rows | None:
    """An item of a dict."""
    if type(owner) is not dict or type(key) is not str:
        return None
    now = owner.get(key, MISSING)
    held = now if same(now, was) else was
    return [Row(ITEM, id(owner), id(key), address_of(held), held)] if was is not ANY else []


def of_kind(x: object, kind: type) -> Rows | None:
    """The class of an object."""
    return [word(id(x) + 8, id(kind))]


def of_class(kind: type, version: int, bases: Any, held: Any) -> Rows | None:
    """The version of a class: the one it has now, if what it holds is what it held."""
    now = version_of(kind)
    if not now or (now != version and changed_in_class(kind, bases, held)):
        return None
    return [word(id(kind) + VERSION, now, 2**32 - 1)]


def of_attribute(x: Any, name: str, value: object, words: str) -> Rows | None:
    """A part of a function, or the dict of an object."""
    if type(x) is types.FunctionType:
        place = function_places().get(name)
        return None if place is None else [_field(id(x) + place, value)]
    if name != "__dict__" or type(value) is not dict:
        return None
    offset, is_before = type(x).__dictoffset__, type(x).__flags__ & MANAGED_DICT
    places = [offset] if offset > 0 else [-24, -32, -16, -8] if is_before else []
    return next(([word(id(x) + at, id(value))] for at in places if peek(id(x) + at) == id(value)), None)


def _field(where: int, value: object) -> Row:
    """A field of an object; nothing in it stands for None."""
    return word(where, 0 if value is None and not peek(where) else id(value))


def of_place(x: object, descriptor: Any, value: object, name: str, loose: bool) -> Rows | None:
    """A slot."""
    definition = peek(id(descriptor) + MEMBER)
    if ctypes.c_int.from_address(definition + MEMBER_TYPE).value not in (OBJECT, OBJECT_OR_ERROR):
        return [] if ctypes.c_int.from_address(definition + MEMBER_FLAGS).value & READ_ONLY else None
    where, now = id(x) + peek(definition + MEMBER_OFFSET), placed(descriptor, x)
    return [reference(where, now, value)] if peek(where) == address_of(now) else None


def of_state(*state: Any) -> Rows | None:
    """What an object held."""
    x, reader, was, _, _, growing = known = State(*state)
    if growing:
        return None
    if reader is items_of and len(was) <= MOST_ITEMS:
        made = CONTAINERS.get(type(x))
        return None if made is None else made(x, was)
    if reader is keys_of and isinstance(x, type):
        return of_class(x, 0, x.__bases__, []) if holds_what_it_held(known) else None
    if reader is referent_of and type(x) is weakref.ref and peek(id(x) + VALUE) == id(was[0]):
        return [word(id(x) + VALUE, id(was[0]))]
    is_raw = isinstance(reader, Digest) or (reader is referents_of and type(x) in TRANSPARENT)
    if not is_raw or not holds_what_it_held(known):  # its memory as it is now would be taken for what it was
        return None
    return raw_rows(x, reader.arrays if isinstance(reader, Digest) else ())


CONTAINERS: dict[Any, Callable[..., Rows | None]] = {
    list: of_list,
    dict: of_dict,
    collections.defaultdict: of_dict,
    set: of_set,
}


@functools.cache
def function_places() -> dict[str, int]:
    """Where a function holds its code, its defaults, its names: looked for, as their order is Python's affair."""

    def probe(a: object = 1, *, b: object = 2) -> None: ...

    probe.__name__, probe.__qualname__, probe.__doc__, probe.__module__ = "a name", "another", "a text", "a module"
    names = ("__code__", "__defaults__", "__kwdefaults__", "__name__", "__qualname__", "__doc__", "__module__")
    parts = {name: id(getattr(probe, name)) for name in names}
    fields = {peek(id(probe) + at): at for at in range(16, types.FunctionType.__basicsize__, 8)}
    return {name: fields[part] for name, part in parts.items() if part in fields}


LISTS: tuple[tuple[str, Callable[..., Rows | None]], ...] = (
    ("cells", of_cell),
    ("entries", of_entry),
    ("attributes", of_attribute),
    ("places", of_place),
    ("kinds", of_kind),
    ("classes", of_class),
    ("states", of_state),
    ("arrays", of_array),
)
"""The lists of a watch, and how what is in them becomes rows."""
