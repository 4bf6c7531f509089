"""Objects as containers: how those of dataclasses and of registered classes are taken apart and put together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import InputError, message
from .traced import LOCAL, Traced
from .values import describe

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ..host.records import NamedTuple

CLASSES_PATCH = {
    "what": "the registry of optree, under a name of our own: dataclasses, results of SciPy and what "
    "`ad.tree.register` is given",
    "when": "from then on",
    "why": "such objects are containers of numbers",
    "undone": "never: nobody else reads that name",
}
NAMESPACE = "adjoint"
"""Where optree keeps what it is taught here."""

SETTINGS = (str, bytes, bool, FunctionType, BuiltinFunctionType, np.ufunc)
"""Types that are part of a dataclass's structure, as the name of an activation: they are nobody's parameter."""


MADE_OF_FIELDS = "_made_of_fields"
"""An attribute of dataclasses whose `__init__` takes something else: objects are their fields, and need no call."""


class Fields(NamedTuple):
    """The fields of a dataclass that its objects are taken apart into."""

    names: tuple[str, ...]
    static: frozenset[str]
    """Those that are declared to be part of the structure."""
    is_called: bool
    """Whether objects are made by calling the class; else they get their attributes as they were."""

    def is_setting(self, name: str, part: object) -> bool:
        """Whether a part of an object belongs to its structure."""
        return name in self.static or (isinstance(part, SETTINGS) and not isinstance(part, Traced))


KNOWN: dict[type, Fields | None] = {}
"""Classes that optree has been taught: the fields of a dataclass, None for one that was registered with functions."""


CALLERS: list[Callable[[Any, Any, dict[str, Any]], Any]] = []
"""How code of the user's is called on traced values: as NumPy's names have to know them, a room further out says so."""


class Parts(NamedTuple):
    """An object that has not been put together."""

    kind: type
    settings: dict[str, Any]
    parts: dict[str, Any]


class _Wanted(threading.local):
    parts = False


_WANTED = _Wanted()


def form_of(rebuild: Callable[[list[Any]], Any], leaves: list[Any]) -> Any:
    """What `rebuild` would make of leaves, with `Parts` instead of objects, so that no code of theirs runs.

    Raises NotImplementedError if there are objects of classes that were registered with functions.
    """
    _WANTED.parts = True
    try:
        return rebuild(leaves)
    finally:
        _WANTED.parts = False


def register_dataclass(kind: type) -> bool:
    """Teach optree a dataclass the first time one is met; say whether that was needed."""
    if not hasattr(kind, "__dataclass_fields__"):
        return False
    fields = _fields_of(kind)
    make: Any = kind if fields.is_called else _made_of(kind)
    has_code = fields.is_called and _has_code(kind)

    def split(x: Any) -> tuple[tuple[Any, ...], tuple[tuple[str, Any], ...], tuple[str, ...]]:
        parts: list[Any] = []
        free: list[str] = []
        settings: list[tuple[str, Any]] = []
        for name in fields.names:
            part = getattr(x, name)
            if name in fields.static:
                settings.append((name, _checked(kind, name, part)))
            elif fields.is_setting(name, part):
                settings.append((name, part))
            else:
                parts.append(part)
                free.append(name)
        return tuple(parts), tuple(settings), tuple(free)

    def join(settings: Any, parts: Any) -> Any:
        fixed = dict(settings)
        free = dict(zip([name for name in fields.names if name not in fixed], parts, strict=True))
        if _WANTED.parts:
            return Parts(kind, fixed, free)
        if has_code and not LOCAL.depth and _holds_traced(parts):
            return CALLERS[0](make, (), {**fixed, **free})
        return make(**fixed, **free)

    _teach(kind, split, join)
    KNOWN[kind] = fields
    return True


def register(kind: type, split: Callable[[Any], Any], join: Callable[[Any, Any], Any]) -> None:
    """Teach optree a class: how its objects are taken apart, and put together; the last word counts."""

    def joined(settings: Any, parts: Any) -> Any:
        if _WANTED.parts:
            raise NotImplementedError
        return join(settings, parts)

    _teach(kind, split, joined)
    KNOWN[kind] = None


def _teach(kind: type, split: Callable[[Any], Any], join: Callable[[Any, Any], Any]) -> None:
    import optree

    if optree.register_pytree_node.get(kind, namespace=NAMESPACE) is not None:
        optree.unregister_pytree_node(kind, namespace=NAMESPACE)
    optree.register_pytree_node(kind, split, join, namespace=NAMESPACE)


def _fields_of(kind: Any) -> Fields:
    """Those that `__init__` takes; where it takes more, which is not kept, all of them."""
    import dataclasses

    forgotten = dataclasses._FIELD_INITVAR  # type: ignore[attr-defined]
    is_called = not any([f._field_type is forgotten for f in kind.__dataclass_fields__.values()])
    is_called = is_called and not getattr(kind, MADE_OF_FIELDS, False)
    found = [f for f in dataclasses.fields(kind) if f.init or not is_called]
    static = frozenset([f.name for f in found if f.metadata.get("static")])
    return Fields(tuple([f.name for f in found]), static, is_called)


def _has_code(kind: Any) -> bool:
    """Whether making an object runs code of the user's, and not only what `dataclasses` writes."""
    made = getattr(kind.__init__, "__code__", None)
    return hasattr(kind, "__post_init__") or made is None or made.co_filename != "<string>"


