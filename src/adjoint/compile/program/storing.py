"""Which values are worth a place: small ones in registers, dear ones in memory; the others are computed when read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import NamedTuple

from ...core.entry.moves import ADDS, WRITES, Overwrite, Pad, Pieces
from ...ir.program import Step, Type
from .classify import INLINED, TINY, Sort
from .indices import row_major
from .moving import ZEROS, addressed_of, is_addressed, reads_of, regroups, stays_in_order
from .placement import Effort
from .plan import Plan

CHEAP = 2
"""Recomputing so many additions is better than memory."""
CHEAP_MOVED = 16
"""The same for a value that is read in another arrangement."""
DEAR = 20
DEEPEST = 40


def is_tiny(types: Sequence[Type], step: Step, sort: Sort) -> bool:
    """Whether a step is done in registers: what it gives has few elements, and so has what it reads as a whole."""
    if any([types[o].size > TINY for o in step.outs]):
        return False
    if sort in INLINED:
        return sort is not Sort.VIEW or types[step.args[0]].size <= TINY or not regroups(types, step)
    if step.primitive is ZEROS:
        return True
    if is_addressed(step):
        return False  # places are known only at run time
    sizes = [types[a].size for a in step.args]
    if sort is Sort.REDUCE:
        return sizes[0] <= TINY
    return sort is Sort.WHOLE and _fits_registers(step) and max(sizes) <= TINY


def _fits_registers(step: Step) -> bool:
    """Whether a whole operation can be done in registers."""
    facts = step.primitive.facts
    return isinstance(facts.moves, (Pieces, Overwrite, Pad)) or facts.contracts is not None


class Reader(Enum):
    """What may read a value."""

    TINY = auto()
    """A step in registers."""
    WHOLE = auto()
    """An operation that is done as a whole."""
    ELEMENTWISE = auto()
    MOVES = auto()
    """A view, or a pad."""
    OTHER = auto()
    """What reads elements as they come: reductions, guards, views in which they stay as they are."""


def _kind_of(plan: Plan, reader: Step) -> Reader:
    sort = plan.sort(reader)
    if plan.is_tiny(reader):
        return Reader.TINY
    if sort is Sort.VIEW and stays_in_order(reader) and not regroups(plan.types, reader):
        return Reader.OTHER  # the same elements in the same order: its readers decide
    return KINDS.get(sort, Reader.OTHER)


KINDS = {
    Sort.WHOLE: Reader.WHOLE,
    Sort.ELEMENTWISE: Reader.ELEMENTWISE,
    Sort.VIEW: Reader.MOVES,
    Sort.PAD: Reader.MOVES,
}


class Reason(NamedTuple):
    """Why a value is stored that a step of some kind reads, although it could be computed there."""

    reader: Reader
    why: str
    holds: Callable[[Plan, int, Step], bool]


def is_better_stored(plan: Plan, v: int) -> bool:
    """Whether one of the reasons holds for one of the readers, or those that move it make it dear together."""
    kinds = [(_kind_of(plan, reader), reader) for reader in plan.readers.get(v, ())]
    if any([r.holds(plan, v, reader) for kind, reader in kinds for r in REASONS if r.reader is kind]):
        return True
    return _is_moved_at_a_loss(plan.effort[v], [kind for kind, _ in kinds].count(Reader.MOVES))


def _is_moved_at_a_loss(effort: Effort, times: int) -> bool:
    """Whether a value that is read in other arrangements is too dear, too deep or too often read to be recomputed."""
    is_much = effort.cost > CHEAP_MOVED or effort.depth > DEEPEST or (times > 3 and effort.cost > CHEAP)
    return times > 0 and is_much


def _is_dear(plan: Plan, v: int, reader: Step) -> bool:
    return plan.effort[v].cost >= DEAR


def _needs_an_address(plan: Plan, v: int, reader: Step) -> bool:
    return not _reads_once(reader) and plan.layout(v) is None


def _has_pad(plan: Plan, v: int, reader: Step) -> bool:
    return plan.effort[v].has_pad


def _is_broadcast(plan: Plan, v: int, reader: Step) -> bool:
    return plan.types[reader.outs[0]].size != plan.types[v].size and plan.effort[v].cost >= 1


def _lies_otherwise(plan: Plan, v: int, reader: Step) -> bool:
    if not regroups(plan.types, reader):
        return False
    place = plan.layout(v)
    return place is None or place.strides != row_major(plan.types[v].shape)


def _is_turned(plan: Plan, v: int, reader: Step) -> bool:
    """Whether a view changes which elements are neighbours."""
    if plan.sort(reader) is not Sort.VIEW or plan.effort[v].cost <= CHEAP:
        return False
    have, want = plan.types[v], plan.types[reader.outs[0]]
    reads = reads_of(plan.types, reader)
    if reads is None or have.size != want.size:
        return False
    last = [i.axis for i, n in zip(reads, have.shape, strict=True) if n != 1][-1:]
    return last != [k for k, n in enumerate(want.shape) if n != 1][-1:]


REASONS = (
    Reason(Reader.TINY, "it is dear, and wanted for few elements", _is_dear),
    Reason(Reader.WHOLE, "the operation needs an address", _needs_an_address),
    Reason(Reader.WHOLE, "the loops of a whole operation are not cut at pads", _has_pad),
    Reason(Reader.ELEMENTWISE, "it would be computed again for each row it is broadcast to", _is_broadcast),
    Reason(Reader.MOVES, "places that are not row by row would have to be found by division", _lies_otherwise),
    Reason(Reader.MOVES, "it would be computed across its rows, which is slow", _is_turned),
)
"""By the kind of reader."""


def _reads_once(step: Step) -> bool:
    """Whether a whole operation reads each element once, so that it may be computed on the spot."""
    facts = step.primitive.facts
    if is_addressed(step):
        return addressed_of(step).does in (ADDS, WRITES)
    return isinstance(facts.moves, (Pieces, Overwrite, Pad)) or facts.accumulates is not None
