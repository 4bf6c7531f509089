"""`Several`: an elementwise function with several results (`airy`), differentiated by a matrix of partials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

from ..core.primitive import Primitive
from ..core.rule import Kept, Needed, Rule, Tangents
from ..core.types import Params, Places, Values
from .elementwise import refuse_unknown
from .partials import evaluated
from .residuals import like, near_by_push

Partials = Sequence[Callable[..., Sequence[Any]] | None]


@final
class Several(Rule[Sequence[Any]]):
    """d out_i = sum over k of partial_k[i] * d arg_k.

    Parameters
    ----------
    partials : one function for each argument, or None where there is no derivative to give. Its parameters are
        named as those of `Elementwise`; `out` is the tuple of results. It returns one partial for each result.
    """

    __slots__ = ("partials",)
    is_at_point = True
    takes_wide = False
    near = near_by_push

    def __init__(self, partials: Partials) -> None:
        self.partials = tuple(partials)

    def keep(self, primitive: Primitive, parents: Places, values: Values, out: Sequence[Any]) -> Kept:
        """What the sweep back will need, safe from later changes."""
        refuse_unknown(primitive, self.partials, parents)
        return super().keep(primitive, parents, values, out)

    def push(
        self, primitive: Primitive, tangents: Tangents, out: Sequence[Any], args: Values, params: Params
    ) -> list[Any]:
        """The tangents of all results."""
        refuse_unknown(primitive, self.partials, tangents)
        total: list[Any] = [None] * len(out)
        for t, partial in zip(tangents, evaluated(self.partials), strict=True):
            if t is not None:
                terms = [t * p for p in partial(out, *args)]
                total = [term if had is None else had + term for had, term in zip(total, terms, strict=True)]
        return [None if t is None else like(t, o) for t, o in zip(total, out, strict=True)]

    def pull(
        self, primitive: Primitive, g: Sequence[Any], out: Sequence[Any], args: Values, params: Params,
        needed: Needed,
    ) -> list[Any]:  # fmt: skip
        """The cotangents of the arguments, each a sum over the results."""
        found: list[Any] = []
        for need, partial in zip(needed, evaluated(self.partials), strict=True):
            terms = []
            if need:
                terms = [c * p for c, p in zip(g, partial(out, *args), strict=True) if c is not None]
            found.append(sum(terms[1:], terms[0]) if terms else None)
        return found
