"""Changes outside the library that last: each is made here, so that it can be listed, undone and made again.

What is changed is held weakly wherever Python allows it, so that a change is forgotten with the function or the class
that it was made in.
"""

from __future__ import annotations

import time
import warnings
import weakref
from collections.abc import Callable
from functools import partial
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

Patch = dict[str, str]
"""A declaration (see `registry.py`)."""
MISSING: Any = object()
"""In the place of a value: there was none."""


class Change:
    """One place outside the library, what it held, and what it holds now."""

    __slots__ = ("after", "before", "key", "name", "owner", "patch", "since")
    kind = ""
    """What sort of place it is, in words."""
    before: Any
    after: Any

    def __init__(self, patch: Patch, owner: Any, name: str, after: Any) -> None:
        self.patch, self.name, self.since = patch, name, time.time()
        self.key = (id(owner), type(self), name)
        self.owner: Callable[[], Any] = _reference(owner, self.key)
        present, known = self.read(), CHANGES.get(self.key)
        self.before = known.before if known is not None and self.is_same(known.after, present) else present
        self.after = after
        CHANGES[self.key] = self
        self.write(after)

    def read(self) -> Any:
        """What is there now."""
        raise NotImplementedError

    def write(self, value: Any) -> None:
        """Put something there."""
        raise NotImplementedError

    def is_same(self, a: Any, b: Any) -> bool:
        """Whether two values of the place are one."""
        return a is b

    def described(self) -> tuple[str, str]:
        """The module that is changed, and the full name of what is changed in it."""
        owner = self.owner()
        return owner.__module__, f"{owner.__module__}.{owner.__qualname__}.{self.name}"

    def undo(self) -> bool:
        """Put back what was there; false if somebody else has changed it, or it is gone."""
        CHANGES.pop(self.key, None)
        return self._exchange(self.after, self.before)

    def make_again(self) -> bool:
        """The same change once more, likewise."""
        if not self._exchange(self.before, self.after):
            return False
        CHANGES[self.key] = self
        return True

    def _exchange(self, old: Any, new: Any) -> bool:
        if self.owner() is None or not self.is_same(self.read(), old):
            return False
        self.write(new)
        return True


CHANGES: dict[tuple[int, type, str], Change] = {}
"""Those in force, by their places, in the order in which they were made."""


def _reference(owner: Any, key: tuple[int, type, str]) -> Callable[[], Any]:
    if type(owner) in (dict, list):
        return lambda: owner
    return weakref.ref(owner, partial(CHANGES.pop, key))


class GlobalName(Change):
    """A name among global names."""

    __slots__ = ()
    kind = "global name"

    def names(self) -> dict[str, Any]:
        """The global names."""
        owner = self.owner()
        return owner if type(owner) is dict else owner.__globals__  # type: ignore[no-any-return]

    def read(self) -> Any:
        """What the name holds."""
        return self.names().get(self.name, MISSING)

    def write(self, value: Any) -> None:
        """Let the name hold something, or nothing."""
        if value is MISSING:
            del self.names()[self.name]
        else:
            self.names()[self.name] = value

    def described(self) -> tuple[str, str]:
        """The module's name, and the global one."""
        module = str(self.names().get("__name__", ""))
        return module, f"{module}.{self.name}"


class Attribute(Change):
    """An attribute of a class or a module, or one that every function has."""

    __slots__ = ()
    kind = "attribute"

    def read(self) -> Any:
        """What it holds itself, not what a class inherits."""
        owner = self.owner()
        return getattr(owner, self.name) if self.name in OF_FUNCTIONS else vars(owner).get(self.name, MISSING)

    def write(self, value: Any) -> None:
        """Let it hold something, or nothing."""
        if value is MISSING:
            delattr(self.owner(), self.name)
        else:
            setattr(self.owner(), self.name, value)

    def described(self) -> tuple[str, str]:
        """The module, and the attribute with its owner."""
        owner = self.owner()
        if isinstance(owner, ModuleType):
            return owner.__name__, f"{owner.__name__}.{self.name}"
        return super().described()


OF_FUNCTIONS = ("__code__", "__defaults__")


class KeywordDefault(Change):
    """The default of a parameter that is given by keyword alone."""

    __slots__ = ()
    kind = "default of a keyword"

    def read(self) -> Any:
        """The default."""
        return (self.owner().__kwdefaults__ or {}).get(self.name, MISSING)

    def write(self, value: Any) -> None:
        """Another one, in the dictionary that the function has."""
        self.owner().__kwdefaults__[self.name] = value


class ClosureVariable(Change):
    """A variable of an enclosing function, as one of the inner functions sees it."""

    __slots__ = ()
    kind = "variable of a closure"

    def _cell(self) -> CellType:
        f = self.owner()
        return f.__closure__[f.__code__.co_freevars.index(self.name)]  # type: ignore[no-any-return]

    def read(self) -> Any:
        """What the variable holds."""
        try:
            return self._cell().cell_contents
        except ValueError:  # not filled
            return MISSING

    def write(self, value: Any) -> None:
        """Let it hold something."""
        self._cell().cell_contents = value


class WholeFunction(Change):
    """What a function does: its code, with all that belongs to it."""

    __slots__ = ()
    kind = "function"

    def read(self) -> Any:
        """Its code, both kinds of defaults, and whose signature is shown."""
        f = self.owner()
        return f.__code__, f.__defaults__, f.__kwdefaults__, vars(f).get("__wrapped__", MISSING)

    def is_same(self, a: Any, b: Any) -> bool:
        """Whether two states have the same code."""
        return a[0] is b[0]

    def write(self, value: Any) -> None:
        """Let it do something else."""
        f: Any = self.owner()
        code, f.__defaults__, f.__kwdefaults__, wrapped = value
        if wrapped is not MISSING:
            f.__wrapped__ = wrapped
        elif "__wrapped__" in vars(f):
            del f.__wrapped__
        set_code(f, code)

    def described(self) -> tuple[str, str]:
        """The module, and the function."""
        f = self.owner()
        return str(f.__module__), f"{f.__module__}.{f.__qualname__}"


def set_code(f: FunctionType, code: CodeType) -> None:
    """Exchange the code of a function; from 3.13 on Python warns if only one of the two is a generator's."""
    if not (code.co_flags ^ f.__code__.co_flags) & KINDS:
        f.__code__ = code
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        f.__code__ = code


KINDS = 0x20 | 0x80 | 0x200
"""The flags of generators, coroutines and asynchronous generators."""


class ListItem(Change):
    """An item that is put in front of a list, and what follows moves on."""

    __slots__ = ()
    kind = "list"

    def read(self) -> Any:
        """Our item, if the list has it."""
        known = getattr(self, "after", MISSING)
        return known if any([x is known for x in self.owner()]) else MISSING

    def write(self, value: Any) -> None:
        """Put it in front, or take it out."""
        items: list[Any] = self.owner()
        if value is MISSING:
            items[:] = [x for x in items if x is not self.after]
        else:
            items.insert(0, value)

    def described(self) -> tuple[str, str]:
        """What the list is called."""
        return self.name.partition(".")[0], self.name
