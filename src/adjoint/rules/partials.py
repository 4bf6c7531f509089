"""Functions with a sweep's fixed signature from partials, written with the names of what they need, and transposes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ..core.primitive import Primitive
from ..core.rule import Needed
from ..core.types import Numeric, Params, Values

Partial = Callable[..., Any]

NAMES = ("x", "y", "z", "w")
"""What a partial calls the arguments, in order; it calls the result `out`."""


Pull = Callable[[Primitive, Numeric, Numeric, Values, Params, Needed], Sequence[Any]]
"""`(primitive, g, out, args, params, needed) -> cotangents of the arguments`: see `Rule.pull`."""

if TYPE_CHECKING:

    class Pulling(Protocol):
        """A rule whose `pull` is compiled at its first use, so that importing the library stays cheap."""

        pull: Pull


def pull_by_partials(rule: Pulling, partials: Sequence[Partial | None]) -> Pull:
    """`g * partial_k(<the names it asks for>)` for each argument that needs it."""
    return _at_first_use(rule, partials, lambda k, partial: f"g * f{k}({', '.join(map(_given, wanted(partial)))})")


def pull_by_transposes(rule: Pulling, transposes: Sequence[Partial | None]) -> Pull:
    """`transpose_k(g, out, *args, **params)` for each argument that needs it."""
    return _at_first_use(rule, transposes, lambda k, transpose: f"f{k}(g, out, {_arguments(transpose)})")


def _arguments(transpose: Partial) -> str:
    """How a transpose is handed the arguments and parameters of a step: one by one if there are just so many."""
    count = None if getattr(transpose, "__kwdefaults__", None) else arity_of(transpose)
    if count is None or transpose.__code__.co_kwonlyargcount:
        return "*args, **params"
    return ", ".join([f"args[{k}]" for k in range(count - 2)])


def _at_first_use(rule: Pulling, functions: Sequence[Partial | None], source: Callable[[int, Partial], str]) -> Pull:
    def first(
        primitive: Primitive, g: Numeric, out: Numeric, args: Values, params: Params, needed: Needed, /
    ) -> Sequence[Any]:
        calls = ["None" if f is None else source(k, f) for k, f in enumerate(functions)]
        if len(calls) > 1:
            calls = [f"{call} if needed[{k}] else None" for k, call in enumerate(calls)]
        names = {f"f{k}": f for k, f in enumerate(functions)}
        rule.pull = _compiled(f"lambda primitive, g, out, args, params, needed: ({', '.join(calls)},)", names)
        return rule.pull(primitive, g, out, args, params, needed)

    return first


def _given(name: str) -> str:
    return "out" if name == "out" else f"args[{NAMES.index(name)}]"


@functools.cache
def evaluated(partials: tuple[Partial | None, ...]) -> tuple[Any, ...]:
    """For each partial `(out, x, y, ...) -> partial(<the names it asks for>)`."""
    arguments = ", ".join(NAMES[: len(partials)])
    return tuple([
        p and _compiled(f"lambda out, {arguments}: f({', '.join(wanted(p))})", {"f": p}) for p in partials
    ])  # fmt: skip


def wanted(partial: Any) -> tuple[str, ...]:
    """The names of what a partial asks for."""
    code = partial.__code__
    return code.co_varnames[: code.co_argcount]  # type: ignore[no-any-return]


def _compiled(source: str, names: dict[str, Partial | None]) -> Callable[..., Any]:
    code = compile(source, "<adjoint rule>", "eval")
    return eval(code, {**names, "__name__": __name__})  # noqa: S307  (the source is put together above, from names alone)


VARIADIC = 0x04
"""The flag of a function that takes any number of arguments."""


def arity_of(function: Any) -> int | None:
    """How many arguments a function takes, not counting those by name; None if that cannot be told, or varies."""
    code = getattr(function, "__code__", None)
    if code is None:
        return getattr(function, "nin", None)
    return None if code.co_flags & VARIADIC or function.__defaults__ else code.co_argcount  # type: ignore[no-any-return]
