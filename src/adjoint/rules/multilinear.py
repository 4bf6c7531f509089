"""`Multilinear`: linear in each argument while the others are fixed (multiply, matmul, convolve)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, final

import numpy as np

from ..core.primitive import Primitive
from ..core.rule import Kept, Needed, Rule, Tangents, protected
from ..core.singular.slope import EVEN, PRODUCT
from ..core.types import Numeric, Params, Places, Values
from ..core.values import may_hold, shape_of
from .partials import Pull, pull_by_transposes
from .residuals import ghost, sum_of_tangents

if TYPE_CHECKING:
    from ..core.series import Expansion, Next
    from ..core.singular.structural_zeros import Cotangent


@final
class Multilinear(Rule[Numeric]):
    """d out = op(dx, y) + op(x, dy).

    Parameters
    ----------
    transposes : for each argument `(g, out, *args, **params) -> cotangent`.
    elementwise : whether it is done element by element, as multiplication is.
    together : `Rule.pull`, in one call instead of one for each argument, where that counts.
    """

    is_product = True
    __slots__ = ("elementwise", "makes_new", "pull", "transposes")
    pull: Pull  # type: ignore[assignment]  # a function of its own, compiled at its first use

    def __init__(
        self, *transposes: Callable[..., Numeric], elementwise: bool = False, together: Pull | None = None
    ) -> None:
        self.transposes = transposes
        self.pull = together or pull_by_transposes(self, transposes)
        self.elementwise = elementwise
        self.makes_new = elementwise

    def keep(self, primitive: Primitive, parents: Places, values: Values, out: Numeric) -> Kept:
        """The arguments that another one's cotangent is multiplied with."""
        if len(values) == 2:
            (x, y), (to_x, to_y) = values, parents
            if to_x is None:
                return (protected(x), ghost(y)), ghost(out)
            return ((ghost(x), protected(y)) if to_y is None else values), ghost(out)
        moving = [k for k, p in enumerate(parents) if p is not None]
        kept = [
            ghost(v) if moving == [k] else protected(v) if p is None else v
            for k, (p, v) in enumerate(zip(parents, values, strict=True))
        ]
        return kept, ghost(out)

    def expand(self, step: Expansion) -> Next:
        """Cauchy's product of the series."""
        from . import expanding  # seldom needed, so not when the library is imported

        return expanding.multilinear(self, step)

    def push(self, primitive: Primitive, tangents: Tangents, out: Numeric, args: Values, params: Params) -> Any:
        """One term for each argument that moves."""
        terms = [primitive(*args[:k], t, *args[k + 1 :], **params) for k, t in enumerate(tangents) if t is not None]
        return sum_of_tangents(terms, out)

    def near(
        self, primitive: Primitive, moves: Tangents, out: Numeric, args: Values, params: Params
    ) -> tuple[Any, Any]:
        """The tangent, and the product of the moves themselves, which is what is left where the arguments are 0."""
        move = self.push(primitive, moves, out, args, params)
        if all(m is not None for m in moves):
            move = move + primitive(*moves, **params)
        if not self.elementwise:
            return out, move
        gone: Any = False  # a factor that is 0 and stays so ends every infinity, as what was not selected does
        for k, (a, m) in enumerate(zip(args, moves, strict=True)):
            way = moves[1 - k]
            other = args[1 - k] if way is None else args[1 - k] + way
            gone = gone | (np.equal(a, 0) & (True if m is None else np.equal(m, 0)) & np.equal(other, other))
        return np.where(gone, 0.0, out), np.where(gone, 0.0, move)

    def pull_careful(
        self, primitive: Primitive, g: Cotangent, out: Numeric, args: Values, params: Params, needed: Needed
    ) -> Sequence[Cotangent | None]:
        """The transposes; where a structural zero meets inf or nan in another argument, it wins."""
        return [self._pull_one(k, g, out, args, params) if need else None for k, need in enumerate(needed)]

    def _pull_one(self, k: int, g: Cotangent, out: Numeric, args: Values, params: Params) -> Cotangent:
        transpose = self.transposes[k]
        slope = EVEN if len(args) == 2 and args[0] is args[1] else PRODUCT
        if self.elementwise:
            return g.transposed_elementwise(lambda part: transpose(part, out, *args, **params), slope)

        def sizes(part: Numeric) -> Numeric:
            return transpose(part, out, *[np.abs(a) for a in args], **params)

        found = g.mapped(lambda part: transpose(part, out, *args, **params), sizes, slope)
        if g.support is None:
            return found
        arrived = np.where(g.support, 1.0, 0.0)
        ones = [np.ones(shape_of(a)) for a in args]
        args = [ones[k] if j == k else a for j, a in enumerate(args)]  # its own value has no part in it
        found.support = np.not_equal(transpose(arrived, out, *ones, **params), 0)
        if any(may_hold(~np.isfinite(a)) for j, a in enumerate(args) if j != k):
            wild = [np.where(np.isfinite(a), 0.0, 1.0) for a in args]
            tame = [np.where(np.isfinite(a), a, 0.0) for a in args]
            meets = np.not_equal(transpose(arrived, out, *wild, **params), 0)
            found.finite = np.where(meets, found.finite, transpose(g.finite, out, *tame, **params))
            if found.infinite is not None:
                found.infinite = np.where(meets, found.infinite, transpose(g.infinite, out, *tame, **params))
        return found.masked()
