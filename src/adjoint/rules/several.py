"""`Several`: an elementwise function with several results (`airy`), differentiated by a matrix of partials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .compile import evaluated
from .elementwise import refuse_unknown
from .keeping import Kept, all_kept
from .opaque import Opaque

Partials = Sequence[Callable[..., Sequence[Any]] | None]


class Several(Opaque):
    """d out_i = sum over k of partial_k[i] * d arg_k.

    Parameters
    ----------
    partials : one function for each argument, or None where there is no derivative to give. Its parameters are
        named as those of `Elementwise`; `out` is the tuple of results. It returns one partial for each result.
    """

    __slots__ = ("partials",)

    def __init__(self, partials: Partials) -> None:
        super().__init__(self._pushed, self._pulled)
        self.partials = tuple(partials)

    def keep(self, primitive: Any, parents: Sequence[int | None], values: Sequence[Any], out: Any) -> Kept:  # type: ignore[override]
        """What the walk back will need, safe from later changes."""
        refuse_unknown(primitive, self.partials, parents)
        return all_kept(primitive, parents, values, out)

    def push(self, primitive: Any, tangents: Sequence[Any], out: Any, args: Sequence[Any], params: dict) -> Any:
        """The tangents of all results."""
        refuse_unknown(primitive, self.partials, tangents)
        return super().push(primitive, tangents, out, args, params)

    def _pushed(self, tangents: Sequence[Any], out: Any, args: Sequence[Any], params: dict) -> list[Any]:
        total: list[Any] = [None] * len(out)
        for t, partial in zip(tangents, evaluated(self.partials), strict=True):
            if t is not None:
                terms = [t * p for p in partial(out, *args)]  # type: ignore[misc]
                total = [term if had is None else had + term for had, term in zip(total, terms, strict=True)]
        return total

    def _pulled(self, g: Any, out: Any, args: Sequence[Any], params: dict, needed: Sequence[bool]) -> list[Any]:
        found: list[Any] = []
        for need, partial in zip(needed, evaluated(self.partials), strict=True):
            terms = []
            if need:
                terms = [c * p for c, p in zip(g, partial(out, *args), strict=True) if c is not None]  # type: ignore[misc]
            found.append(sum(terms[1:], terms[0]) if terms else None)
        return found
