"""Whole calls of SciPy's functions in a batch, one example after the other, for code that decides on values.

Inside `vmap` a value has no single truth value. Where SciPy's own code asks for one, the call becomes one step that is
taken for each example by itself; so do its derivatives, which are calls of the same kind.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.errors import BatchError, message
from ..core.primitive import Primitive
from ..core.traced import Traced, snapshot
from ..core.tree import flatten
from ..core.values import is_inexact, zeros_for
from ..rules.opaque import Opaque
from ..rules.stacking import one_by_one
from ..transforms.jvp import jvp as push_forward
from ..transforms.step import conjugated
from ..transforms.vjp import vjp_inside as pull_back

Flat = Callable[..., tuple[Any, ...]]
NUMBERS = (np.ndarray, np.generic, bool, int, float, complex, Traced)


def in_batches(name: str, ours: Callable[..., Any]) -> Callable[..., Any]:
    """The function, called for one example after the other if it cannot be for the whole batch."""

    @functools.wraps(ours)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return ours(*args, **kwargs)
        except BatchError:
            if not any([is_batched(x) for x in flatten((args, kwargs))[0]]):
                raise
        return in_examples(name, ours, args, kwargs)

    return call


def in_examples(name: str, ours: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """Call a function for one example of a batch after the other."""
    return _one_by_one(name, ours, *flatten((args, kwargs)))


def is_batched(x: Any) -> bool:
    """Whether a value is, under any traces, one of a batch."""
    while isinstance(x, Traced):
        if x.traced_by.lead:
            return True
        x = x.value
    return False


def _one_by_one(name: str, ours: Callable[..., Any], leaves: Sequence[Any], rebuild: Callable[..., Any]) -> Any:
    """The call as a step of the numbers that are traced; everything else is as it is now."""
    places = [k for k, x in enumerate(leaves) if isinstance(x, Traced)]
    fixed = [x.copy() if type(x) is np.ndarray else x for x in leaves]
    shapes: list[Any] = []

    def flat(*values: Any) -> tuple[Any, ...]:
        given = list(fixed)
        for k, v in zip(places, values, strict=True):
            given[k] = v
        again, words = rebuild(given)
        found, restore = flatten(ours(*again, **words))
        shapes[:] = [restore, found]
        _check_numbers(name, found)
        return tuple([f for f in found if isinstance(f, NUMBERS)])

    found = iter(_step(name, flat)(*[snapshot(leaves[k]) for k in places]))
    restore, example = shapes
    return restore([next(found) if isinstance(x, NUMBERS) else x for x in example])


def _check_numbers(name: str, found: Sequence[Any]) -> None:
    """Refuse results that are objects: those of one example would stand for all."""
    for x in found:
        if not isinstance(x, (*NUMBERS, *CONSTANTS)):
            raise BatchError(
                message(
                    f"{name} gives objects, so a batch of its results cannot be put together.",
                    got=type(x).__name__,
                    fix="Map over a function that returns the numbers that are wanted, or use a loop.",
                )
            )


CONSTANTS = (type(None), str, bytes, type, np.dtype)
"""What results hold besides numbers, and examples have in common."""


def _step(name: str, flat: Flat) -> Primitive:
    """A function of numbers as one step, which is done one by one in batches, as are its tangents and cotangents."""

    def of_moving(args: Sequence[Any], moves: Sequence[bool]) -> tuple[Flat, list[Any]]:
        def moving(*values: Any) -> tuple[Any, ...]:
            rest = iter(values)
            return flat(*[next(rest) if m else a for a, m in zip(args, moves, strict=True)])

        return moving, [a for a, m in zip(args, moves, strict=True) if m]

    def jvp(tangents: Sequence[Any], out: Any, args: Sequence[Any], params: Any) -> Any:
        moves = [t is not None for t in tangents]

        def pushed(*given: Any) -> tuple[Any, ...]:
            function, primals = of_moving(given[: len(args)], moves)
            return tuple(push_forward(function, primals, list(given[len(args) :]))[1])

        return _step(f"tangent of {name}", pushed)(*args, *[t for t in tangents if t is not None])

    def vjp(g: Sequence[Any], out: Any, args: Sequence[Any], params: Any, needed: Sequence[bool]) -> list[Any]:
        def pulled(*given: Any) -> tuple[Any, ...]:
            function, primals = of_moving(given[: len(args)], needed)
            values, pullback = pull_back(function, *primals)
            rest = iter(given[len(args) :])
            arrived = [zeros_for(v) if c is None else next(rest) for c, v in zip(g, values, strict=True)]
            cotangents = [
                conjugated(c) if is_inexact(v) else zeros_for(v) for c, v in zip(arrived, values, strict=True)
            ]
            return tuple([conjugated(c) for c in pullback(tuple(cotangents))])

        found = iter(_step(f"cotangent of {name}", pulled)(*args, *[c for c in g if c is not None]))
        return [next(found) if need else None for need in needed]

    return Primitive(name, flat, derivative=Opaque(jvp, vjp), stacking=one_by_one, multiple=True, fails_from=0)
