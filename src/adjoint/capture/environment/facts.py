"""When two static values are the same to a recording: if nothing that can be read of them differs.

What an object's own `__eq__` and `__hash__` say is not asked, as they may leave out what the function reads.
"""

from __future__ import annotations

import enum
import numbers
import types
from typing import Any

import numpy as np

from ...host.objects.parts import dict_of, placed, places_of
from .object_state import is_among, is_compiled, is_number

BY_TEXT = ("datetime", "decimal", "_decimal", "fractions", "pathlib", "uuid", "zoneinfo")
"""Modules whose objects never change, and say all there is to them."""
BY_IDENTITY = (type, enum.Enum, types.FunctionType, types.MethodType, types.BuiltinFunctionType, types.ModuleType)


class Identity:
    """An object that is equal to itself alone, and stays alive."""

    __slots__ = ("_x",)

    def __init__(self, x: Any) -> None:
        self._x = x

    def __hash__(self) -> int:
        return id(self._x)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self._x is other._x


def fact(value: object, *, by_value: bool) -> Any:
    """Something that is equal for values that a recording cannot tell apart: 1 and 1.0 it can, and 0.0 and -0.0.

    Objects are told apart by identity; `by_value`, as for declared static arguments and for numbers, those whose
    class compares them are the same if all their attributes are. Raises TypeError for what has no hash.
    """
    by_value = by_value or isinstance(value, numbers.Number)
    if by_value:
        hash(value)  # some objects keep it, so that they are different from then on
    return _fact(value, by_value, ())


def _fact(value: Any, by_value: bool, around: tuple[int, ...]) -> Any:
    kind: Any = type(value)
    if is_among(kind, (str, bytes, int, bool, type(None), type(...))):
        return (kind, value)
    if is_number(value):
        return (kind, str(value), repr(value))
    if isinstance(value, BY_IDENTITY) or id(value) in around:
        return Identity(value)
    around = (*around, id(value))
    if is_among(kind, (tuple, slice, range, frozenset)) or (by_value and is_among(kind, (list, dict, set))):
        return (kind, _items(value, by_value, around))
    if kind.__module__ in BY_TEXT:
        return (kind, repr(value))
    if by_value and issubclass(kind, np.ndarray) and not value.dtype.hasobject:
        return (kind, value.shape, value.dtype.str, value.tobytes(), _attributes(value, around))
    is_compared = by_value and kind.__eq__ is not object.__eq__
    if issubclass(kind, tuple) and (is_compared or not by_value):
        return (Identity(kind), _items(value, by_value, around), _attributes(value, around))
    if is_compared and not is_compiled(kind):
        number = next((base(value) for base in (int, float, complex, str, bytes) if issubclass(kind, base)), None)
        return (Identity(kind), repr(number), _attributes(value, around))
    return Identity(value)


def _items(value: Any, by_value: bool, around: tuple[int, ...]) -> Any:
    if isinstance(value, slice):
        value = (value.start, value.stop, value.step)
    if isinstance(value, dict):
        value = tuple([part for pair in value.items() for part in pair])
    facts = [_fact(v, by_value, around) for v in (tuple.__iter__(value) if isinstance(value, tuple) else value)]
    return frozenset(facts) if isinstance(value, (set, frozenset)) else tuple(facts)


def _attributes(value: object, around: tuple[int, ...]) -> Any:
    """The attributes of an object, each with its name."""
    own = list((dict_of(value) or {}).items())
    own += [(name, placed(place, value)) for name, place in places_of(type(value))]
    return tuple([(name, _fact(part, True, around)) for name, part in own])
