"""Facts of operations that put numbers together: what a reduction combines with, which axes a product sums over."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from string import ascii_letters
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from typing import NamedTuple, Protocol
else:
    from ...host.records import NamedTuple

Shape = tuple[int, ...]


class Monoid(NamedTuple):
    """How a reduction combines elements, in any order. Its parameters are `axis`, a tuple, and `keepdims`."""

    combines: np.ufunc

    @property
    def takes_nothing(self) -> bool:
        """Whether there is a result for no elements at all."""
        return self.combines.identity is not None

    def identity(self, dtype: np.dtype) -> Any:
        """What changes no number of a type it is combined with: where a reduction starts."""
        if self.combines.identity is not None:
            return self.combines.identity
        if dtype.kind == "f":
            low, high = -np.inf, np.inf
        elif dtype.kind == "b":
            low, high = False, True
        else:
            bounds = np.iinfo(dtype)
            low, high = bounds.min, bounds.max
        return low if self.combines(0, 1) == 1 else high  # of the bounds themselves no loop of NumPy has room for both


Labels = Sequence[Hashable]
"""A name for each axis of an array."""

Contraction = Callable[..., tuple[Labels, Labels, Labels]]
"""`(shape, shape, **params)`: the labels of two operands and of the result. Elements with the same labels are
multiplied, and summed over the labels that the result does not have."""


def subscripts(labels: tuple[Labels, Labels, Labels]) -> str:
    """`ij,jk->ik`: labels as `np.einsum` has them; those that are no letters get one that is left."""
    every = dict.fromkeys([label for names in labels for label in names])
    rest = iter([c for c in ascii_letters if c not in every])
    letters = {label: label if label in LETTERS else next(rest) for label in every}
    first, second, result = ["".join([str(letters[label]) for label in names]) for names in labels]
    return f"{first},{second}->{result}"


LETTERS = frozenset(ascii_letters)


if TYPE_CHECKING:  # a protocol takes its time to make

    class Sized(Protocol):
        """What a cost is computed from: the shape of an operand or of a result."""

        @property
        def shape(self) -> Shape:
            """The length of each axis."""

        @property
        def size(self) -> int:
            """The number of elements."""


Cost = Callable[[Sequence["Sized"], Sequence["Sized"], dict[str, Any]], float]
"""Floating-point operations, from what an operation takes and gives and from its parameters."""
