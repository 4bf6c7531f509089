"""Which results are written over inputs that are given away: those whose inputs nobody reads any more by then.

An input that is given away may be needed again in two cases: another unit reads it, or the kernel leaves because a
guard does not hold, and somebody else starts anew. So a result takes its place only if every unit that reads the input,
and every unit that may leave, comes before the one that writes. The loop that writes may read it too, if it reads each
element where it writes it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping

from ...core.entry.moves import Overwrite, Pad, Pieces
from ...ir.fold import made_by
from ...ir.program import Program, Type
from ...ops.words import random_words
from .classify import Sort
from .moving import ZEROS, is_addressed
from .plan import Fused, Plan, Straight, Unit, Whole

Pairs = Mapping[int, int]
"""From results to the inputs whose memory they may take."""


def candidates(program: Program, donated: Iterable[int], strides: Mapping[int, object]) -> dict[int, int]:
    """Results and inputs of the same type, each in at most one pair, in their order."""
    times = Counter(program.outputs)
    free: dict[tuple[int, Type], deque[int]] = {}  # equal dtypes have numbers that tell them apart
    for v in donated:
        if v not in strides and v not in times:
            free.setdefault(_kind(program.types[v]), deque()).append(v)
    if not free:
        return {}
    made = made_by(program.steps)
    found: dict[int, int] = {}
    for o in program.outputs:
        fitting = free.get(_kind(program.types[o]))
        if fitting and o in made and program.types[o].shape and times[o] == 1:
            found[o] = fitting.popleft()
    return found


def _kind(t: Type) -> tuple[int, Type]:
    return t.dtype.num, t


def safe(plan: Plan, pairs: Pairs) -> dict[int, int]:
    """Those pairs whose result can be written where the input is."""
    if not pairs:
        return {}
    last_exit = max([k for k, unit in enumerate(plan.units) if _may_leave(plan, unit)], default=-1)
    writer = {v: k for k, unit in enumerate(plan.units) for v in _written(unit)}
    last_read: dict[int, int] = {}
    last_moved: dict[int, int] = {}
    """The same for reads of anything but the element that is being written."""
    for k, unit in enumerate(plan.units):
        plainly, otherwise = _reads(plan, unit)
        last_read.update(dict.fromkeys((*plainly, *otherwise), k))
        last_moved.update(dict.fromkeys(otherwise, k))
    return {
        o: i
        for o, i in pairs.items()
        if o in writer
        and writer[o] > last_exit
        and last_read.get(i, -1) <= writer[o]
        and last_moved.get(i, -1) < writer[o]
    }


def _written(unit: Unit) -> tuple[int, ...]:
    """What a unit writes to memory, each element once."""
    if isinstance(unit, Fused):
        return unit.stored
    return () if isinstance(unit, Straight) else unit.step.outs


def _may_leave(plan: Plan, unit: Unit) -> bool:
    """Whether a kernel may end with a unit: a guard, an index that is out of bounds, a loop with such things inside."""
    if isinstance(unit, Straight):
        return plan.sort(unit.step) is Sort.CHECK
    return isinstance(unit, Whole) and not _always_ends(unit)


def _always_ends(unit: Whole) -> bool:
    primitive, facts = unit.step.primitive, unit.step.primitive.facts
    if is_addressed(unit.step):
        return False
    known = isinstance(facts.moves, (Pieces, Overwrite, Pad)) or facts.contracts is not None
    return known or facts.accumulates is not None or primitive is ZEROS or primitive is random_words


def _reads(plan: Plan, unit: Unit) -> tuple[set[int], set[int]]:
    """What a unit reads from memory: at the place that it is about to write, and in any other way."""
    if isinstance(unit, Fused):
        roots = (*unit.stored, *[plan.maker[v].args[0] for v in unit.reduced])
        waiting = [(v, plan.types[v].shape == unit.shape) for v in roots]
    else:
        waiting = [(a, False) for a in unit.step.args]
    found: tuple[set[int], set[int]] = (set(), set())
    seen: set[tuple[int, bool]] = set()
    while waiting:
        v, is_plain = waiting.pop()
        if (v, is_plain) in seen:
            continue
        seen.add((v, is_plain))
        if v not in plan.maker or not plan.is_computed(v, unit.level):
            found[0 if is_plain else 1].add(v)
            continue
        step = plan.maker[v]
        stays = is_plain and plan.sort(step) is Sort.ELEMENTWISE
        waiting += [(a, stays and plan.types[a].shape == plan.types[v].shape) for a in step.args]
    return found
