"""Turn a partial, written with the names of what it needs, into a function with the walk's fixed signature."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

Partial = Callable[..., Any]

NAMES = ("x", "y", "z", "w")
"""What a partial calls the arguments, in order; it calls the result `out`."""


def compiled_at_first_use(rule: Any, partials: Sequence[Partial | None]) -> tuple[Callable[..., Any] | None, ...]:
    """The vjps `(g, out, x, y, ...) -> g * partial(<the names it asks for>)` of a rule.

    At first they are stand-ins, which compile them when one is called, so that importing the library stays cheap.
    """
    arity = len(partials)

    def first_use(k: int) -> Callable[..., Any]:
        def vjp(g: Any, out: Any, *args: Any) -> Any:
            rule.vjps = tuple([p and _pulled(p, arity) for p in partials])
            return rule.vjps[k](g, out, *args)

        return vjp

    return tuple([p and first_use(k) for k, p in enumerate(partials)])


def _pulled(partial: Partial, arity: int) -> Callable[..., Any]:
    return _compiled(f"lambda g, out, {_arguments(arity)}: g * partial({', '.join(wanted(partial))})", partial)


@functools.cache
def evaluated(partials: tuple[Partial | None, ...]) -> tuple[Any, ...]:
    """For each partial `(out, x, y, ...) -> partial(<the names it asks for>)`."""
    arguments = _arguments(len(partials))
    return tuple([p and _compiled(f"lambda out, {arguments}: partial({', '.join(wanted(p))})", p) for p in partials])


def _arguments(arity: int) -> str:
    return ", ".join(NAMES[:arity])


def wanted(partial: Any) -> tuple[str, ...]:
    """The names of what a partial asks for."""
    code = partial.__code__
    return code.co_varnames[: code.co_argcount]  # type: ignore[no-any-return]


def _compiled(source: str, partial: Callable[..., Any]) -> Callable[..., Any]:
    code = compile(source, "<adjoint rule>", "eval")
    return eval(code, {"partial": partial, "__name__": __name__})  # noqa: S307  (the source is put together above, from names alone)
