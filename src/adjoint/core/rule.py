"""`Rule`: how a primitive is differentiated, and `Stacking`: how a batch axis passes it. `rules/` has the kinds.

A rule needs `push` and `pull` only. All else has a default that is right, if it knows less: `keep` keeps everything,
`pull_careful` pulls the parts of a cotangent one by one, `near` says that it does not know.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from .traced import ARRAY
from .types import Numeric, Params, Places, Values

if TYPE_CHECKING:
    from .primitive import Primitive
    from .reverse import Node
    from .series import Expansion
    from .singular.structural_zeros import Cotangent

Kept = tuple[Sequence[Any], Any]
"""Arguments and result of a step, as far as the sweep back needs them: of a large array perhaps only its shape."""

Slots = Sequence["Cotangent | None"]
"""Cotangents of the results of a step with several."""


Tangents = Sequence[Numeric | None]
"""For each argument its tangent, or how far it moves; None for one that does not."""

Needed = Sequence[bool]
"""For each argument whether its cotangent is asked for."""

Out = TypeVar("Out")
"""What a primitive gives: one value, or several."""


Stacking = Callable[["Primitive", Sequence[Any], Sequence[bool], Params, int], Any]
"""How a leading batch axis passes a primitive: `op(stack(xs)) == stack([op(x) for x in xs])`.

`(primitive, values, batched, params, size) -> the result with the batch axis in front`, where `batched` says which of
the values have it, and `size` is its length.
"""


class UnknownValueError(Exception):
    """What is asked for cannot be found: nobody kept the values, or the rule does not know."""


class Rule(ABC, Generic[Out]):
    """The derivative of a primitive. Every kind of rule is one final class.

    Transposes are plain, without conjugation, and no rule undoes broadcasting: the sweeps do both. `args` and `out` are
    the arguments and the result of a step; `params` are its parameters.
    """

    __slots__ = ()
    is_zero: bool = False
    """Whether nothing flows: the primitive is constant in pieces, or no number at all."""
    makes_new: bool = False
    """Whether the cotangents that it pulls are new arrays, which nobody else has."""
    pushes_together: bool = False
    """Whether a result and its tangent are found together, by `push_together`, in less time than one by one."""
    is_product: bool = False
    """Whether its result is structurally zero wherever one of its arguments is."""
    in_place: Callable[[list[Any], Any, Node], bool] | None = None
    """`(cotangents, g, node) -> whether it was done`: the pull of large arrays into arrays that the sweep has made."""
    flat: Callable[..., Sequence[Any]] | None = None
    """`(*args, **params) -> results`: the steps inside, for sweeps that have to see them; None if there are none."""

    @property
    def is_at_point(self) -> bool:
        """Whether it decides at the point what is picked there, so that points nearby have no say."""
        return False

    @property
    def takes_wide(self) -> bool:
        """Whether the primitive takes numbers of a wider range than float64 has; LAPACK's do not."""
        return True

    def keep(self, primitive: Primitive, parents: Places, values: Values, out: Out) -> Kept:
        """What the sweep back will need of a step, safe from later changes; here everything."""
        if len(values) == 1:
            return values, out
        return [protected(v) if p is None else v for p, v in zip(parents, values, strict=True)], out

    @abstractmethod
    def push(self, primitive: Primitive, tangents: Tangents, out: Out, args: Values, params: Params) -> Any:
        """The tangent of the result, given those of the arguments; None is a tangent that is structurally zero."""

    @abstractmethod
    def pull(
        self, primitive: Primitive, g: Out, out: Out, args: Values, params: Params, needed: Needed
    ) -> Sequence[Any]:
        """The cotangents of the arguments that are needed, given that of the result; None where nothing arrives."""

    def pull_careful(
        self, primitive: Primitive, g: Cotangent, out: Out, args: Values, params: Params, needed: Needed
    ) -> Sequence[Cotangent | None]:
        """As `pull`, for a cotangent that knows its structural zeros; here each of its parts is pulled."""
        return g.transposed(
            lambda part: self.pull(primitive, part, out, args, params, needed), support=False, out=cast("Numeric", out)
        )

    def pull_slots(
        self, primitive: Primitive, slots: Slots, out: Out, args: Values, params: Params, needed: Needed
    ) -> Sequence[Cotangent | None]:
        """As `pull_careful`, for a step with several results; here by their numbers alone."""
        from .singular.structural_zeros import Cotangent  # seldom needed, so not when the library is imported

        parts = [None if part is None else part.collapsed() for part in slots]
        found = self.pull(primitive, cast("Out", parts), out, args, params, needed)
        return [None if c is None else Cotangent(c) for c in found]

    def push_together(self, primitive: Primitive, tangents: Tangents, args: Values, params: Params) -> tuple[Any, Any]:
        """The results of a step and their tangents, for rules that find them together."""
        out = primitive(*args, **params)
        return out, self.push(primitive, tangents, out, args, params)

    def expand(self, step: Expansion) -> Callable[[int], Any]:
        """How each coefficient of the result's Taylor series follows from those before it; here from the tangent.

        Where that would take more and more series, the fact `series` of the operation says it otherwise.
        """
        from .series import by_push  # seldom needed, so not when the library is imported

        by_fact = step.primitive.facts.series
        return (by_fact and by_fact(step)) or by_push(step)

    def push_towers(
        self, primitive: Primitive, towers: Sequence[Any], args: Values, params: Params, order: int
    ) -> tuple[Any, Any]:
        """As `push_together`, with all coefficients from the first on in place of the tangents."""
        raise NotImplementedError

    def near(self, primitive: Primitive, moves: Tangents, out: Out, args: Values, params: Params) -> tuple[Any, Any]:
        """Where the result is near the point, and how it moves, given how the arguments do; not all rules know."""
        raise UnknownValueError


def protected(x: Numeric) -> Any:
    """The value, or a copy of it if it is a plain array: the user may change that before the sweep back."""
    return x.copy() if type(x) is ARRAY and x.flags.writeable else x
