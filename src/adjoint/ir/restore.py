"""From the copies that a recording works with back to what the user wrote.

What is called for its effect must have it on the user's own lists, arrays and variables, not on their copies.
"""

from __future__ import annotations

import functools
import operator
import types
from typing import Any

from ..core.traced import Traced
from ..core.tree import flatten
from ..host.code.reach import codes_in


class Restore:
    """The way back from copies: pairs of originals and copies, given by what made them."""

    def __init__(self, pairs: list[tuple[Any, Any]], modules: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
        self._known = {id(copy): (copy, x) for x, copy in [*pairs, *modules]}
        for f, copy in pairs:
            if type(f) is types.FunctionType and copy is not f:
                self._note(zip(copy.__closure__ or (), f.__closure__ or (), strict=True))
                self._note(zip(codes_in(copy.__code__), codes_in(f.__code__), strict=True))

    def _note(self, pairs: Any) -> None:
        self._known.update({id(copy): (copy, x) for copy, x in pairs})

    def __call__(self, x: Any) -> Any:
        """The user's own object, or one made of the user's own where the recorded function has made it."""
        known = self._known.get(id(x))
        if known is not None:
            return known[1]
        kind = type(x)
        if kind is types.FunctionType:
            return self._function(x)
        if kind is functools.partial:
            words = {key: self(value) for key, value in x.keywords.items()}
            return functools.partial(self(x.func), *map(self, x.args), **words)
        if kind in (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType):
            return self._method(x)
        return x

    def _method(self, x: Any) -> Any:
        owner = self(x.__self__)
        if owner is not x.__self__:
            return getattr(owner, _name_of(x))
        if type(x) is types.MethodType:
            function = self(x.__func__)
            return x if function is x.__func__ else types.MethodType(function, owner)
        return x

    def _function(self, f: types.FunctionType) -> Any:
        """A function that was made while recording, with the user's own variables behind it."""
        parts = (f.__code__, f.__globals__, *(f.__closure__ or ()), *(f.__defaults__ or ()))
        code, variables, *rest = map(self, parts)
        if all(map(operator.is_, (code, variables, *rest), parts)):
            return f
        cells, defaults = tuple(rest[: len(f.__closure__ or ())]), tuple(rest[len(f.__closure__ or ()) :])
        made = types.FunctionType(code, variables, f.__name__, defaults or None, cells or None)
        made.__kwdefaults__ = f.__kwdefaults__ and {key: self(value) for key, value in f.__kwdefaults__.items()}
        made.__qualname__, made.__module__, made.__doc__ = f.__qualname__, f.__module__, f.__doc__
        made.__dict__.update(f.__dict__)
        return made


def _name_of(method: Any) -> str:
    """The attribute that a method is; the functions behind those of handles have names of their own."""
    held, function = vars(type(method.__self__)), getattr(method, "__func__", None)
    return next((name for name, value in held.items() if function is not None and value is function), method.__name__)


def values_in(x: Any) -> list[Traced]:
    """The traced values that a function has from the code around it: in its closure, its defaults, its words."""
    kind = type(x)
    if kind is functools.partial:
        held = [x.func, *x.args, *x.keywords.values()]
    elif kind in (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType):
        held = [x.__self__]
    elif kind is types.FunctionType:
        held = [*map(_content, x.__closure__ or ()), *(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
    else:
        return [leaf for leaf in flatten(x)[0] if isinstance(leaf, Traced)]
    return [v for part in held for v in ([] if type(part) is types.FunctionType else values_in(part))]


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not filled yet
        return None
