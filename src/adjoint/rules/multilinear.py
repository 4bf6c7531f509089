"""`Multilinear`: linear in each argument while the others are fixed (multiply, matmul, convolve)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.careful import Cotangent
from ..core.traced import Traced
from ..core.values import Value
from .keeping import copies_of_constants, sum_of_tangents, whole


class Multilinear:
    """d out = op(dx, y) + op(x, dy), with a transpose `(g, out, *args, **params) -> cotangent` for each argument."""

    __slots__ = ("elementwise", "transposes", "vjps")
    is_zero = False
    keep_out = staticmethod(whole)
    keep = staticmethod(copies_of_constants)

    def __init__(self, *transposes: Callable[..., Value], elementwise: bool = False) -> None:
        self.transposes = transposes
        self.vjps = transposes
        self.elementwise = elementwise

    def push(self, primitive: Any, tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> Value:
        """One term for each argument that moves."""
        terms = [
            primitive(*args[:k], t, *args[k + 1 :], **params) for k, t in enumerate(tangents) if t is not None
        ]
        return sum_of_tangents(terms, out)

    def pull_careful(
        self, primitive: Any, g: Cotangent, out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]
    ) -> list[Cotangent | None]:
        """The transposes; where a structural zero meets inf or nan in another argument, it wins."""
        return [
            self._pull_one(k, g, out, args, params) if need else None for k, need in enumerate(needed)
        ]

    def _pull_one(self, k: int, g: Cotangent, out: Value, args: Sequence[Value], params: dict) -> Cotangent:
        transpose = self.transposes[k]
        if self.elementwise:
            return g.transposed_elementwise(lambda part: transpose(part, out, *args, **params))
        others = [np.isfinite(a) for a in args]
        if g.support is None or all(np.all(ok) for j, ok in enumerate(others) if j != k and not isinstance(ok, Traced)):
            return g.mapped(lambda part: transpose(part, out, *args, **params), support=None)
        tame = [np.where(ok, a, 0.0) for ok, a in zip(others, args, strict=True)]
        wild = [np.where(ok, 0.0, 1.0) for ok in others]
        meets = np.not_equal(transpose(np.where(g.support, 1.0, 0.0), out, *wild, **params), 0)
        return g.mapped(
            lambda part: np.where(
                meets, transpose(part, out, *args, **params), transpose(part, out, *tame, **params)
            ),
            support=None,
        )
