"""`Linear`: jointly linear in its array arguments, so its tangent is the operation itself (sum, reshape, where)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..core.careful import Cotangent
from ..core.values import Value, zeros_for
from .keeping import constants_kept, like


class Linear:
    """out is linear in the arguments that have a transpose; the others are constants such as masks and indices.

    Parameters
    ----------
    transposes : for each leading argument `(g, out, *args, **params) -> cotangent`, or None for a constant.
    variadic : instead of `transposes`, `(g, out, args, params, needed) -> list of cotangents`, for any number.
    structural : whether every coefficient is zero or positive. Then the elements that receive nothing are found
        by sending ones through the transpose, and they are structurally zero.
    pull_into : `(cotangents, parents, g, args, params) -> whether it was done`: the pull of large arrays in place,
        so that reading and writing single elements does not cost a pass over all of them.
    """

    __slots__ = ("pull_into", "structural", "transposes", "variadic", "vjps")
    is_zero = False
    is_at_point = False
    keep = staticmethod(constants_kept)

    def __init__(
        self,
        *transposes: Callable[..., Value] | None,
        variadic: Callable[..., list[Value | None]] | None = None,
        structural: bool = False,
        pull_into: Callable[..., bool] | None = None,
    ) -> None:
        self.transposes = transposes
        self.variadic = variadic
        self.structural = structural
        self.pull_into = pull_into
        self.vjps = None if variadic else transposes

    def push(self, primitive: Any, tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> Value:
        """The operation, applied to the tangents."""
        moved = list(args)
        for k, t in enumerate(tangents):
            if self.is_linear_in(k):
                moved[k] = zeros_for(args[k]) if t is None else t
        result = primitive(*moved, **params)
        if primitive.multiple:
            return [like(r, o) for r, o in zip(result, out, strict=True)]
        return like(result, out)

    def near(
        self, primitive: Any, moves: Sequence[Value], out: Value, args: Sequence[Value], params: dict
    ) -> tuple[Value, Value]:
        """The result moves as its tangent does, however far."""
        return out, self.push(primitive, moves, out, args, params)

    def pull(
        self, primitive: Any, g: Value, out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]
    ) -> list[Value | None]:
        """The cotangents of all arguments."""
        if self.variadic:
            return self.variadic(g, out, args, params, needed)
        return [self.transposes[k](g, out, *args, **params) if need else None for k, need in enumerate(needed)]  # type: ignore[misc]

    def pull_careful(
        self, primitive: Any, g: Cotangent, out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]
    ) -> list[Cotangent | None]:
        """Transpose each part of the cotangent, and its support if that can be known."""
        return g.transposed(
            lambda part: self.pull(primitive, part, out, args, params, needed), support=self.structural, out=out
        )

    def is_linear_in(self, k: int) -> bool:
        """Whether the argument is one that moves; the others are constants."""
        return self.variadic is not None or (k < len(self.transposes) and self.transposes[k] is not None)
