"""`Linear`: jointly linear in its array arguments, so its tangent is the operation itself (sum, reshape, where)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, final

from ..core.primitive import Primitive
from ..core.reverse import Node
from ..core.rule import Kept, Needed, Rule, Tangents, protected
from ..core.traced import ARRAY
from ..core.types import Numeric, Params, Places, Values
from ..core.values import LARGE, zeros_for
from .partials import Pull, pull_by_transposes
from .residuals import Ghost, ghost, like

if TYPE_CHECKING:
    from ..core.series import Expansion, Next
    from ..core.singular.structural_zeros import Cotangent


@final
class Linear(Rule[Numeric]):
    """out is linear in the arguments that have a transpose; the others are constants such as masks and indices.

    Parameters
    ----------
    transposes : for each leading argument `(g, out, *args, **params) -> cotangent`, or None for a constant.
    variadic : instead of `transposes`, `(g, out, args, params, needed) -> list of cotangents`, for any number.
    structural : whether every coefficient is zero or positive. Then the elements that receive nothing are found
        by sending ones through the transpose, and they are structurally zero.
    together : `Rule.pull`, in one call instead of one for each argument, where that counts.
    in_place : `(cotangents, g, node) -> whether it was done`: the pull of large arrays in place, so that reading and
        writing single elements does not cost a pass over all of them.
    """

    __slots__ = ("in_place", "pull", "structural", "transposes", "variadic")
    pull: Pull  # type: ignore[assignment]  # a function of its own, compiled at its first use

    def __init__(
        self,
        *transposes: Callable[..., Numeric] | None,
        variadic: Callable[..., Sequence[Numeric | None]] | None = None,
        structural: bool = False,
        together: Pull | None = None,
        in_place: Callable[[list[Any], Any, Node], bool] | None = None,
    ) -> None:
        self.transposes = transposes
        self.variadic = variadic
        self.structural = structural
        self.in_place = in_place
        self.pull = together or (self._pull_together if variadic else pull_by_transposes(self, transposes))

    def keep(self, primitive: Primitive, parents: Places, values: Values, out: Numeric) -> Kept:
        """The constants, masks and indices; of large arrays that move only their shape is needed."""
        kept_out: Any = Ghost(out) if type(out) is ARRAY and out.size > LARGE else out
        if len(values) == 1:
            v = values[0]
            return [Ghost(v)] if type(v) is ARRAY and v.size > LARGE else values, kept_out
        kept: list[Any] = list(values)
        for k, v in enumerate(values):
            if type(v) is ARRAY:
                kept[k] = ghost(v) if self.is_linear_in(k) else protected(v)
        return kept, kept_out

    def expand(self, step: Expansion) -> Next:
        """The operation, applied to the coefficients of each order."""
        from . import expanding  # seldom needed, so not when the library is imported

        return expanding.linear(self, step)

    def push(self, primitive: Primitive, tangents: Tangents, out: Numeric, args: Values, params: Params) -> Any:
        """The operation, applied to the tangents."""
        moved: list[Any] = list(args)
        for k, t in enumerate(tangents):
            if self.is_linear_in(k):
                moved[k] = zeros_for(args[k]) if t is None else t
        return like(primitive(*moved, **params), out)

    def near(
        self, primitive: Primitive, moves: Tangents, out: Numeric, args: Values, params: Params
    ) -> tuple[Any, Any]:
        """The result moves as its tangent does, however far."""
        return out, self.push(primitive, moves, out, args, params)

    def _pull_together(
        self, primitive: Primitive, g: Numeric, out: Numeric, args: Values, params: Params, needed: Needed, /
    ) -> Sequence[Any]:
        return self.variadic(g, out, args, params, needed)  # type: ignore[misc]

    def pull_careful(
        self, primitive: Primitive, g: Cotangent, out: Numeric, args: Values, params: Params, needed: Needed
    ) -> Sequence[Cotangent | None]:
        """Transpose each part of the cotangent, and its support if that can be known."""
        return g.transposed(
            lambda part: self.pull(primitive, part, out, args, params, needed), support=self.structural, out=out
        )

    def is_linear_in(self, k: int) -> bool:
        """Whether the argument is one that moves; the others are constants."""
        return self.variadic is not None or (k < len(self.transposes) and self.transposes[k] is not None)
