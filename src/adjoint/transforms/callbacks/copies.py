"""Copies of functions and containers with other values in the place of those that are traced.

The copies share everything that no traced value is behind with what they are copies of. A frozen copy shares no
variable: what a closure's variable holds later, as `k` does at the end of `for k in ...`, is not seen by it.
"""

from __future__ import annotations

import copy
import functools
import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.traced import Traced
from ...host.code.reach import owner_of_class
from ...host.frames.ownership import Owner
from ...host.objects.copier import Copier
from ...host.objects.parts import MISSING, content_of, globals_used
from .reach import ATOMS, Reach


class Copies(Copier):
    """The copies made with one set of values."""

    def __init__(self, reach: Reach, values: Sequence[Any], *, freeze: bool = False) -> None:
        super().__init__()
        self.reach = reach
        self.freeze = freeze
        for handle, value in zip(reach.handles, values, strict=True):
            self.kept(handle, value)

    def of(self, x: Any) -> Any:
        """What stands for an object: itself, if no traced value is behind it."""
        known = self.made.get(id(x))
        if known is not None:
            return known[1]
        kind = type(x)
        if id(x) not in self.reach.above and not (self.freeze and id(x) in self.reach.objects and _changes(kind)):
            return x
        if kind is CACHED or is_jitted(kind):  # what they keep is for what their own function closes over
            return self.kept(x, self.of(x.__wrapped__))
        if kind is np.ndarray:
            return self.kept(x, x.copy() if x.flags.writeable else x)
        if kind is types.MethodType and isinstance(x.__self__, Traced):  # x.dot, of what stands for x
            return self.kept(x, getattr(self.of(x.__self__), x.__func__.__name__))
        return self.copied(x)

    def container(self, x: Any) -> Any:
        """A copy that is read item by item only if something in it changes."""
        if id(x) not in self.reach.above and ATOMS.issuperset(map(type, x.values() if isinstance(x, dict) else x)):
            return self.kept(x, copy.copy(x))
        return super().container(x)

    def instance(self, x: Any) -> Any:
        """A copy of an object that is its attributes; any other stays, and what comes out of it is refused."""
        if hasattr(type(x), "__del__"):
            return x
        try:
            made = object.__new__(type(x))
        except TypeError:  # its class is written in C
            return x
        return self.like(x, made)

    def cell(self, cell: types.CellType) -> types.CellType:
        """What stands for a variable: itself, so that functions can count in it, if nothing in it changes."""
        content = content_of(cell)
        if content is MISSING:
            return cell
        if id(cell) not in self.made:
            differs = self.freeze or id(content) in self._changing
            self.kept(cell, types.CellType() if differs else cell)
        return self.made[id(cell)][1]  # type: ignore[no-any-return]

    def code(self, f: types.FunctionType) -> tuple[types.CodeType, dict[str, Any], list[str]]:
        """The same code, with global variables of its own if any of them changes."""
        names = [n for n in globals_used(f) if self.freeze or id(f.__globals__[n]) in self._changing]
        return f.__code__, dict(f.__globals__) if names else f.__globals__, names

    def attributes(self, f: types.FunctionType, made: types.FunctionType) -> None:
        """The same, but for the function that was wrapped: it is not what the copy calls."""
        made.__dict__.update({k: v for k, v in f.__dict__.items() if k != "__wrapped__"})

    @functools.cached_property
    def _changing(self) -> set[int]:
        return self.reach.above | {id(h) for h in self.reach.handles}


CACHED = type(functools.cache(len))


def is_jitted(kind: type) -> bool:
    """Whether a class is that of jitted functions, which is not imported for the question."""
    return any([base.__name__ == "Jitted" and base.__module__.startswith("adjoint.") for base in kind.__mro__])


def _changes(kind: type) -> bool:
    """Whether the user may change objects of a class after the call: containers, and those of the user's classes."""
    return kind in FROZEN or (kind not in ATOMS and owner_of_class(kind) is Owner.USER and kind is not type)


FROZEN = (types.FunctionType, types.MethodType, functools.partial, list, tuple, dict, np.ndarray, Traced)
"""What a frozen copy copies even if no traced value is behind it."""
