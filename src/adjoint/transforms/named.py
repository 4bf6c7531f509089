"""Differentiating with respect to arguments that are chosen by name: `ad.grad(f, argnames="rate")(x, rate=0.1)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ..core.errors import InputError, message
from ..core.values import describe
from .calling import Evaluation

Transform = Callable[[Callable[..., Any], int], Callable[..., Any]]
"""A transform of a function that differentiates with respect to argument 0."""


def by_name(transform: Transform, fun: Callable[..., Any], argnums: Any, argnames: Any) -> Evaluation:
    """The transformed function, which differentiates with respect to named arguments, however they are passed."""
    names = _checked(argnums, argnames)
    signature = _signature(fun)

    def differentiated(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given = _Arguments(signature, args, kwargs)
        values = tuple([given.of(name) for name in names])

        def of_named(chosen: Any) -> Any:
            chosen = (chosen,) if isinstance(argnames, str) else chosen
            return given.call(fun, dict(zip(names, chosen, strict=True)))

        return transform(of_named, 0)(values[0] if isinstance(argnames, str) else values)

    return differentiated


def _checked(argnums: Any, argnames: Any) -> tuple[str, ...]:
    names = (argnames,) if isinstance(argnames, str) else argnames
    if not isinstance(names, Sequence) or not names or not all([isinstance(n, str) for n in names]):
        raise InputError(
            message(
                "argnames has to be the name of an argument, or a tuple of names.",
                got=describe(argnames),
                fix='Write  ad.grad(f, argnames="w")  or  ad.grad(f, argnames=("w", "b")).',
            )
        )
    if argnums != 0:
        raise InputError(
            message(
                "argnums and argnames are two ways to say the same thing.",
                fix="Give only one of them, for several arguments too.",
            )
        )
    return tuple(names)


def _signature(fun: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(fun)
    except (TypeError, ValueError):  # a builtin that does not say
        return None


class _Arguments:
    """The arguments of one call, by name."""

    def __init__(self, signature: inspect.Signature | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.bound = None if signature is None else signature.bind(*args, **kwargs)
        self.args, self.kwargs = args, kwargs
        self.extra = ""
        """The parameter that takes all other keywords, if there is one."""
        if self.bound is not None:
            self.bound.apply_defaults()
            kinds = self.bound.signature.parameters.values()
            self.extra = next((p.name for p in kinds if p.kind is inspect.Parameter.VAR_KEYWORD), "")

    def of(self, name: str) -> Any:
        """The value of a named argument: the one given, or its default."""
        for place in self._places():
            if name in place:
                return place[name]
        raise InputError(
            message(
                f"There is no argument {name!r} to differentiate with respect to.",
                got=", ".join([n for place in self._places() for n in place if n != self.extra]) or "no named argument",
                fix="Name one of these in  argnames.",
            )
        )

    def call(self, fun: Callable[..., Any], chosen: dict[str, Any]) -> Any:
        """The function with other values for some arguments."""
        if self.bound is None:
            return fun(*self.args, **{**self.kwargs, **chosen})
        own = self.bound.arguments
        named = {**own, **{n: v for n, v in chosen.items() if n in own and n != self.extra}}
        rest = {n: v for n, v in chosen.items() if n not in own or n == self.extra}
        if rest:
            named[self.extra] = {**own[self.extra], **rest}
        new = inspect.BoundArguments(self.bound.signature, named)  # type: ignore[arg-type]
        return fun(*new.args, **new.kwargs)

    def _places(self) -> list[dict[str, Any]]:
        if self.bound is None:
            return [self.kwargs]
        own = {n: v for n, v in self.bound.arguments.items() if n != self.extra}
        return [own, self.bound.arguments.get(self.extra, {})] if self.extra else [own]
