"""Which arguments a derivative is taken with respect to, and their leaves as inputs of a trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.errors import InputError, message
from ...core.hints import public_name
from ...core.quick.number_kinds import note_kinds
from ...core.reverse import PLAIN, ReverseTrace
from ...core.traced import ARRAY, FLOAT64, Traced, settled
from ...core.tree import LEAVES, flatten
from ...core.values import describe
from .checking import checked_input, checked_inputs, given_leaves
from .presenting import presented

Argnums = int | tuple[int, ...]
"""One positional argument, or several."""


Rebuild = Callable[[list[Any]], Any] | None
"""How leaves go back into the containers of the arguments; None for the one argument itself."""


def traced_inputs(
    trace: ReverseTrace, args: tuple[Any, ...], argnums: Argnums
) -> tuple[list[Any], list[Any], list[Any], Rebuild]:
    """The leaves of the chosen arguments as inputs of a trace.

    As they were given; their values; the arguments with handles in their place; and the way back to containers.
    """
    if type(argnums) is int and 0 <= argnums < len(args) and type(args[argnums]) in LEAVES:  # the usual case
        x = args[argnums]
        call = list(args)
        if type(x) is float:
            call[argnums] = trace.input(x)
            return [x], [x], call, None
        if type(x) is Traced:
            x = settled(x)
        elif type(x) is int:
            x = given_leaves([x], (x,))[0]
        value = x if type(x) is ARRAY and x.dtype is FLOAT64 else checked_input(x, "grad")
        call[argnums] = trace.input(value)
        note_kinds(trace, [x])
        return [x], [value], call, None
    wanted = args[argnums] if type(argnums) is int and 0 <= argnums < len(args) else chosen(args, argnums)
    leaves, rebuild = flatten(wanted)
    held = (wanted,) if isinstance(argnums, int) else wanted
    given = leaves if PLAIN.issuperset(map(type, leaves)) else given_leaves(leaves, held)
    values = checked_inputs(given, held, "grad")
    note_kinds(trace, given)
    return given, values, replaced(args, argnums, rebuild([trace.input(x) for x in values])), rebuild


def in_containers(gradients: list[Any], given: list[Any], rebuild: Rebuild) -> Any:
    """The gradients of the leaves as the user should see them."""
    if rebuild is not None:
        return rebuild([presented(g, x) for g, x in zip(gradients, given, strict=True)])
    g, x = gradients[0], given[0]
    return g if type(g) is type(x) is float else presented(g, x)


def chosen(args: tuple[Any, ...], argnums: int | Sequence[int]) -> Any:
    """The arguments to differentiate with respect to: one, or a tuple of them."""
    check_places(args, argnums)
    return args[argnums] if isinstance(argnums, int) else tuple([args[n] for n in argnums])


def replaced(args: tuple[Any, ...], argnums: int | Sequence[int], new: Any) -> list[Any]:
    """The arguments with others instead of the chosen ones."""
    call = list(args)
    if isinstance(argnums, int):
        call[argnums] = new
    else:
        for n, x in zip(argnums, new, strict=True):
            call[n] = x
    return call


def with_reals(args: tuple[Any, ...], argnums: Argnums) -> tuple[Any, ...]:
    """The arguments, with Python's integers among the leaves of the chosen ones as the floats that they stand for."""
    wanted = chosen(args, argnums)
    leaves, rebuild = flatten(wanted)
    reals = given_leaves(leaves, (wanted,) if isinstance(argnums, int) else wanted)
    return args if list(map(type, reals)) == list(map(type, leaves)) else tuple(replaced(args, argnums, rebuild(reals)))


def checked_argnums(argnums: Any, transform: str = "grad") -> int | tuple[int, ...]:
    """Which arguments to differentiate with respect to: one number, or a tuple of different ones."""
    if type(argnums) is int or _is_place(argnums):
        return int(argnums)
    if (
        isinstance(argnums, Sequence)
        and not isinstance(argnums, (str, bytes))
        and all(map(_is_place, argnums))
        and len(set(argnums)) == len(argnums)
    ):
        return tuple([int(n) for n in argnums])
    is_named = transform != "explain" and isinstance(argnums, (str, tuple, list)) and _are_names(argnums)
    raise InputError(
        message(
            "argnums has to be an integer or a tuple of different integers.",
            got=describe(argnums),
            fix=f"Choose arguments by their names with  argnames={argnums!r}."
            if is_named
            else f"Pass the point to {'the gradient itself' if transform == 'grad' else 'what it returns'}:  "
            f"ad.{public_name(transform)}(f)(x),  or  ad.{public_name(transform)}(f, argnums=(0, 1))(x, y).",
        )
    )


def _are_names(argnums: Sequence[Any]) -> bool:
    return bool(argnums) and all([isinstance(name, str) for name in argnums])


def _is_place(n: object) -> bool:
    return isinstance(n, (int, np.integer)) and not isinstance(n, bool)


def check_places(args: tuple[Any, ...], argnums: int | Sequence[int]) -> None:
    """Raise if an argument is chosen that was not given."""
    for n in (argnums,) if isinstance(argnums, int) else argnums:
        if not -len(args) <= n < len(args):
            raise InputError(
                message(
                    f"There is no positional argument number {n} to differentiate with respect to.",
                    got=f"{len(args)} positional arguments",
                    fix="Pass the argument by position, and choose it with  argnums.",
                )
            )
