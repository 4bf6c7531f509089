"""The entrance of a public function: arguments are of the kinds that its type hints ask for, or refused by name."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any, NoReturn, ParamSpec, TypeVar

from ..hints import unknown_keyword
from .kinds import ANYTHING, ArgumentKind, kind_of, looked_at_by_the_function

P = ParamSpec("P")
R = TypeVar("R")

BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def checked(*own: str, **elsewhere: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator: each argument is of the kind that the hint of its parameter asks for, or refused by its name.

    `own` are parameters that the function itself looks at, with better words than those of a table; of these only
    containers without an end are refused here. Their kinds are asked for if the function fails: the error that leaves
    names the argument. `elsewhere` has keywords of other libraries, to what to write here, as `lr="rate="`.
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
            try:
                return function(*args, **options)
            except Exception as error:
                found = table.explained(error, args, options)
                if found is error:
                    raise
                raise found from error

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
        self.others = next((p.name for p in self.parameters.values() if p.kind is inspect.Parameter.VAR_POSITIONAL), "")
        takes_more = any([p.kind is inspect.Parameter.VAR_KEYWORD for p in self.parameters.values()])
        self.further = ANYTHING if takes_more else None

    @functools.cached_property
    def asked_for(self) -> dict[str, ArgumentKind]:
        """What the hints say, by the names of parameters."""
        hints = typing.get_type_hints(self.function, include_extras=True)
        return {name: kind_of(hints.get(name, Any)) for name in self.parameters}

    @functools.cached_property
    def kinds(self) -> dict[str, ArgumentKind]:
        """What is asked before the function is called."""
        return {name: looked_at_by_the_function(k) if name in self.own else k for name, k in self.asked_for.items()}

    @functools.cached_property
    def in_order(self) -> list[tuple[str, ArgumentKind]]:
        """Of the parameters by position."""
        return [(p.name, self.kinds[p.name]) for p in self.parameters.values() if p.kind in BY_POSITION]

    def refuse(self, name: str, kind: ArgumentKind, value: Any) -> NoReturn:
        """Say which argument it is, what it has to be, and what it is."""
        from .naming import refusal

        raise refusal(self.owner, name, kind.words, value)

    def explained(self, error: Exception, args: tuple[Any, ...], options: dict[str, Any]) -> Exception:
        """The error that leaves the function: with the name of the argument at fault."""
        from .naming import named, without_frame

        if len(args) > len(self.in_order) and not self.others:
            return TypeError(f"{error}{self._by_keyword(len(args) - len(self.in_order), options)}")
        without_frame(error)
        given = {name: value for value, (name, _) in zip(args, self.in_order, strict=False)}
        rest = {f"{self.others}[{k}]": x for k, x in enumerate(args[len(given) :])}
        kinds = {**self.asked_for, **dict.fromkeys(rest, self.asked_for.get(self.others, ANYTHING))}
        given.pop("self", None)  # which is not made yet
        return named(error, self.owner, {**given, **rest, **options}, kinds)

    def _by_keyword(self, count: int, options: dict[str, Any]) -> str:
        """The end of the sentence that there are too many arguments by position: the keywords to write them with."""
        by_keyword = [p.name for p in self.parameters.values() if p.kind is inspect.Parameter.KEYWORD_ONLY]
        free = [f"{name}=" for name in by_keyword if name not in options]
        return f": use  {' and '.join(free[:count])}" if count <= len(free) else ""

    @property
    def owner(self) -> str:
        """What users call the function."""
        return self.function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
