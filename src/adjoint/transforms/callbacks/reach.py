"""The traced values behind functions and containers: in arguments, closures, defaults, attributes, globals by name."""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np

from ...core.traced import Traced
from ...host.code.reach import is_users_function, names_of, owner_of_class
from ...host.frames.ownership import Owner

OPAQUE = (type, types.ModuleType, types.BuiltinFunctionType, str, bytes, int, float, complex, np.generic, np.ndarray)
"""What holds nothing, or nothing that is one call's own."""


ATOMS = frozenset((int, float, complex, bool, str, type(None)))
"""Types that hold nothing, so that long lists of numbers cost little."""


class Reach:
    """Everything that some objects hold, in any depth: the traced values among it, and the objects they are behind."""

    def __init__(self, root: object) -> None:
        self.handles: list[Traced] = []
        self.objects: dict[int, Any] = {}
        """By their numbers, so that none of them is given to another object meanwhile."""
        self.above: set[int] = set()
        """The numbers of the objects that a traced value is behind."""
        holders: dict[int, list[int]] = {}
        stack: list[Any] = [root]
        while stack:
            x = stack.pop()
            if id(x) in self.objects:
                continue
            self.objects[id(x)] = x
            if isinstance(x, Traced):
                self.handles.append(x)
                continue
            for part in parts_of(x):
                if part is not None:
                    holders.setdefault(id(part), []).append(id(x))
                    stack.append(part)
        self._mark(holders)

    def _mark(self, holders: dict[int, list[int]]) -> None:
        rising = [id(h) for h in self.handles]
        while rising:
            for number in holders.get(rising.pop(), ()):
                if number not in self.above:
                    self.above.add(number)
                    rising.append(number)


def parts_of(x: Any) -> Iterator[Any]:
    """What an object holds."""
    if isinstance(x, Traced) or issubclass(type(x), OPAQUE):
        return
    kind = type(x)
    if kind is types.FunctionType:
        yield from [content_of(cell) for cell in x.__closure__ or ()]
        yield from x.__defaults__ or ()
        yield from (x.__kwdefaults__ or {}).values()
        yield from [x.__globals__[name] for name in globals_used(x)]
    elif kind is types.MethodType:
        yield from (x.__func__, x.__self__)
    elif kind is functools.partial:
        yield from (x.func, *x.args, *x.keywords.values())
    elif issubclass(kind, dict):
        yield from [part for part in dict.values(x) if type(part) not in ATOMS]
    elif issubclass(kind, (list, tuple)):
        yield from [part for part in x if type(part) not in ATOMS]
    elif owner_of_class(kind) is not Owner.OURS or hasattr(x, "fun"):
        yield from attributes_of(x).values()


def attributes_of(x: Any) -> dict[str, Any]:
    """What the attributes of an object hold, those in slots too."""
    held = getattr(x, "__dict__", None)
    found = dict(held) if type(held) is dict else {}
    for name in slots_of(type(x)):  # type: ignore[arg-type]
        with contextlib.suppress(AttributeError):
            found[name] = object.__getattribute__(x, name)
    return found


@functools.lru_cache(1024)
def slots_of(kind: Hashable) -> tuple[str, ...]:
    """The names of the slots of a class, its bases included."""
    slots = [base.__dict__.get("__slots__", ()) for base in kind.__mro__]  # type: ignore[attr-defined]
    names = [name for s in slots for name in ((s,) if isinstance(s, str) else s)]
    return tuple([n for n in names if n not in ("__dict__", "__weakref__") and not n.startswith("__")])


def globals_used(f: types.FunctionType) -> list[str]:
    """The global names that a function of the user's mentions, and that are there."""
    return [name for name in names_of(f.__code__) if name in f.__globals__] if is_users_function(f) else []


def content_of(cell: types.CellType) -> Any:
    """What a variable of a closure holds; None if it has not been set."""
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None
