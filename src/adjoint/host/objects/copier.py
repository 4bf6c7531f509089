"""Copies of functions, containers and objects, with others in the place of some of what is behind them.

Two copiers are built on it. For a solver the values that are traced become others (`transforms/callbacks/copies.py`);
for a recording the arrays that a function captures become handles (`capture/environment/clone.py`). They say what
becomes of leaves, and of what no copy is made; how a copy is made is the same.
"""

from __future__ import annotations

import abc
import copy
import functools
import types
from typing import Any

from .parts import CELL_CONTENT, MISSING, cells_of, content_of, dict_of, fill, placed, places_of


class Copier(abc.ABC):
    """The copies made so far, by what they are copies of: each object has one, in circles too."""

    def __init__(self) -> None:
        self.made: dict[int, tuple[Any, Any]] = {}
        """By numbers: the objects, so that these are not given to others, and what stands for them."""

    @abc.abstractmethod
    def of(self, x: Any) -> Any:
        """What stands for an object: itself, or a copy."""

    def held(self, owner: object, key: object, value: Any) -> Any:
        """What stands for a value, given the cell, dict, list or object with slots that has it, and under which key."""
        return self.of(value)

    def kept(self, x: object, made: object) -> Any:
        """Let something stand for an object from now on."""
        self.made[id(x)] = (x, made)
        return made

    def copied(self, x: Any) -> Any:
        """A copy, of whatever type the object is."""
        kind = type(x)
        if kind is types.FunctionType:
            return self.function(x)
        if kind is types.MethodType:
            return self.kept(x, types.MethodType(self.of(x.__func__), self.of(x.__self__)))
        if kind is functools.partial:
            return self.partial(x)
        if issubclass(kind, (dict, list)):
            return self.container(x)
        if issubclass(kind, tuple):
            items = [self.held(x, k, item) for k, item in enumerate(x)]
            is_plain = kind is tuple or hasattr(kind, "_make")
            return self.kept(x, tuple.__new__(kind, items) if is_plain else kind(items))
        return self.instance(x)

    def partial(self, x: Any) -> Any:
        """A copy with the same attributes, as far as no others stand for them."""
        words = {k: self.held(x.keywords, k, v) for k, v in x.keywords.items()}
        made = functools.partial(self.of(x.func), *map(self.of, x.args), **words)
        vars(made).update({k: self.held(vars(x), k, v) for k, v in vars(x).items()})
        return self.kept(x, made)

    def container(self, x: Any) -> Any:
        """A copy of a list or dict, of a class that is built on one too."""
        made = self.kept(x, copy.copy(x))
        if isinstance(x, dict):
            for key, value in dict.items(x):
                dict.__setitem__(made, key, self.held(x, key, value))
        else:
            list.__setitem__(made, slice(None), [self.held(x, k, item) for k, item in enumerate(x)])
        return made

    def instance(self, x: Any) -> Any:
        """A copy of an object that is its attributes."""
        return self.like(x, types.SimpleNamespace() if type(x) is types.SimpleNamespace else object.__new__(type(x)))

    def like(self, x: Any, made: Any) -> Any:
        """Give an empty object the attributes of a copy; it is kept while it is empty, as they may refer to it."""
        self.kept(x, made)
        own, new = dict_of(x), dict_of(made)
        if own is not None and new is not None:
            new.update({name: self.held(own, name, value) for name, value in own.items()})
        for name, place in places_of(type(x)):
            value = placed(place, x)
            if value is not MISSING:
                place.__set__(made, self.held(x, name, value))
        return made

    def function(self, f: types.FunctionType) -> Any:
        """A copy with variables of its own where they differ; functions may refer to each other in circles."""
        cells = [(name, old, self.cell(old)) for name, old in cells_of(f)]
        code, variables, names = self.code(f)
        made = types.FunctionType(code, variables, f.__name__, None, tuple([new for *_, new in cells]) or None)
        self.kept(f, made)
        made.__defaults__ = None if f.__defaults__ is None else tuple(map(self.of, f.__defaults__))
        words = f.__kwdefaults__
        made.__kwdefaults__ = None if words is None else {k: self.held(words, k, v) for k, v in words.items()}
        made.__qualname__, made.__module__, made.__doc__ = f.__qualname__, f.__module__, f.__doc__
        self.attributes(f, made)
        for name, old, new in cells:
            content = content_of(old)
            if new is not old and content is not MISSING:
                self.fill(name, new, self.held(old, CELL_CONTENT, content))
        known = f.__globals__
        self.set_globals(f, variables, {name: self.held(known, name, known[name]) for name in names})
        return made

    @abc.abstractmethod
    def cell(self, cell: types.CellType) -> types.CellType:
        """The cell of a copy: one that will be filled, or the same."""

    @abc.abstractmethod
    def code(self, f: types.FunctionType) -> tuple[types.CodeType, dict[str, Any], list[str]]:
        """The code of a copy, its global variables, and which of them have to be set."""

    @abc.abstractmethod
    def attributes(self, f: types.FunctionType, made: types.FunctionType) -> None:
        """Set the attributes of a copy."""

    def fill(self, name: str, cell: types.CellType, content: Any) -> None:
        """Let the cell of a copy hold what stands for a variable."""
        fill(cell, content)

    def set_globals(self, f: types.FunctionType, variables: dict[str, Any], values: dict[str, Any]) -> None:
        """Let global variables of a copy hold what stands for those of the function."""
        variables.update(values)