def _holds_traced(parts: Any) -> bool:
    import optree

    leaves, _ = optree.tree_flatten(parts, namespace=NAMESPACE)
    return any([isinstance(x, Traced) for x in leaves])


def _made_of(kind: type) -> Callable[..., Any]:
    """What makes an object of its attributes, without `__init__`, which wants `InitVar`s that nobody has kept."""

    def make(**fields: Any) -> Any:
        made: Any = object.__new__(kind)
        for name, value in fields.items():
            object.__setattr__(made, name, value)
        return made

    return make


def _checked(kind: type, name: str, value: Any) -> Any:
    """The value of a static field: arrays and traced numbers are refused, and what cannot be compared."""
    if isinstance(value, (*SETTINGS, int, float)) and not isinstance(value, Traced):
        return value
    inside = [value]
    for x in inside:
        if isinstance(x, (np.ndarray, Traced)):
            raise InputError(
                message(
                    f"The static field {name!r} of {kind.__name__} holds what is computed with.",
                    got=describe(x),
                    fix="Leave  static  out: arrays and numbers of other fields are leaves.",
                )
            )
        inside += x if isinstance(x, (tuple, list, frozenset)) else ()
    try:
        hash(value)
    except TypeError:
        raise InputError(
            message(
                f"The static field {name!r} of {kind.__name__} cannot be hashed, so it cannot be part of a structure.",
                got=describe(value),
                fix="Give it a tuple instead of a list, or an object that can be hashed.",
            )
        ) from None
    return value


def by_fields(kind: type, fields: tuple[str, ...]) -> tuple[Any, Any]:
    """How objects are taken apart and put together whose parts are attributes of these names."""
    from ..host.objects.parts import slots_of  # seldom needed, so not when the library is imported

    slots = [name for name, _ in slots_of(kind)]

    def split(x: Any) -> tuple[list[Any], tuple[tuple[str, Any], ...], tuple[str, ...]]:
        names = [*getattr(x, "__dict__", ()), *[name for name in slots if hasattr(x, name)]]
        return [getattr(x, f) for f in fields], tuple([(n, getattr(x, n)) for n in names if n not in fields]), fields

    def join(settings: Any, parts: Sequence[Any]) -> Any:
        made: Any = object.__new__(kind)
        for name, value in (*settings, *zip(fields, parts, strict=True)):
            object.__setattr__(made, name, value)
        return made

    return split, join
