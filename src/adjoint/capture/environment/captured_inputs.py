"""Captured numbers and arrays that are replaced between calls: variables, attributes and items of containers as inputs.

Such a variable is read at each call, as an argument is. In the copy of the function that is recorded a handle stands in
its place; that nothing else can read it is seen by looking at what the copy still reaches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...core.traced import Traced
from ...host.objects.parts import CELL_CONTENT, MISSING, items_of
from ...ir.counts import Number, is_count
from ...ir.program import KINDS
from .copying import is_named
from .object_state import ANY, same
from .watch import Watch

VARIABLES_PATCH = {
    "what": "numbers and arrays that a function keeps outside, in attributes and containers: attributes of classes "
    "hold handles, and what the function has replaced is set back",
    "when": "while `jit` records",
    "why": "what it keeps is an input and an output of the program, and is put there after every run",
    "undone": "when the function has been recorded",
}


class Variable:
    """A place that holds a number, an array or a tuple of them: a closure cell, an entry of a dict or list, a slot."""

    __slots__ = ("key", "owner")

    def __init__(self, owner: Any, key: Any = CELL_CONTENT) -> None:
        self.owner = owner
        self.key = key

    @property
    def place(self) -> tuple[int, Any]:
        """What tells it from others, for as long as its owner lives."""
        return id(self.owner), self.key

    def __hash__(self) -> int:
        return hash(self.place)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Variable) and self.place == other.place

    def read(self) -> Any:
        """What it holds now; `MISSING` if nothing."""
        try:
            if type(self.owner) in (dict, list):
                return self.owner[self.key]
            return object.__getattribute__(self.owner, self.key)
        except (ValueError, LookupError, AttributeError):
            return MISSING

    def write(self, value: Any) -> None:
        """Let it hold another number or array."""
        if type(self.owner) in (dict, list):
            self.owner[self.key] = value
        elif isinstance(self.owner, type):
            type.__setattr__(self.owner, self.key, value)
        else:
            object.__setattr__(self.owner, self.key, value)


Counts = frozenset[int]
"""Places of leaves."""


class Numbers(NamedTuple):
    """Python's numbers that are to be inputs, of which a program else relies on the values."""

    leaves: Counts = frozenset()
    """Places of integers and truth values among the leaves of the arguments."""
    variables: tuple[Variable, ...] = ()
    """Captured numbers and arrays."""

    def __bool__(self) -> bool:
        return bool(self.leaves or self.variables)


NONE = Numbers()


def without_truths(numbers: Numbers, leaves: list[Any]) -> Numbers:
    """Those of the numbers that are no truth values."""
    places = frozenset([k for k in numbers.leaves if type(leaves[k]) is not bool])
    return Numbers(places, tuple([v for v in numbers.variables if type(v.read()) in (int, float, np.ndarray)]))


class ArrayKind(NamedTuple):
    """What an array has to be for a program that was recorded with another one."""

    dtype: np.dtype
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    """Where it does not lie row by row: NumPy's `order="K"` looks at it."""


def kind_of(x: object) -> Any:
    """The type of a number or array that can be an input, or those of a tuple of such; None for anything else."""
    if type(x) is np.ndarray:
        is_plain = x.ndim < 2 or x.flags.c_contiguous
        return ArrayKind(x.dtype, x.shape, None if is_plain else x.strides) if x.dtype.kind in KINDS else None
    if isinstance(x, tuple):
        kinds = tuple([kind_of(item) for item in x])
        if not kinds or None in kinds or not (type(x) is tuple or is_named(type(x))):
            return None
        return kinds if type(x) is tuple else (type(x), kinds)
    if isinstance(x, np.generic):
        return type(x) if x.dtype.kind in KINDS else None
    return type(x) if type(x) in (float, complex) or is_count(x) else None


def numbers_in(x: object) -> list[Any]:
    """The numbers and arrays of a variable, one after the other."""
    return [n for item in x for n in numbers_in(item)] if isinstance(x, tuple) else [x]


def handle_of(capture: Any, value: Any) -> Any:
    """The handle of a captured number or array, or handles of a tuple of them."""
    if isinstance(value, tuple):
        handles = [handle_of(capture, item) for item in value]
        return tuple(handles) if type(value) is tuple else type(value)._make(handles)  # type: ignore[attr-defined]
    if is_count(value):
        return capture.count(value)
    handle = capture.input(value)
    return Number(value, capture, handle.node) if type(value) is float else handle


