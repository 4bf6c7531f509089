"""The rule of a solver's step whose derivative is that of a computation with the same result, done again in traces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.traced import Traced
from ...core.values import cast, dtype_of, is_inexact, shape_of, zeros_for
from ...numpy.dispatch.arguments import as_value
from ...rules.opaque import Opaque
from ...transforms.callbacks.examples import each_example
from ...transforms.callbacks.solver import Callbacks
from ...transforms.jvp import jvp
from ...transforms.step import conjugated
from ...transforms.stop import stop_gradient
from ...transforms.vjp import vjp_inside

Replay = Callable[..., Sequence[Any]]
"""`replay(results, *parts)`: the numbers and arrays of the result once more, None for those without a derivative.

`results` are those of the step, as constants, for example which steps an integrator took. Only derivatives of what is
returned count, its values do not.
"""
PLACE = 1
"""Where the results begin among those of the step: behind the number of the outcome."""


def replay_rule(callbacks: Callbacks, replay: Replay) -> Opaque:
    """The rule of a step that is done again to be differentiated."""
    rule = ReplayRule(callbacks, replay)
    return Opaque(rule.jvp, rule.vjp)


def moving_of(moves: Sequence[Any], values: Sequence[Any]) -> list[int]:
    """The places of the values that move."""
    return [
        k
        for k, (m, v) in enumerate(zip(moves, values, strict=True))
        if m is not None and m is not False and is_inexact(v)
    ]


def with_moved(values: Sequence[Any], moving: Sequence[int], moved: Sequence[Any]) -> list[Any]:
    """The values, with others in the place of those that move."""
    full = list(values)
    for k, v in zip(moving, moved, strict=True):
        full[k] = v
    return full


class ReplayRule:
    """What moves the results: the computation, and the values behind it."""

    def __init__(self, callbacks: Callbacks, replay: Replay) -> None:
        self.callbacks, self.replay = callbacks, replay

    def jvp(self, tangents: Sequence[Any], out: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        """Push the tangents of the values to the results."""
        count = len(out) - PLACE

        def pushed(given: Sequence[Any], moves: Sequence[Any]) -> list[Any]:
            found, values = given[:count], given[count:]
            moving = moving_of(moves, values)
            again, places = self._of_moving(found, values, moving)
            primals, along = tuple([values[k] for k in moving]), tuple([moves[k] for k in moving])
            pushed = jvp(again, primals, along)[1]
            full: list[Any] = [None] * count
            for place, t in zip(places, pushed, strict=True):
                full[place] = _fitting(t, found[place])
            return full

        return [None, *each_example(pushed, [*out[PLACE:], *args], tangents)]

    def vjp(
        self, g: Sequence[Any], out: Any, args: Sequence[Any], params: dict[str, Any], needed: Sequence[bool]
    ) -> list[Any]:
        """Pull the cotangents of the results to the values."""
        count = len(out) - PLACE
        moving = moving_of(needed, args)

        def pulled(given: Sequence[Any], arrived: Sequence[Any]) -> list[Any]:
            found, values = given[:count], given[count:]
            again, places = self._of_moving(found, values, moving)
            results, pullback = vjp_inside(again, *[values[k] for k in moving])
            cotangents = [
                zeros_for(r) if arrived[place] is None else conjugated(_fitting(arrived[place], r))
                for place, r in zip(places, results, strict=True)
            ]
            full: list[Any] = [None] * len(values)
            for k, c in zip(moving, pullback(tuple(cotangents)), strict=True):
                full[k] = conjugated(c)
            return full

        return each_example(pulled, [*out[PLACE:], *args], g[PLACE:])

    def _of_moving(
        self, found: Sequence[Any], values: Sequence[Any], moving: Sequence[int]
    ) -> tuple[Callable[..., Any], list[int]]:
        """The results that have a derivative, as a function of the values that move; and their places, once called."""
        places: list[int] = []
        constants = stop_gradient(list(found))

        def again(*moved: Any) -> tuple[Any, ...]:
            parts = self.callbacks.parts(with_moved(values, moving, moved))
            results = self.replay(constants, *parts)
            places[:] = [k for k, r in enumerate(results) if r is not None]
            return tuple([results[k] for k in places])

        return again, places


def _fitting(moved: Any, like: Any) -> Any:
    """A tangent or cotangent in the shape and precision of its value."""
    moved = moved if shape_of(moved) == shape_of(like) else np.reshape(moved, shape_of(like))
    return cast(moved, dtype_of(like)) if dtype_of(moved).kind == dtype_of(like).kind else moved


def pinned(value: Any, moving: Any) -> Any:
    """A value that SciPy found, with the derivative of what it stands for."""
    moving = as_value(moving)
    return value + np.reshape(moving - stop_gradient(moving), shape_of(value)) if isinstance(moving, Traced) else value
