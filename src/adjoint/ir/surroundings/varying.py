"""Captured numbers that change between calls: closure variables, globals, attributes and items of containers as inputs.

Such a variable is read at each call, as an argument is. In the copy of the function that is recorded a handle stands in
its place; that nothing else can read it is seen by looking at what the copy still reaches.
"""

from __future__ import annotations

import dataclasses
import dis
import functools
import types
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..counts import Number, is_count
from ..program import KINDS
from .holding import ANY, MISSING, items_of
from .reach import is_users_function, names_of
from .watch import Watch


class Variable:
    """A place that holds a number, or a tuple of numbers: a closure cell, or an entry of a dict or list."""

    __slots__ = ("key", "owner")

    def __init__(self, owner: Any, key: Any = None) -> None:
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
            return self.owner.cell_contents if type(self.owner) is types.CellType else self.owner[self.key]
        except (ValueError, LookupError):
            return MISSING


Counts = frozenset[int]
"""Places of leaves."""


class Numbers(NamedTuple):
    """Python's numbers that are to be inputs, of which a program else relies on the values."""

    leaves: Counts = frozenset()
    """Places of integers and truth values among the leaves of the arguments."""
    variables: tuple[Variable, ...] = ()
    """Captured numbers."""

    def __bool__(self) -> bool:
        return bool(self.leaves or self.variables)


NONE = Numbers()


def without_truths(numbers: Numbers, leaves: list[Any]) -> Numbers:
    """Those of the numbers that are no truth values."""
    places = frozenset([k for k in numbers.leaves if type(leaves[k]) is not bool])
    return Numbers(places, tuple([v for v in numbers.variables if type(v.read()) in (int, float)]))


def kind_of(x: object) -> Any:
    """The type of a number that can be an input, or those of a tuple of such numbers; None for anything else."""
    if isinstance(x, tuple):
        kinds = tuple([kind_of(item) for item in x])
        if not kinds or None in kinds or not (type(x) is tuple or is_named(type(x))):
            return None
        return kinds if type(x) is tuple else (type(x), kinds)
    if isinstance(x, np.generic):
        return type(x) if x.dtype.kind in KINDS else None
    return type(x) if type(x) in (float, complex) or is_count(x) else None


def is_named(kind: object) -> bool:
    """Whether a class is a named tuple's, as `collections.namedtuple` makes it."""
    return isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields") and hasattr(kind, "_make")


def numbers_in(x: object) -> list[Any]:
    """The numbers of a variable, one after the other."""
    return [n for item in x for n in numbers_in(item)] if isinstance(x, tuple) else [x]


def handle_of(capture: Any, value: Any) -> Any:
    """The handle of a captured number, or handles of a tuple of them."""
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


def is_pinned(capture: Any, handle: Any) -> bool:
    """Whether the program relies on the value of a handle."""
    if isinstance(handle, tuple):
        return any([is_pinned(capture, h) for h in handle])
    return handle.node in capture.pinned


def changed_numbers(watch: Watch) -> list[Variable]:
    """The variables that hold another number than they did."""
    return [v for v, was in _watched(watch) if _is_another(v.read(), was)]


def _is_another(now: object, was: object) -> bool:
    if now is was or kind_of(was) is None or kind_of(now) is None:
        return False
    return kind_of(now) != kind_of(was) or repr(now) != repr(was)


def _watched(watch: Watch) -> Iterator[tuple[Variable, Any]]:
    for cell, was, _ in watch.cells:
        yield Variable(cell), was
    for owner, key, was, _, of_package in watch.entries:
        if type(owner) is dict and type(key) is str and not of_package:
            yield Variable(owner, key), was
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
    watch.cells = [c for c in watch.cells if (id(c[0]), None) not in places]
    watch.entries = [e for e in watch.entries if (id(e[0]), e[1]) not in places]
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
    reached = {(id(cell), None) for cell, *_ in watch.cells} | {(id(owner), key) for owner, key, *_ in watch.entries}
    return any([v.place in reached or id(v.owner) in watch.seen for v in variables])


PLAIN = ("__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__del__", "__new__")
"""Methods that may tell a copy from the object, if a class has its own."""


def can_be_copied(x: object) -> bool:
    """Whether a copy of an object of the user's own class cannot be told from it, but by asking which one it is."""
    kind = type(x)
    if type(getattr(x, "__dict__", None)) is not dict or kind.__basicsize__ > PlainObject.__basicsize__:
        return False
    return type(kind) is type and all([getattr(kind, name, None) is getattr(object, name, None) for name in PLAIN])


class PlainObject:
    """An object with a dict and nothing else."""


def asks_which(functions: Iterable[types.FunctionType]) -> bool:
    """Whether a function asks if two objects are one, other than None and classes."""
    return any([_asks_which(f.__code__) for f in functions])


@functools.lru_cache(4096)
def _asks_which(code: types.CodeType) -> bool:
    if _is_dataclasses_eq(code):
        return False
    before = None
    for step in dis.get_instructions(code):
        if step.opname == "IS_OP" and (before is None or before.argval not in (None, "__class__")):
            return True
        before = step
    return any([_asks_which(c) for c in code.co_consts if isinstance(c, types.CodeType)])


def _is_dataclasses_eq(code: types.CodeType) -> bool:
    """Whether code is the `__eq__` that `dataclasses` writes: it asks whether both are one, but only to be quick."""
    if code.co_name != "__eq__" or code.co_filename != "<string>":
        return False
    fields = [name for name in code.co_names if name not in ("__class__", "NotImplemented")]
    like: Any = dataclasses.make_dataclass("Like", fields)
    return like.__eq__.__code__.co_code == code.co_code


def reaches(x: object, owners: frozenset[int]) -> bool:
    """Whether a variable is behind an object, so that the object has to be copied."""
    stack, seen = [x], set()
    while stack:
        item: Any = stack.pop()
        if id(item) in seen:
            continue
        seen.add(id(item))
        if id(item) in owners or (type(item) is types.FunctionType and id(item.__globals__) in owners):
            return True
        stack += _parts(item)
    return False


def _parts(x: Any) -> list[Any]:
    kind = type(x)
    if kind is types.FunctionType:
        return [*(x.__closure__ or ()), x.__kwdefaults__, *parts_of(x)]
    if kind is types.CellType:
        return [_content(x)]
    if kind is types.MethodType:
        return [x.__func__, x.__self__]
    if kind is functools.partial:
        return [x.keywords, vars(x), *parts_of(x)]
    if kind in (list, tuple, dict):
        return parts_of(x)
    return [vars(x)] if can_be_copied(x) else []


def parts_of(x: Any) -> list[Any]:
    """What an object that can be copied holds."""
    if type(x) is types.FunctionType:
        cells = [_content(cell) for cell in x.__closure__ or ()]
        names = set() if not is_users_function(x) else names_of(x.__code__)
        used = [x.__globals__[name] for name in names if name in x.__globals__]
        return [*cells, *used, *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
    if type(x) is types.MethodType:
        return [x.__func__]
    if type(x) is functools.partial:
        return [x.func, *x.args, *x.keywords.values()]
    if type(x) in (list, tuple):
        return list(x)
    return list(x.values()) if type(x) is dict else []


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None
