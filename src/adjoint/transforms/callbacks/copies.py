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
from .reach import ATOMS, Reach, attributes_of, globals_used


class Copies:
    """The copies made with one set of values."""

    def __init__(self, reach: Reach, values: Sequence[Any], *, freeze: bool = False) -> None:
        self.reach = reach
        self.freeze = freeze
        self._made: dict[int, Any] = {id(h): v for h, v in zip(reach.handles, values, strict=True)}

    def of(self, x: Any) -> Any:
        """What stands for an object: itself, if no traced value is behind it."""
        if id(x) in self._made:
            return self._made[id(x)]
        kind = type(x)
        if id(x) not in self.reach.above and not (self.freeze and id(x) in self.reach.objects and _changes(kind)):
            return x
        if kind is CACHED or is_jitted(kind):  # what they keep is for what their own function closes over
            return self._kept(x, self.of(x.__wrapped__))
        if kind is np.ndarray:
            return self._kept(x, x.copy() if x.flags.writeable else x)
        if kind is types.FunctionType:
            return self._function(x)
        if kind is types.MethodType:
            if isinstance(x.__self__, Traced):  # x.dot, of what stands for x
                return self._kept(x, getattr(self.of(x.__self__), x.__func__.__name__))
            return self._kept(x, types.MethodType(self.of(x.__func__), self.of(x.__self__)))
        if kind is functools.partial:
            words = {k: self.of(v) for k, v in x.keywords.items()}
            return self._kept(x, functools.partial(self.of(x.func), *map(self.of, x.args), **words))
        if issubclass(kind, (dict, list)):
            return self._container(x)
        if issubclass(kind, tuple):
            parts = list(map(self.of, x))
            return self._kept(x, kind._make(parts) if hasattr(kind, "_make") else kind(parts))
        return self._object(x)

    def _kept(self, x: object, made: object) -> Any:
        self._made[id(x)] = made
        return made

    def _container(self, x: Any) -> Any:
        made = self._kept(x, copy.copy(x))
        if id(x) not in self.reach.above and ATOMS.issuperset(map(type, x.values() if isinstance(x, dict) else x)):
            return made
        if isinstance(x, dict):
            for key, value in dict.items(x):
                dict.__setitem__(made, key, self.of(value))
        else:
            list.__setitem__(made, slice(None), [self.of(value) for value in x])
        return made

    def _object(self, x: Any) -> Any:
        """A copy of an object that is its attributes; any other stays, and what comes out of it is refused."""
        kind = type(x)
        if hasattr(kind, "__del__"):
            return x
        try:
            made = self._kept(x, object.__new__(kind))
        except TypeError:  # its class is written in C
            return x
        for name, value in attributes_of(x).items():
            object.__setattr__(made, name, self.of(value))
        return made

    def _function(self, f: types.FunctionType) -> Any:
        """A copy with variables of its own where they differ; functions may refer to each other in circles."""
        cells = [self._cell(cell) for cell in f.__closure__ or ()]
        used = globals_used(f)
        names = [n for n in used if self.freeze or id(f.__globals__[n]) in self._changing]
        variables = dict(f.__globals__) if names else f.__globals__
        made = types.FunctionType(f.__code__, variables, f.__name__, None, tuple([c for _, c in cells]) or None)
        self._kept(f, made)
        made.__defaults__ = None if f.__defaults__ is None else tuple(map(self.of, f.__defaults__))
        words = f.__kwdefaults__
        made.__kwdefaults__ = None if words is None else {k: self.of(v) for k, v in words.items()}
        made.__qualname__, made.__module__, made.__doc__ = f.__qualname__, f.__module__, f.__doc__
        made.__dict__.update({k: v for k, v in f.__dict__.items() if k != "__wrapped__"})
        for old, new in cells:
            if new is not old:
                new.cell_contents = self.of(old.cell_contents)
        variables.update({name: self.of(f.__globals__[name]) for name in names})
        return made

    def _cell(self, cell: types.CellType) -> tuple[types.CellType, types.CellType]:
        """A variable and what stands for it: itself, so that functions can count in it, if nothing in it changes."""
        try:
            content = cell.cell_contents
        except ValueError:  # not filled yet
            return cell, cell
        if id(cell) not in self._made:
            differs = self.freeze or id(content) in self._changing
            self._kept(cell, types.CellType() if differs else cell)
        return cell, self._made[id(cell)]

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
