"""`Reducing`: a reduction with a share for each element: those that were picked (max, min), or all (logsumexp)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.careful import Cotangent
from ..core.values import Value, shape_of
from .keeping import all_kept, like, near_by_push


class Reducing:
    """d out = sum over the reduced axes of share * dx.

    Parameters
    ----------
    share : `(out, x, *, axis, keepdims) -> array` with the shape of x.
    selects : whether a share of 0 means that the element was not picked, so that it is structural. A share that is 0
        because it is small, as that of exp(-1000), is not: log(0) behind it may have an infinite slope.
    """

    __slots__ = ("selects", "share")
    is_zero = False
    near = near_by_push

    @property
    def is_at_point(self) -> bool:
        """What is picked, is picked at the point, not near it."""
        return self.selects

    pull_into = None
    vjps = None
    keep = staticmethod(all_kept)

    def __init__(self, share: Callable[..., Value], *, selects: bool = True) -> None:
        self.share = share
        self.selects = selects

    def push(self, primitive: Any, tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> Value:
        """The tangents of the elements, weighted with their shares."""
        share = self.share(out, *args, **params)
        moved = tangents[0] * share
        if self.selects:
            moved = np.where(np.not_equal(share, 0), moved, 0.0)
        return like(np.sum(moved, **params), out)

    def pull(
        self, primitive: Any, g: Value, out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]
    ) -> list[Value | None]:
        """The cotangent, to each element its share."""
        return [widened(g, args[0], params["axis"]) * self.share(out, *args, **params)]

    def pull_careful(
        self, primitive: Any, g: Cotangent, out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]
    ) -> list[Cotangent | None]:
        """As `pull`; elements that were not picked are structurally zero."""
        share = self.share(out, *args, **params)
        ones = np.ones(shape_of(share))
        support = None
        if g.support is not None:
            support = (widened(np.where(g.support, 1.0, 0.0), args[0], params["axis"]) * ones) != 0

        def wider(part: Value) -> Value:
            return widened(part, args[0], params["axis"]) * ones

        wide = g.mapped(wider, wider)
        wide.support = support
        return [wide.selected(share) if self.selects else wide.times(share, out, vertex=False)]


def widened(g: Value, x: Value, axis: tuple[int, ...]) -> Value:
    """Give a reduced value its axes of length 1 back."""
    if type(g) is float:
        return g
    shape = shape_of(x)
    if len(shape_of(g)) == len(shape):
        return g
    return np.reshape(g, tuple([1 if i - len(shape) in axis else n for i, n in enumerate(shape)]))
