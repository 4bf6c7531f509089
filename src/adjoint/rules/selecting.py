"""`Selecting`: each element of the result is one of the arguments' (maximum, clip, where): weights, not partials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np

from ..core.primitive import Primitive
from ..core.rule import Kept, Needed, Rule, Tangents
from ..core.types import Numeric, Params, Places, Values
from .partials import Pull, evaluated, pull_by_partials
from .residuals import near_by_push, sum_of_tangents

if TYPE_CHECKING:
    from ..core.series import Expansion, Next
    from ..core.singular.structural_zeros import Cotangent


@final
class Selecting(Rule[Numeric]):
    """d out = sum of weight_k * d arg_k with weights 0, 1 or a share at ties.

    A weight of 0 is structural: what was not selected contributes nothing, not even 0 * inf.
    """

    __slots__ = ("pull", "weights")
    makes_new = True
    is_at_point = True  # what is picked, is picked there
    near = near_by_push
    pull: Pull  # type: ignore[assignment]  # a function of its own, compiled at its first use

    def __init__(self, *weights: Callable[..., Numeric] | None) -> None:
        self.weights = weights
        self.pull = pull_by_partials(self, weights)

    def keep(self, primitive: Primitive, parents: Places, values: Values, out: Numeric) -> Kept:
        """What the sweep back will need; a constant zero is marked."""
        return super().keep(primitive, parents, _marked(values, parents), out)

    def expand(self, step: Expansion) -> Next:
        """The coefficients of what is selected at the point."""
        from . import expanding  # seldom needed, so not when the library is imported

        return expanding.selecting(self, step)

    def push(self, primitive: Primitive, tangents: Tangents, out: Numeric, args: Values, params: Params) -> Any:
        """The tangent of what was selected."""
        args = _marked(args, tangents)
        terms = []
        for t, weight in zip(tangents, evaluated(self.weights), strict=True):
            if t is not None:
                w = weight(out, *args)
                terms.append(np.where(np.not_equal(w, 0), t * w, 0.0))
        return sum_of_tangents(terms, out)

    def pull_careful(
        self, primitive: Primitive, g: Cotangent, out: Numeric, args: Values, params: Params, needed: Needed
    ) -> Sequence[Cotangent | None]:
        """Hand the cotangent to the selected, and mark the rest as structurally zero."""
        return [
            g.selected(weight(out, *args)) if need else None
            for weight, need in zip(evaluated(self.weights), needed, strict=True)
        ]


def _marked(values: Values, moving: Sequence[object]) -> tuple[Numeric, ...]:
    """Write a constant number 0 as the integer, so that weights can tell `np.maximum(x, 0)` from a tie at 0."""
    return tuple(
        [
            0 if m is None and type(v) in (int, float, np.float64) and v == 0 else v
            for v, m in zip(values, moving, strict=True)
        ]
    )
