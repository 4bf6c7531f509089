"""The numbers of one example of a batch, and how each is computed from others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...core.entry.algebra import Monoid
from ...core.primitive import Marker
from ...ir.program import Step

EXAMPLES: Any = Marker("examples")
"""Steps that are done for all examples of a batch, as one."""


class AlikeRows(NamedTuple):
    """An axis along which all is done alike: how many rows there are, and which axis they are in values with rows."""

    length: int
    axes: Mapping[int, int]


NO_ROWS = AlikeRows(1, {})


class Read(NamedTuple):
    """An element of a value from outside: which of its block, or of all of it if examples share it."""

    value: int
    element: int


class Known(NamedTuple):
    """A constant; a number has no type of its own, an element of an array has."""

    bits: bytes
    dtype: int
    is_number: bool


class Applied(NamedTuple):
    """What an elementwise step gives, by its number among those that differ."""

    like: int
    args: tuple[int, ...]


class Combined(NamedTuple):
    """One more number of a reduction."""

    monoid: Monoid
    dtype: int
    total: int
    new: int


class Term(NamedTuple):
    """One more product of a sum: x * y + total."""

    x: int
    y: int
    total: int


class Cast(NamedTuple):
    """A number as one of another type."""

    source: int
    have: int
    want: int


Node = Read | Known | Applied | Combined | Term | Cast
"""A number of an example: how it is computed, and from which others."""


class ExampleWork(NamedTuple):
    """What is done for each example."""

    length: int
    nodes: list[Node]
    """In an order in which they can be computed."""
    steps: list[Step]
    """Those that `Applied` counts."""
    constants: dict[Known, Any]
    axes: Mapping[int, int]
    """Where the axis of the examples is in values that have one."""
    rows: AlikeRows
    """Where another axis is along which all is done alike, one after the other, to keep the code short."""
    stored: dict[int, list[int]]
    """The numbers of a block that is written to memory."""
    totals: dict[int, tuple[Monoid, list[int]]]
    """Reductions over the examples: what is put together, for each element of the result."""
    inside: list[Step]
    """The steps that all this is made of."""


def block_shape(shape: Sequence[int], loops: tuple[int | None, ...]) -> tuple[int, ...]:
    """The shape of a block: that of the value, with axes of length one where loops go along."""
    return tuple([1 if k in loops else n for k, n in enumerate(shape)])


def args_of(node: Node) -> tuple[int, ...]:
    """The numbers that a number is computed from."""
    match node:
        case Applied(_, args):
            return args
        case Combined(_, _, total, new):
            return total, new
        case Term():
            return tuple(node)
        case Cast(source, _, _):
            return (source,)
    return ()


def renumbered(node: Node, new: dict[int, int]) -> Node:
    """The same, if the numbers that it is computed from are called otherwise."""
    match node:
        case Applied(like, args):
            return Applied(like, tuple([new[n] for n in args]))
        case Combined(monoid, dtype, total, one):
            return Combined(monoid, dtype, new[total], new[one])
        case Term(x, y, total):
            return Term(new[x], new[y], new[total])
        case Cast(source, have, want):
            return Cast(new[source], have, want)
    return node
