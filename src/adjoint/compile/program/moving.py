"""What the facts of an operation say of one step: where it reads, which part it writes, which axes it sums over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...core.entry.algebra import Labels, Monoid
from ...core.entry.facts import Facts
from ...core.entry.moves import (  # fmt: skip
    MARKS,
    READS,
    Addressed,
    Addresses,
    Indices,
    Overwrite,
    Pad,
    Piece,
    Pieces,
    Region,
    Shape,
    View,
)
from ...core.primitive import Marker
from ...ir.program import Step, Type
from ...ops.indexing import assign

ZEROS: Any = Marker("zeros")
"""An array of zeros, as a step of a program that is compiled."""
ACCUMULATE: Any = Marker("accumulate", facts=Facts(moves=assign.facts.moves))
"""The first operand, with the second one added to a part of it."""

Types = Sequence[Type]
"""Those of all values of a program."""


def reads_of(types: Types, step: Step) -> Indices | None:
    """Where a view reads its operand; None if it reads in the same order under another shape, or cannot be told."""
    moves = step.primitive.facts.moves
    assert isinstance(moves, View)
    return moves.reads(types[step.args[0]].shape, types[step.outs[0]].shape, **step.params)


def is_view(types: Types, step: Step) -> bool:
    """Whether a step gives elements of its operand in another arrangement."""
    moves = step.primitive.facts.moves
    return isinstance(moves, View) and not is_addressed(step) and (moves.in_order or reads_of(types, step) is not None)


def stays_in_order(step: Step) -> bool:
    """Whether a view has the elements in the same order, row by row."""
    moves = step.primitive.facts.moves
    return isinstance(moves, View) and moves.in_order


def regroups(types: Types, step: Step) -> bool:
    """Whether a view has the elements in the same order under other axes: more than adding axes of length one."""
    return stays_in_order(step) and reads_of(types, step) is None


def region_of(types: Types, step: Step) -> Region | None:
    """The part of its result that a pad or an assignment writes, if its parameters tell."""
    moves = step.primitive.facts.moves
    if not isinstance(moves, (Pad, Overwrite)) or is_addressed(step):
        return None
    return moves.region(types[step.outs[0]].shape, **step.params)


def padded_part(types: Types, step: Step) -> Region:
    """The part of its result that a pad with machine code writes."""
    found = region_of(types, step)
    assert found is not None
    return found


def pieces_of(types: Types, step: Step) -> Iterator[Piece]:
    """The parts of its operands that a step puts together."""
    moves = step.primitive.facts.moves
    assert isinstance(moves, Pieces)
    return moves.parts([types[a].shape for a in step.args], **step.params)


def monoid_of(step: Step) -> Monoid:
    """What a reduction, or a running one, combines elements with."""
    found = step.primitive.facts.reduces or step.primitive.facts.accumulates
    assert found is not None
    return found


def addressed_of(step: Step) -> Addressed:
    """How a step finds elements at places that are values."""
    found = step.primitive.facts.addressed
    assert found is not None
    return found


def is_addressed(step: Step) -> bool:
    """Whether a step reads or writes at places that are known only when the program runs."""
    addressed = step.primitive.facts.addressed
    return addressed is not None and len(step.args) > addressed.first


def whole_shape(types: Types, step: Step) -> Shape:
    """The shape of the array at whose places a step reads or writes."""
    does = addressed_of(step).does
    if does == MARKS:
        return tuple(step.params["shape"])
    return types[step.args[0] if does == READS else step.outs[0]].shape


def addresses_of(types: Types, step: Step) -> Addresses | None:
    """Where a step reads or writes, if arrays of int64 tell; None for any other way."""
    addressed = addressed_of(step)
    arrays = [types[a] for a in step.args[addressed.first :]]
    whole = whole_shape(types, step)
    if 0 in whole or any([t.dtype.name != "int64" for t in arrays]):
        return None
    return addressed.addresses(whole, [t.shape for t in arrays], **step.params)


def labels_of(types: Types, step: Step) -> tuple[Labels, Labels, Labels]:
    """The labels of the operands and of the result of a product."""
    first, second = (types[a].shape for a in step.args)
    contracts = step.primitive.facts.contracts
    assert contracts is not None
    return contracts(first, second, **step.params)
