"""What of a recording's surroundings machine code compares before each call, and what is left to Python."""

from __future__ import annotations

import functools
import types
from typing import Any

from ...capture.environment.watch import Watch, changed_in_class
from ...host.objects.parts import MISSING, dict_of, items_of
from .rows import LISTS, function_places
from .signature import (
    AttributeIs,
    CellIs,
    ClassIs,
    Condition,
    DictHas,
    DictIs,
    DictLacks,
    FieldIs,
    Holds,
    ListIs,
    OwnDictIs,
    TypeIs,
    Unchanged,
)
from .table import WatchTable

FEW = 64
"""Conditions that are part of the machine code: it takes LLVM a millisecond each. More of them are a table."""
LONGEST = 64
"""Items of a captured container that are looked at one by one."""


def watches_of(watch: Watch) -> tuple[Condition, ...]:
    """The conditions of an entry; the last one asks Python about whatever machine code cannot look at."""
    if _size(watch) > FEW:
        return _by_table(WatchTable(watch))
    rest = Watch()
    rest.arrays, rest.reads_state = watch.arrays, watch.reads_state
    rest.generators = watch.generators if watch.reads_state else []
    found: list[Condition] = []
    for cell, content, name in watch.cells:
        if content is MISSING:
            rest.cells.append((cell, content, name))
        else:
            found.append(CellIs(cell, content))
    for known in watch.classes:
        kind, version, bases, held = known
        if version:
            found.append(ClassIs(kind, version, functools.partial(_is_unchanged, kind, bases, held)))
        else:
            rest.classes.append(known)
    for entry in watch.entries:
        owner, key, content, *_ = entry
        if type(owner) is not dict or type(key) is not str:
            rest.entries.append(entry)
        else:
            found.append(DictLacks(owner, key) if content is MISSING else DictIs(owner, key, content))
    found += [TypeIs(x, kind) for x, kind in watch.kinds]
    _objects(watch, rest, found)
    _containers(watch, rest, found)
    table = WatchTable(rest)
    return (*found, *_by_table(table)) if table.has_rows or table.has_rest else tuple(found)


def _size(watch: Watch) -> int:
    """How much there is to look at."""
    alone = sum([len(getattr(watch, name)) for name, _ in LISTS])
    return alone + sum([len(s.was) for s in watch.states if s.reader is items_of])


def _by_table(table: WatchTable) -> tuple[Condition, ...]:
    """One condition for all that is in a table, and one for the rest."""
    rest = [Holds(table.rest_holds)] if table.has_rest else []
    return (Unchanged(table.header, table.recheck), *rest)


def _is_unchanged(kind: type, bases: tuple[type, ...], held: list[Any]) -> bool:
    """Whether a class that has been changed is as it was in what counts."""
    return not changed_in_class(kind, bases, held)


def _objects(watch: Watch, rest: Watch, found: list[Condition]) -> None:
    """Parts of functions, dicts of objects and slots."""
    places = function_places()
    for attribute in watch.attributes:
        x, name, value, _ = attribute
        if type(x) is types.FunctionType and name in places:
            found.append(FieldIs(x, places[name], value))
        elif name == "__dict__" and _has_plain_dict(x):
            found.append(OwnDictIs(x, value))
        else:
            rest.attributes.append(attribute)
    for place in watch.places:
        x, descriptor, value, _, loose = place
        if value is MISSING or loose or not _is_plain(type(x)):
            rest.places.append(place)
        else:
            found.append(AttributeIs(x, descriptor.__name__, value))


def _containers(watch: Watch, rest: Watch, found: list[Condition]) -> None:
    for state in watch.states:
        plain = state.reader is items_of and not state.growing and len(state.was) <= LONGEST
        if plain and type(state.x) is list:
            found.append(ListIs(state.x, state.was))
        elif plain and type(state.x) is dict:
            half = len(state.was) // 2
            found.append(DictHas(state.x, state.was[:half], state.was[half:]))
        else:
            rest.states.append(state)


def _has_plain_dict(x: object) -> bool:
    """Whether an object's dict is where `object` keeps it."""
    kind = type(x)
    return kind.__dictoffset__ != 0 and _is_plain(kind) and dict_of(x) is not None


def _is_plain(kind: Any) -> bool:
    """Whether attributes are found as `object` finds them."""
    return kind.__getattribute__ is object.__getattribute__
