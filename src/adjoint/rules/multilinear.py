"""`Multilinear`: linear in each argument while the others are fixed (multiply, matmul, convolve)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.careful import EVEN, PRODUCT, Cotangent
from ..core.values import Value, may_hold, shape_of
from .keeping import Kept, ghost, own, sum_of_tangents


class Multilinear:
    """d out = op(dx, y) + op(x, dy), with a transpose `(g, out, *args, **params) -> cotangent` for each argument."""

    __slots__ = ("elementwise", "transposes", "vjps")
    is_zero = False
    is_at_point = False
    pull_into = None

    def __init__(self, *transposes: Callable[..., Value], elementwise: bool = False) -> None:
        self.transposes = transposes
        self.vjps = transposes
        self.elementwise = elementwise

    def keep(self, primitive: Any, parents: Sequence[int | None], values: Sequence[Value], out: Value) -> Kept:
        """The arguments that another one's cotangent is multiplied with."""
        moving = [k for k, p in enumerate(parents) if p is not None]
        kept = [
            ghost(v) if moving == [k] else own(v) if p is None else v
            for k, (p, v) in enumerate(zip(parents, values, strict=True))
        ]
        return kept, ghost(out)

    def push(self, primitive: Any, tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> Value:
        """One term for each argument that moves."""
        terms = [primitive(*args[:k], t, *args[k + 1 :], **params) for k, t in enumerate(tangents) if t is not None]
        return sum_of_tangents(terms, out)

    def near(
        self, primitive: Any, moves: Sequence[Value], out: Value, args: Sequence[Value], params: dict
    ) -> tuple[Value, Value]:
        """The tangent, and the product of the moves themselves, which is what is left where the arguments are 0."""
        move = self.push(primitive, moves, out, args, params)
        if all(m is not None for m in moves):
            move = move + primitive(*moves, **params)
        if not self.elementwise:
            return out, move
        gone: Any = False  # a factor that is 0 and stays so ends every infinity, as what was not selected does
        for k, (a, m) in enumerate(zip(args, moves, strict=True)):
            other = args[1 - k] if moves[1 - k] is None else args[1 - k] + moves[1 - k]
            gone = gone | (np.equal(a, 0) & (True if m is None else np.equal(m, 0)) & np.equal(other, other))
        return np.where(gone, 0.0, out), np.where(gone, 0.0, move)

    def pull_careful(
        self, primitive: Any, g: Cotangent, out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]
    ) -> list[Cotangent | None]:
        """The transposes; where a structural zero meets inf or nan in another argument, it wins."""
        return [self._pull_one(k, g, out, args, params) if need else None for k, need in enumerate(needed)]

    def _pull_one(self, k: int, g: Cotangent, out: Value, args: Sequence[Value], params: dict) -> Cotangent:
        transpose = self.transposes[k]
        slope = EVEN if len(args) == 2 and args[0] is args[1] else PRODUCT
        if self.elementwise:
            return g.transposed_elementwise(lambda part: transpose(part, out, *args, **params), slope)

        def sizes(part: Value) -> Value:
            return transpose(part, out, *[np.abs(a) for a in args], **params)

        found = g.mapped(lambda part: transpose(part, out, *args, **params), sizes, slope)
        if g.support is None:
            return found
        arrived = np.where(g.support, 1.0, 0.0)
        ones = [np.ones(shape_of(a)) for a in args]
        args = [ones[k] if j == k else a for j, a in enumerate(args)]  # its own value has no part in it
        found.support = np.not_equal(transpose(arrived, out, *ones, **params), 0)
        wild = [np.where(np.isfinite(a), 0.0, 1.0) for a in args]
        if any(may_hold(w) for j, w in enumerate(wild) if j != k):
            tame = [np.where(np.isfinite(a), a, 0.0) for a in args]
            meets = np.not_equal(transpose(arrived, out, *wild, **params), 0)
            found.finite = np.where(meets, found.finite, transpose(g.finite, out, *tame, **params))
            if found.infinite is not None:
                found.infinite = np.where(meets, found.infinite, transpose(g.infinite, out, *tame, **params))
        return found.masked()