def plain_of(handle: Any) -> Any:
    """The number of such a handle, or the numbers."""
    if not isinstance(handle, tuple):
        return handle.value
    values = map(plain_of, handle)
    return tuple(values) if type(handle) is tuple else type(handle)._make(values)  # type: ignore[attr-defined]


def is_among(numbers: frozenset[int], handle: Any) -> bool:
    """Whether the number of a handle, or of one of several, is among these."""
    return any([is_among(numbers, h) for h in handle]) if isinstance(handle, tuple) else handle.node in numbers


def changed_numbers(watch: Watch) -> list[Variable]:
    """The variables that hold another number or array than they did."""
    return [v for v, was in _watched(watch) if _is_another(v.read(), was)]


def undone(watch: Watch) -> list[tuple[Variable, Any]]:
    """What a function that was recorded has replaced, and by what; the variables are set back to what they held."""
    changed = []
    for v, was in _watched(watch):
        now = v.read()
        if _is_another(now, was) or (now is not was and issubclass(type(now), Traced) and _is_number(was)):
            v.write(was)
            changed.append((v, now))
    return changed


def _is_number(x: object) -> bool:
    return issubclass(type(x), Traced) or kind_of(x) is not None


def _is_another(now: object, was: object) -> bool:
    if issubclass(type(was), Traced):  # while a function is recorded; an object may call its class anything
        return now is not was and _is_number(now)
    if now is was or kind_of(was) is None or kind_of(now) is None:
        return False
    if kind_of(now) != kind_of(was):
        return True
    return not all([same(a, b) for a, b in zip(numbers_in(now), numbers_in(was), strict=True)])


def holds_array(x: object) -> bool:
    """Whether an array is among what a variable holds."""
    return any([type(n) is np.ndarray for n in numbers_in(x)])


def _watched(watch: Watch) -> Iterator[tuple[Variable, Any]]:
    for cell, was, _ in watch.cells:
        yield Variable(cell), was
    for owner, key, was, _, of_package in watch.entries:
        if type(owner) is dict and type(key) is str and not of_package:
            yield Variable(owner, key), was
    for x, place, was, _, of_package in watch.places:
        name: str = place.__name__
        if not of_package and getattr(type(x), name, None) is place:
            yield Variable(x, name), was
    for kind, _, _, held in watch.classes:
        yield from [(Variable(kind, key), was) for _, key, was, _ in held if kind_of(was) is not None]
    for state in watch.states:
        if state.reader is items_of and not state.growing and type(state.x) is list:
            yield from [(Variable(state.x, k), x) for k, x in enumerate(state.was)]
        elif state.reader is items_of and not state.growing and type(state.x) is dict:
            half = len(state.was) // 2
            pairs = zip(state.was[:half], state.was[half:], strict=True)
            yield from [(Variable(state.x, key), x) for key, x in pairs if type(key) is str]


def left_out(watch: Watch, variables: Iterable[Variable]) -> None:
    """Let a watch no longer look at these."""
    places = {v.place for v in variables}
    watch.cells = [c for c in watch.cells if (id(c[0]), CELL_CONTENT) not in places]
    watch.entries = [e for e in watch.entries if (id(e[0]), e[1]) not in places]
    watch.places = [p for p in watch.places if (id(p[0]), p[1].__name__) not in places]
    watch.classes = [
        (kind, version, bases, [h for h in held if (id(kind), h[1]) not in places])
        for kind, version, bases, held in watch.classes
    ]
    watch.states = [
        s._replace(was=tuple(_with_gaps(s.x, s.was, places))) if s.reader is items_of else s for s in watch.states
    ]


def _with_gaps(container: object, was: tuple[object, ...], places: set[tuple[int, Any]]) -> Iterator[Any]:
    """What a container held, without what may change."""
    if not any([id(container) == owner for owner, _ in places]):
        yield from was
        return
    for k, x in enumerate(was):
        key = k if type(container) is not dict else was[k - len(was) // 2] if k >= len(was) // 2 else MISSING
        yield ANY if (id(container), key) in places else x


def still_read(watch: Watch, variables: Iterable[Variable]) -> bool:
    """Whether what a copy reaches includes one of these as it is."""
    reached = {(id(cell), CELL_CONTENT) for cell, *_ in watch.cells} | {
        (id(owner), key) for owner, key, *_ in watch.entries
    }
    owners = {*watch.seen} - {id(v.owner) for v in variables if isinstance(v.owner, type)}  # they have no copies
    return any([v.place in reached or id(v.owner) in owners for v in variables])
