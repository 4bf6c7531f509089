"""Turn a partial, written with the names of what it needs, into a function with the walk's fixed signature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

NAMES = ("x", "y", "z", "w")
"""What a partial calls the arguments, in order; it calls the result `out`."""


def pulled(partial: Callable[..., Any], arity: int) -> Callable[..., Any]:
    """`(g, out, x, y, ...) -> g * partial(<the names it asks for>)`."""
    return _compiled(f"lambda g, out, {_arguments(arity)}: g * partial({_wanted(partial)})", partial)


def evaluated(partial: Callable[..., Any], arity: int) -> Callable[..., Any]:
    """`(out, x, y, ...) -> partial(<the names it asks for>)`."""
    return _compiled(f"lambda out, {_arguments(arity)}: partial({_wanted(partial)})", partial)


def _arguments(arity: int) -> str:
    return ", ".join(NAMES[:arity])


def _wanted(partial: Callable[..., Any]) -> str:
    code = partial.__code__
    return ", ".join(code.co_varnames[: code.co_argcount])


def _compiled(source: str, partial: Callable[..., Any]) -> Callable[..., Any]:
    return eval(source, {"partial": partial})  # noqa: S307  (the source is put together above, from names alone)
