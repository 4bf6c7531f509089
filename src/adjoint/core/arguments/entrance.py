"""The entrance of a public function: arguments are of the kinds that its type hints ask for, or refused by name."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any, NoReturn, ParamSpec, TypeVar

from ..hints import unknown_keyword
from .containers import is_too_deep
from .kinds import ANYTHING, ArgumentKind, kind_of, looked_at_by_the_function

P = ParamSpec("P")
R = TypeVar("R")

BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def checked(*own: str, **elsewhere: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: each argument is of the kind that the hint of its parameter asks for, or refused by its name.

    `own` are parameters that the function itself looks at, with better words than those of a table; of these only
    arrays that no hint asks for and containers without an end are refused here. `elsewhere` has keywords of other
    libraries, to what to write here, as `lr="rate="`.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        table = Parameters(function, own)
        known, refuse, explained = table.names, table.refuse, unknown_keyword

        def called(*args: P.args, **options: P.kwargs) -> R:
            for value, (name, kind) in zip(args, table.in_order, strict=False):
                if type(value) not in kind.plainly and not kind.accepts(value):
                    refuse(name, kind, value)
            for name, value in options.items():
                asked = table.kinds.get(name) or table.further
                if asked is None:
                    raise TypeError(explained(function.__name__, options, known, elsewhere))
                if type(value) not in asked.plainly and not asked.accepts(value):
                    refuse(name, asked, value)
            return function(*args, **options)

        # in the module of the function itself, where doctest looks for examples
        own_call: Any = types.FunctionType(called.__code__, function.__globals__, closure=called.__closure__)
        return functools.update_wrapper(own_call, function)

    return decorate


class Parameters:
    """The kinds of a function's parameters; made at its first call, as hints take a while to read."""

    def __init__(self, function: Callable[..., Any], own: tuple[str, ...]) -> None:
        self.function = function
        self.own = own
        self.parameters = inspect.signature(function).parameters
        self.names = frozenset(self.parameters)
        takes_more = any([p.kind is inspect.Parameter.VAR_KEYWORD for p in self.parameters.values()])
        self.further = ANYTHING if takes_more else None

    @functools.cached_property
    def kinds(self) -> dict[str, ArgumentKind]:
        """By the names of parameters."""
        hints = typing.get_type_hints(self.function, include_extras=True)
        kinds = {name: kind_of(hints.get(name, Any)) for name in self.parameters}
        return {name: looked_at_by_the_function(kind) if name in self.own else kind for name, kind in kinds.items()}

    @functools.cached_property
    def in_order(self) -> list[tuple[str, ArgumentKind]]:
        """Of the parameters by position."""
        return [(p.name, self.kinds[p.name]) for p in self.parameters.values() if p.kind in BY_POSITION]

    def refuse(self, name: str, kind: ArgumentKind, value: Any) -> NoReturn:
        """Say which argument it is, what it has to be, and what it is."""
        from ..errors import ArgumentError, message
        from ..values import describe

        got = f"{name} = {describe(value)}" + (", which holds itself or is nested without end" * is_too_deep(value))
        owner = self.function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
        raise ArgumentError(message(f"{owner} needs {name}, {kind.words}.", got=got))
