"""`Opaque`: an operation with a rule of its own; given one of JVP and VJP, the other is its transpose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, final

import numpy as np

from ..core.primitive import Primitive
from ..core.reverse import ReverseTrace, pull
from ..core.rule import Needed, Rule, Tangents
from ..core.traced import is_of
from ..core.types import Params, Values
from ..core.values import zeros_for
from .residuals import like, near_by_push


@final
class Opaque(Rule[Any]):
    """A rule written out.

    Parameters
    ----------
    jvp : `(tangents, out, args, params) -> tangent`, where a tangent may be None for zero.
    vjp : `(g, out, args, params, needed) -> list of cotangents`. Both transposed without conjugation.
    exact : whether nothing cancels, as in a product, so that the result for tiny arguments has all its digits.
    """

    __slots__ = ("exact", "jvp", "vjp")

    def __init__(
        self,
        jvp: Callable[..., Any] | None = None,
        vjp: Callable[..., Sequence[Any]] | None = None,
        *,
        exact: bool = False,
    ) -> None:
        if jvp is None and vjp is None:
            raise TypeError("an opaque rule needs a jvp or a vjp")
        self.jvp = jvp
        self.vjp = vjp
        self.exact = exact

    @property
    def is_at_point(self) -> bool:
        """The rules that are not exact near a point decide at it whether there is a derivative."""
        return not self.exact

    @property
    def takes_wide(self) -> bool:
        """What is exact is arithmetic alone; all else may be LAPACK's."""
        return self.exact

    def near(self, primitive: Primitive, moves: Tangents, out: Any, args: Values, params: Params) -> tuple[Any, Any]:
        """As the tangent, and if it is exact where the result is 0, as the result itself."""
        found, move = near_by_push(self, primitive, moves, out, args, params)
        if self.exact:
            whole = primitive(*[a if m is None else a + m for a, m in zip(args, moves, strict=True)], **params)
            move = np.where(np.equal(found, 0), whole, move)
        return found, move

    def push(self, primitive: Primitive, tangents: Tangents, out: Any, args: Values, params: Params) -> Any:
        """The given JVP, or the transpose of the given VJP."""
        if self.jvp:
            tangent = self.jvp(tangents, out, args, params)
        else:
            tangent = self._transposed_vjp(primitive, tangents, out, args, params)
        if primitive.multiple:
            return [None if t is None else like(t, o) for t, o in zip(tangent, out, strict=True)]
        return like(tangent, out)

    def pull(
        self, primitive: Primitive, g: Any, out: Any, args: Values, params: Params, needed: Needed
    ) -> Sequence[Any]:
        """The given VJP, or the transpose of the given JVP."""
        if self.vjp:
            return self.vjp(g, out, args, params, needed)
        trace = ReverseTrace()
        tangents = [trace.input(zeros_for(a)) if need else None for a, need in zip(args, needed, strict=True)]
        try:
            result = self.jvp(tangents, out, args, params)  # type: ignore[misc]
            pairs = zip(result, g, strict=True) if primitive.multiple else [(result, g)]
            found = iter(pull(trace, _seeds(trace, pairs), sum(needed)))
        finally:
            trace.end()
        return [next(found) if need else None for need in needed]

    def _transposed_vjp(self, primitive: Primitive, tangents: Tangents, out: Any, args: Values, params: Params) -> Any:
        trace = ReverseTrace()
        outs = out if primitive.multiple else [out]
        g = [trace.input(zeros_for(o)) for o in outs]
        needed = [t is not None for t in tangents]
        try:
            found = self.vjp(list(g) if primitive.multiple else g[0], out, args, params, needed)  # type: ignore[misc]
            moved = pull(trace, _seeds(trace, zip(found, tangents, strict=True)), len(g))
        finally:
            trace.end()
        result = [zeros_for(o) if m is None else m for m, o in zip(moved, outs, strict=True)]
        return result if primitive.multiple else result[0]


def _seeds(trace: ReverseTrace, pairs: Iterable[tuple[Any, Any]]) -> list[tuple[int, Any]]:
    """Where in a trace values are, with their cotangents."""
    return [(r.node, c) for r, c in pairs if c is not None and is_of(r, trace)]
