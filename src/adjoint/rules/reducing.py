"""`Reducing`: a reduction with a share for each element: those that were picked (max, min), or all (logsumexp)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np

from ..core.primitive import Primitive
from ..core.rule import Needed, Rule, Tangents
from ..core.traced import ARRAY
from ..core.types import Numeric, Params, Values
from ..core.values import shape_of
from .residuals import like, near_by_push

if TYPE_CHECKING:
    from ..core.series import Expansion, Next
    from ..core.singular.structural_zeros import Cotangent


@final
class Reducing(Rule[Numeric]):
    """d out = sum over the reduced axes of share * dx.

    Parameters
    ----------
    share : `(out, x, *, axis, keepdims) -> array` with the shape of x.
    selects : whether a share of 0 means that the element was not picked, and is 0 nearby too, so that it is structural:
        so for max and min. A share that is 0 at the point alone, as 2 * x of a sum of squares where x is 0, is not, nor
        one that is 0 because it is small, as that of exp(-1000): log(0) behind it may have an infinite slope.
    """

    __slots__ = ("selects", "share")
    makes_new = True
    near = near_by_push

    @property
    def is_at_point(self) -> bool:
        """What is picked, is picked at the point, not near it."""
        return self.selects

    def __init__(self, share: Callable[..., Numeric], *, selects: bool) -> None:
        self.share = share
        self.selects = selects

    def expand(self, step: Expansion) -> Next:
        """The coefficients of what is picked at the point, or all by their shares."""
        from . import expanding  # seldom needed, so not when the library is imported

        return expanding.reducing(self, step)

    def push(self, primitive: Primitive, tangents: Tangents, out: Numeric, args: Values, params: Params) -> Any:
        """The tangents of the elements, weighted with their shares."""
        share: Any = self.share(out, *args, **params)
        moved = share * tangents[0]
        if self.selects:
            moved = np.where(np.not_equal(share, 0), moved, 0.0)
        return like(np.sum(moved, **params), out)

    def pull(
        self, primitive: Primitive, g: Numeric, out: Numeric, args: Values, params: Params, needed: Needed
    ) -> Sequence[Any]:
        """The cotangent, to each element its share."""
        return [widened(g, args[0], params["axis"]) * self.share(out, *args, **params)]

    def pull_careful(
        self, primitive: Primitive, g: Cotangent, out: Numeric, args: Values, params: Params, needed: Needed
    ) -> Sequence[Cotangent | None]:
        """As `pull`; elements that were not picked are structurally zero."""
        share = self.share(out, *args, **params)
        ones = np.ones(shape_of(share))
        support = None
        if g.support is not None:
            support = (widened(np.where(g.support, 1.0, 0.0), args[0], params["axis"]) * ones) != 0

        def wider(part: Numeric) -> Any:
            return widened(part, args[0], params["axis"]) * ones

        wide = g.mapped(wider, wider)
        wide.support = support
        return [wide.selected(share) if self.selects else wide.times(share, out, vertex=False)]


def widened(g: Numeric, x: Numeric, axis: tuple[int, ...]) -> Any:
    """Give a reduced value its axes of length 1 back."""
    if type(g) is float or (type(g) is ARRAY and type(x) is ARRAY and g.ndim == x.ndim):
        return g
    shape = shape_of(x)
    if len(shape_of(g)) == len(shape):
        return g
    return np.reshape(g, tuple([1 if i - len(shape) in axis else n for i, n in enumerate(shape)]))
