"""Facts of operations that move elements and compute nothing: where each element of the result comes from.

They are stated with indices: that of an axis of one array, as a function of the indices of another one. The compiler
reads them as addresses, strides or registers, an explanation as "this is the same number".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from ...host.records import NamedTuple

Shape = tuple[int, ...]


class Index(NamedTuple):
    """`scale * i[axis] + shift`; without an axis it is the number `shift`."""

    axis: int | None
    scale: int
    shift: int

    def moved(self, scale: int, shift: int) -> Index:
        """`scale * self + shift`."""
        if self.axis is None:
            return Index(None, 0, scale * self.shift + shift)
        return Index(self.axis, scale * self.scale, scale * self.shift + shift)


Indices = tuple[Index, ...]
"""One for each axis of an array."""

ZERO = Index(None, 0, 0)


def constant(n: int) -> Index:
    """A fixed index."""
    return Index(None, 0, n)


def identity(rank: int) -> Indices:
    """Every element at its own place."""
    return tuple([Index(axis, 1, 0) for axis in range(rank)])


def squeezed(have: Sequence[int], want: Sequence[int]) -> Indices | None:
    """How a reshape that only adds and drops axes of length one reads its operand; None for any other."""
    if [n for n in have if n != 1] != [n for n in want if n != 1]:
        return None
    rest = iter([k for k, n in enumerate(want) if n != 1])
    return tuple([ZERO if n == 1 else Index(next(rest), 1, 0) for n in have])


class Same(NamedTuple):
    """The elements of the operand, each at its place; perhaps as numbers of another type."""

    of: str = "fciub"
    """The kinds of number that stay what they are."""


class View(NamedTuple):
    """Elements of the one operand in another arrangement: the same memory, read in another way."""

    reads: Callable[..., Indices | None]
    """`reads(have, want, **params)`: for each axis of the operand, of shape `have`, where it is read for an element of
    the result, of shape `want`. None if the parameters do not tell."""
    in_order: bool = False
    """Whether the elements, counted row by row, stay as they are: then None means just that."""


class Region(NamedTuple):
    """A part of an array: its own shape, and where its elements are in the array."""

    shape: Shape
    places: Indices


class Pad(NamedTuple):
    """The operand as a part of an array that is zero elsewhere; it is broadcast to the part."""

    region: Callable[..., Region | None]
    """`region(whole, **params)`: the part that is written, of an array of this shape; None if they do not tell."""


class Overwrite(NamedTuple):
    """The first operand, with the second one written over a part of it."""

    region: Callable[..., Region | None]


class Piece(NamedTuple):
    """A part of an operand, and where in the result it is put."""

    operand: int
    shape: Shape
    source: Indices
    target: Indices


class Pieces(NamedTuple):
    """Parts of the operands, put together without gaps."""

    parts: Callable[..., Iterator[Piece]]
    """`parts(shapes of the operands, **params)`."""


class Addresses(NamedTuple):
    """Where an element of a part is in the whole array, if arrays of places tell."""

    whole: tuple[int | Index, ...]
    """For each axis of the whole array the number of the array of places that is looked at, or an index of the part."""
    axes: tuple[int, ...]
    """The axes of the part that arrays of places have: they are broadcast to these."""
    part: Shape
    """The shape of the part."""


READS, ADDS, WRITES, MARKS = "reads", "adds", "writes", "marks"


class Addressed(NamedTuple):
    """Elements at places that are values: arrays of integers, or a mask, among the operands."""

    does: str
    """READS what is there, ADDS to zeros, WRITES over the first operand, MARKS what is not written over later."""
    first: int
    """The number of operands before the arrays of places."""
    addresses: Callable[..., Addresses | None]
    """`addresses(whole, shapes of the arrays, **params)`; None for a key that is put together in another way."""


Moves = Same | View | Pad | Overwrite | Pieces


def is_same(moves: Moves | None, shape: Shape, kind: str, params: dict[str, Any]) -> bool:
    """Whether a result of the shape and the kind of its operand is that operand: every element stays at its place."""
    if isinstance(moves, Same):
        return kind in moves.of
    if not isinstance(moves, View):
        return False
    reads = None if moves.in_order else moves.reads(shape, shape, **params)
    if reads is None:
        return moves.in_order
    return all([n == 1 or i == (k, 1, 0) for k, (i, n) in enumerate(zip(reads, shape, strict=True))])
