"""The rule of a solver's step whose derivative is that of a computation with the same result, done again in traces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.traced import Traced
from ...core.values import cast, dtype_of, shape_of, zeros_for
from ...numpy.dispatch.arguments import as_value
from ...rules.opaque import Opaque
from ...transforms.callbacks.rule import SolverRule, with_moved
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


def replay_rule(callbacks: Callbacks, replay: Replay) -> Opaque:
    """The rule of a step that is done again to be differentiated."""
    return ReplayRule(callbacks, replay).opaque


class ReplayRule(SolverRule):
    """What moves the results: the computation, and the values behind it."""

    def __init__(self, callbacks: Callbacks, replay: Replay) -> None:
        super().__init__(callbacks)
        self.replay = replay

    def push(self, found: Sequence[Any], values: Sequence[Any], moving: list[int], along: tuple[Any, ...]) -> list[Any]:
        """Push the tangents of the values to the results."""
        again, places = self._of_moving(found, values, moving)
        pushed = jvp(again, tuple([values[k] for k in moving]), along)[1]
        full: list[Any] = [None] * len(found)
        for place, t in zip(places, pushed, strict=True):
            full[place] = _fitting(t, found[place])
        return full

    def pull(
        self, found: Sequence[Any], values: Sequence[Any], moving: list[int], arrived: Sequence[Any]
    ) -> Sequence[Any]:
        """Pull the cotangents of the results to the values."""
        again, places = self._of_moving(found, values, moving)
        results, pullback = vjp_inside(again, *[values[k] for k in moving])
        cotangents = [
            zeros_for(r) if arrived[place] is None else conjugated(_fitting(arrived[place], r))
            for place, r in zip(places, results, strict=True)
        ]
        return [conjugated(c) for c in pullback(tuple(cotangents))]

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
