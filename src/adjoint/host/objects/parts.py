"""What an object holds: one table of edges for all types that are looked into, and the only readers of cells and slots.

An edge has a kind, a label and a value. Of a function that reads `scale` from the code around it, `parts` gives
`("content", "scale", 2.0)`. Who follows edges chooses their kinds, and the order in which they are followed:
`Edges(CONTENT, DEFAULT).held(f)` are what the closure's variables hold, then the values of the defaults.
"""

from __future__ import annotations

import collections
import functools
import operator
import types
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ..records import NamedTuple

from ..code.reach import is_users_function, names_of

MISSING: Any = object()
"""What a closure cell holds that is not filled, and a slot that is not set."""
CELL_CONTENT = "cell_contents"
"""The name that Python has for what a closure cell holds."""

Part = tuple[str, Any, Any]
"""An edge: its kind, its label, and what is there."""

CODE, GLOBAL = "code", "global"
CELL, CONTENT = "cell", "content"
DEFAULTS, DEFAULT = "defaults", "default"
WORDS, WORD = "words", "word"
ATTRIBUTES, ATTRIBUTE, SLOT = "attributes", "attribute", "slot"
FUNCTION, SELF = "function", "self"
ARGUMENTS, ARGUMENT = "arguments", "argument"
KEY, ITEM = "key", "item"
HOLDERS = frozenset((CELL, DEFAULTS, WORDS, ATTRIBUTES, ARGUMENTS))
"""Kinds of edges to the cells, tuples and dicts in which an object keeps what the edges of other kinds lead to."""


def content_of(cell: types.CellType) -> Any:
    """What a closure cell holds; `MISSING` if it is not filled yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


_content = operator.attrgetter(CELL_CONTENT)


def contents_of(f: types.FunctionType) -> list[Any]:
    """What the cells of a function's closure hold, one for each name."""
    cells = f.__closure__
    if not cells:
        return []
    try:
        return list(map(_content, cells))  # asked at every call of a transformed function, so without a frame for each
    except ValueError:
        return [content_of(cell) for cell in cells]


def cells_of(f: types.FunctionType) -> list[tuple[str, types.CellType]]:
    """The cells of a function's closure, by the names of the variables."""
    return list(zip(f.__code__.co_freevars, f.__closure__ or (), strict=True))


def fill(cell: types.CellType, content: Any) -> None:
    """Let a closure cell hold something."""
    cell.cell_contents = content


def globals_used(f: types.FunctionType) -> list[str]:
    """The global names that a function of the user's mentions, and that are there."""
    return [name for name in names_of(f.__code__) if name in f.__globals__] if is_users_function(f) else []


def dict_of(x: object) -> dict[str, Any] | None:
    """The attributes of an object that are in a dict; not what a method of its own says they are."""
    try:
        own = object.__getattribute__(x, "__dict__")
    except Exception:  # whatever an object's own methods raise
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


def places_of(kind: type) -> list[tuple[str, Any]]:
    """The attributes of a class and its bases that have a place of their own in each object, and how each is read."""
    held = [(name, place) for base in kind.__mro__ for name, place in vars(base).items()]
    return [(name, p) for name, p in held if isinstance(p, types.MemberDescriptorType) and name != "__dict__"]


@functools.lru_cache(1024)
def slots_of(kind: Hashable) -> tuple[tuple[str, Any], ...]:
    """Those of the places that classes written in Python declare; compiled ones know what theirs are for."""
    places = places_of(kind)  # type: ignore[arg-type]
    return tuple([(name, place) for name, place in places if "__slots__" in vars(place.__objclass__)])


def placed(place: Any, x: Any) -> Any:
    """What an object has in a place of its own; `MISSING` if it is not set."""
    try:
        return place.__get__(x)
    except AttributeError:
        return MISSING


def attributes_of(x: object) -> dict[str, Any]:
    """The attributes of an object, in its dict and in places of their own."""
    slots = {name: placed(place, x) for name, place in places_of(type(x))}
    return {**(dict_of(x) or {}), **{name: value for name, value in slots.items() if value is not MISSING}}


def items_of(x: Any) -> tuple[Any, ...]:
    """What a container has in it, keys before values; not what a subclass says it has."""
    if isinstance(x, dict):
        plain: Any = collections.OrderedDict if isinstance(x, collections.OrderedDict) else dict
        return (*plain.keys(x), *plain.values(x))
    for kind in SEQUENCES:
        if isinstance(x, kind):
            return tuple(kind.__iter__(x))
    return tuple(x)


SEQUENCES: tuple[Any, ...] = (list, tuple, set, frozenset, collections.deque)


class EdgeReader(NamedTuple):
    """How the edges of one kind are read."""

    labels: Callable[[Any], Iterable[Any] | None]
    values: Callable[[Any], Any]
    """As many; or nothing, where there are none."""
    is_one: bool = False
    """Whether it gives the value itself, of which each object has one."""


Readers = dict[str, EdgeReader]
"""By the kinds of edges that a type has."""


def _one(name: str) -> EdgeReader:
    """An attribute that Python itself keeps."""
    return EdgeReader(lambda _: (name,), operator.attrgetter(name), is_one=True)


