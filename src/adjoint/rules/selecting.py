"""`Selecting`: each element of the result is one of the arguments' (maximum, clip, where): weights, not partials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.careful import Cotangent
from ..core.values import Value
from .compile import compiled_at_first_use, evaluated
from .keeping import Kept, all_kept, near_by_push, sum_of_tangents


class Selecting:
    """d out = sum of weight_k * d arg_k with weights 0, 1 or a share at ties.

    A weight of 0 is structural: what was not selected contributes nothing, not even 0 * inf.
    """

    __slots__ = ("vjps", "weights")
    is_zero = False
    near = near_by_push
    is_at_point = True  # what is picked, is picked there
    pull_into = None

    def __init__(self, *weights: Callable[..., Value] | None) -> None:
        self.weights = weights
        self.vjps = compiled_at_first_use(self, weights)

    def keep(self, primitive: Any, parents: Sequence[int | None], values: Sequence[Value], out: Value) -> Kept:
        """What the walk back will need; a constant zero is marked."""
        return all_kept(primitive, parents, _marked(values, parents), out)

    def push(self, primitive: Any, tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> Value:
        """The tangent of what was selected."""
        args = _marked(args, tangents)
        terms = []
        for t, weight in zip(tangents, evaluated(self.weights), strict=True):
            if t is not None:
                w = weight(out, *args)
                terms.append(np.where(np.not_equal(w, 0), t * w, 0.0))
        return sum_of_tangents(terms, out)

    def pull_careful(
        self, primitive: Any, g: Cotangent, out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]
    ) -> list[Cotangent | None]:
        """Hand the cotangent to the selected, and mark the rest as structurally zero."""
        return [
            g.selected(weight(out, *args)) if need else None
            for weight, need in zip(evaluated(self.weights), needed, strict=True)
        ]


def _marked(values: Sequence[Value], moving: Sequence[Any]) -> tuple[Value, ...]:
    """Write a constant number 0 as the integer, so that weights can tell `np.maximum(x, 0)` from a tie at 0."""
    return tuple(
        [
            0 if m is None and type(v) in (int, float, np.float64) and v == 0 else v
            for v, m in zip(values, moving, strict=True)
        ]
    )
