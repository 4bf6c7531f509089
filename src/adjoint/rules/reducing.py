"""`Reducing`: a reduction that picks elements (max, min), with a share for each element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.careful import Cotangent
from ..core.traced import Traced
from ..core.values import Value, shape_of
from .keeping import copies_of_constants, like, whole


class Reducing:
    """d out = sum over the reduced axes of share * dx; a share of 0 is structural.

    Parameters
    ----------
    share : `(out, x, *, axis, keepdims) -> array` with the shape of x.
    """

    __slots__ = ("share",)
    is_zero = False
    keep_out = staticmethod(whole)
    vjps = None
    keep = staticmethod(copies_of_constants)

    def __init__(self, share: Callable[..., Value]) -> None:
        self.share = share

    def push(self, primitive: Any, tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> Value:
        """The tangents of the picked elements, averaged at ties."""
        share = self.share(out, *args, **params)
        moved = np.where(np.not_equal(share, 0), tangents[0] * share, 0.0)
        return like(np.sum(moved, **params), out)

    def pull(
        self, primitive: Any, g: Value, out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]
    ) -> list[Value | None]:
        """The cotangent, to the picked elements."""
        return [widened(g, args[0], params["axis"]) * self.share(out, *args, **params)]

    def pull_careful(
        self, primitive: Any, g: Cotangent, out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]
    ) -> list[Cotangent | None]:
        """As `pull`; the other elements are structurally zero."""
        share = self.share(out, *args, **params)
        ones = np.ones(shape_of(share))
        support = None
        if g.support is not None:
            support = (widened(np.where(g.support, 1.0, 0.0), args[0], params["axis"]) * ones) != 0
        wide = g.mapped(lambda part: widened(part, args[0], params["axis"]) * ones, support=support)
        return [wide.selected(share)]


def widened(g: Value, x: Value, axis: tuple[int, ...]) -> Value:
    """Give a reduced value its axes of length 1 back."""
    shape = shape_of(x)
    if len(shape_of(g)) == len(shape):
        return g
    wide = tuple([1 if i - len(shape) in axis else n for i, n in enumerate(shape)])
    return g if shape_of(g) == () and not isinstance(g, Traced) else np.reshape(g, wide)
