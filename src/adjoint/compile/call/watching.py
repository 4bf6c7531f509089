"""What of a recording's surroundings machine code compares before each call, and what is left to Python."""

from __future__ import annotations

import functools
import types
from typing import Any

from ...ir.surroundings.holding import MISSING, dict_of, items_of
from ...ir.surroundings.watch import Watch, changed_in_class
from .objects import peek
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
)

MOST = 128
"""Conditions of machine code; it takes LLVM a millisecond each."""
LONGEST = 64
"""Items of a captured container that are looked at one by one."""


def watches_of(watch: Watch) -> tuple[Condition, ...]:
    """The conditions of an entry; the last one asks Python about whatever machine code cannot look at."""
    rest = Watch()
    rest.arrays, rest.reads_state = watch.arrays, watch.reads_state
    rest.generators = watch.generators if watch.reads_state else []
    found: list[Condition] = []
    for cell, content, name in watch.cells:
        if content is MISSING or len(found) >= MOST:
            rest.cells.append((cell, content, name))
        else:
            found.append(CellIs(cell, content))
    for known in watch.classes:
        kind, version, bases, held = known
        if version and len(found) < MOST:
            found.append(ClassIs(kind, version, functools.partial(_is_unchanged, kind, bases, held)))
        else:
            rest.classes.append(known)
    for entry in watch.entries:
        owner, key, content, *_ = entry
        if type(owner) is not dict or type(key) is not str or len(found) >= MOST:
            rest.entries.append(entry)
        else:
            found.append(DictLacks(owner, key) if content is MISSING else DictIs(owner, key, content))
    found += [TypeIs(x, kind) for x, kind in watch.kinds]
    _objects(watch, rest, found)
    _containers(watch, rest, found)
    if any(
        [
            rest.cells,
            rest.entries,
            rest.classes,
            rest.attributes,
            rest.places,
            rest.states,
            rest.arrays,
            rest.generators,
        ]
    ):
        found.append(Holds(lambda: not rest.changed() and not rest.rewritten()))
    return tuple(found)


def _is_unchanged(kind: type, bases: tuple[type, ...], held: list[Any]) -> bool:
    """Whether a class that has been changed is as it was in what counts."""
    return not changed_in_class(kind, bases, held)


def _objects(watch: Watch, rest: Watch, found: list[Condition]) -> None:
    """Parts of functions, dicts of objects and slots."""
    places = function_places()
    for attribute in watch.attributes:
        x, name, value, _ = attribute
        if len(found) >= 2 * MOST:
            rest.attributes.append(attribute)
        elif type(x) is types.FunctionType and name in places:
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
        plain = plain and len(found) < MOST
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


@functools.cache
def function_places() -> dict[str, int]:
    """Where a function holds its code and its defaults: looked for, as the order of its fields is Python's affair."""

    def probe(a: object = 1, *, b: object = 2) -> None: ...

    parts = {name: id(getattr(probe, name)) for name in ("__code__", "__defaults__", "__kwdefaults__")}
    fields = {peek(id(probe) + at): at for at in range(16, types.FunctionType.__basicsize__, 8)}
    return {name: fields[part] for name, part in parts.items() if part in fields}