def _named(name: str) -> EdgeReader:
    """What is in a dict that Python itself keeps."""
    read = operator.attrgetter(name)
    return EdgeReader(read, lambda x: (held := read(x)) and held.values())


def _names_of_defaults(f: types.FunctionType) -> tuple[str, ...]:
    code = f.__code__
    return code.co_varnames[code.co_argcount - len(f.__defaults__ or ()) : code.co_argcount]


def _owner(x: Any) -> tuple[Any, ...]:
    """The object that a compiled method is of; functions of modules are of none."""
    own = x.__self__
    return () if own is None or type(own) is types.ModuleType else (own,)


_free = operator.attrgetter("__code__.co_freevars")
_counted: Readers = {ITEM: EdgeReader(lambda x: range(len(x)), iter)}
_unnamed = EdgeReader(lambda x: (None,) * len(x), iter)
_bound: Readers = {SELF: EdgeReader(lambda x: ("__self__",) * len(_owner(x)), _owner)}

TABLE: dict[type, Readers] = {
    types.FunctionType: {
        CODE: _one("__code__"),
        DEFAULTS: _one("__defaults__"),
        WORDS: _one("__kwdefaults__"),
        ATTRIBUTES: _one("__dict__"),
        CELL: EdgeReader(_free, operator.attrgetter("__closure__")),
        CONTENT: EdgeReader(_free, contents_of),
        DEFAULT: EdgeReader(_names_of_defaults, operator.attrgetter("__defaults__")),
        WORD: _named("__kwdefaults__"),
        ATTRIBUTE: _named("__dict__"),
        GLOBAL: EdgeReader(globals_used, lambda f: [f.__globals__[name] for name in globals_used(f)]),
    },
    types.CellType: {CONTENT: EdgeReader(lambda _: (CELL_CONTENT,), content_of, is_one=True)},
    types.MethodType: {FUNCTION: _one("__func__"), SELF: _one("__self__")},
    types.BuiltinFunctionType: _bound,
    types.MethodWrapperType: _bound,
    functools.partial: {
        FUNCTION: _one("func"),
        ARGUMENTS: _one("args"),
        WORDS: _one("keywords"),
        ATTRIBUTES: _one("__dict__"),
        ARGUMENT: EdgeReader(lambda p: range(len(p.args)), operator.attrgetter("args")),
        WORD: _named("keywords"),
        ATTRIBUTE: _named("__dict__"),
    },
    staticmethod: {FUNCTION: _one("__func__")},
    classmethod: {FUNCTION: _one("__func__")},
    property: {FUNCTION: EdgeReader(lambda _: ("fget", "fset"), operator.attrgetter("fget", "fset"))},
    dict: {KEY: _unnamed, ITEM: EdgeReader(iter, dict.values)},
    list: _counted,
    tuple: _counted,
    collections.deque: _counted,
    set: {ITEM: _unnamed},
    frozenset: {ITEM: _unnamed},
}
"""The edges of objects of exactly these types; any other has attributes."""

OTHERS: Readers = {
    ATTRIBUTE: EdgeReader(dict_of, lambda x: (own := dict_of(x)) and own.values()),
    SLOT: EdgeReader(lambda x: [name for name, _ in _slots(x)], lambda x: [value for _, value in _slots(x)]),
}
"""The edges of objects of any other type."""


def _slots(x: Any) -> list[tuple[str, Any]]:
    """The slots of an object that are set, and what they hold."""
    slots = slots_of(type(x))  # type: ignore[arg-type]
    return [(name, value) for name, place in slots if (value := placed(place, x)) is not MISSING]


class Edges:
    """A choice of kinds of edges, in the order in which they are followed."""

    def __init__(self, *kinds: str) -> None:
        self._edges = {t: [(k, readers[k]) for k in kinds if k in readers] for t, readers in TABLE.items()}
        self._others = [(k, OTHERS[k]) for k in kinds if k in OTHERS]
        self._values = {t: [(r.values, r.is_one) for _, r in edges] for t, edges in self._edges.items()}
        self._values_of_others = [(r.values, r.is_one) for _, r in self._others]

    def held(self, x: Any) -> list[Any]:
        """What these edges of an object lead to; `MISSING` where a cell is not filled."""
        kind = type(x)
        known = self._values.get(kind) if type(kind) is type else None  # a metaclass may hash as it likes
        held: list[Any] = []
        for read, is_one in self._values_of_others if known is None else known:
            value = read(x)
            if is_one:
                held.append(value)
            elif value:
                held += value
        return held

    def parts(self, x: Any) -> list[Part]:
        """The same, each with its kind and label."""
        kind = type(x)
        known = self._edges.get(kind) if type(kind) is type else None
        held: list[Part] = []
        for name, reader in self._others if known is None else known:
            values = reader.values(x)
            values = (values,) if reader.is_one else values or ()
            held += [(name, label, value) for label, value in zip(reader.labels(x) or (), values, strict=True)]
        return held


EVERY = Edges(*{kind: None for readers in (*TABLE.values(), OTHERS) for kind in readers if kind not in HOLDERS})


def parts(x: Any, edges: Edges = EVERY) -> list[Part]:
    """What an object holds, each with the kind of edge that leads there, and a label."""
    return edges.parts(x)
