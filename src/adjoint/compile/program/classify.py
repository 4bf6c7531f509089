"""Which steps of a program have machine code, and of what sort it is."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

from ...core.entry.facts import CHEAP, DEAR, MEDIUM
from ...core.entry.moves import Pad, Pieces, View
from ...ir.loops import LoopPrimitive
from ...ir.program import GUARD, Failure, Program, Step, inner_programs
from ...ops.words import random_words
from ..assembly.kinds import is_known
from ..code.reductions import COMBINING
from ..scalar.kernels import Loop, scalar_of
from .calls import CALL
from .expand import expanded
from .factors import ROUTINES
from .loop_checks import is_fit
from .moving import ZEROS, addresses_of, is_addressed, is_view, region_of

TINY = 9
"""Arrays of at most so many elements live in registers, one element each: vectors in space, 3x3 matrices."""


class Sort(Enum):
    """What the machine code of a step is like."""

    ELEMENTWISE = auto()
    """One element of each operand gives one element."""
    VIEW = auto()
    """Elements of the operand in another arrangement."""
    PAD = auto()
    """The operand with zeros around it."""
    REDUCE = auto()
    """Elements put together along axes."""
    WHOLE = auto()
    """Code of its own: products, gathers, assignments, loops with a body."""
    CHECK = auto()
    """A guard."""


INLINED = (Sort.ELEMENTWISE, Sort.VIEW, Sort.PAD)
"""What can be computed where it is read."""


def sort_of(program: Program, step: Step) -> Sort | None:
    """The sort of a step; None if NumPy has to take it."""
    types = [program.types[n] for n in (*step.args, *step.outs)]
    if any([not is_known(t.dtype) for t in types]):
        return None
    if step.primitive is GUARD:
        if isinstance(step.params["expected"], Failure):
            return None
        return Sort.CHECK if types[0].shape == () or types[0].size <= TINY else None
    out = types[-1]
    facts = step.primitive.facts
    if facts.kernel is not None:
        return Sort.ELEMENTWISE if loop_of(program, step) is not None else None
    if facts.moves is not None or facts.addressed is not None:
        return _sort_of_moving(program, step)
    if step.primitive is ZEROS or step.primitive in ROUTINES or step.primitive is CALL:
        return Sort.WHOLE
    if step.primitive is random_words:
        return Sort.WHOLE if types[1].shape in ((), types[0].shape[:-1]) else None
    if facts.reduces is not None:
        return Sort.REDUCE if facts.reduces.combines in COMBINING and _reduces(program, step) else None
    if facts.contracts is not None:
        same = all([t.dtype == out.dtype for t in types]) and out.dtype.kind == "f"
        return Sort.WHOLE if same and out.size and types[0].size else None
    if facts.accumulates is not None:
        return Sort.WHOLE if facts.accumulates.combines in COMBINING and types[0].dtype == out.dtype else None
    if isinstance(step.primitive, LoopPrimitive):
        return Sort.WHOLE if is_fit(program, step) and _all_native(step) else None
    return None


def _sort_of_moving(program: Program, step: Step) -> Sort | None:
    """The sort of a step that computes nothing."""
    types, moves = program.types, step.primitive.facts.moves
    if is_addressed(step):
        return Sort.WHOLE if addresses_of(types, step) is not None else None
    if isinstance(moves, View):
        return Sort.VIEW if is_view(types, step) else None
    if isinstance(moves, Pieces):
        return Sort.WHOLE if all([types[a].dtype == types[step.outs[0]].dtype for a in step.args]) else None
    region = region_of(types, step)
    if region is None:
        return None
    has_gaps = any([i.axis is not None and i.scale != 1 for i in region.places])
    return Sort.PAD if isinstance(moves, Pad) and not has_gaps else Sort.WHOLE


def loop_of(program: Program, step: Step) -> Loop | None:
    """The types an elementwise step computes with."""
    dtypes = [_kind(program, a) for a in step.args]
    literals = [program.constants.get(a) if program.types[a].shape == () else None for a in step.args]
    found = scalar_of(step.primitive).loop(dtypes, literals, **step.params)
    if found is None or found.result != program.types[step.outs[0]].dtype:
        return None
    return found


PYTHON = {"f": float, "i": int, "b": bool}


def _kind(program: Program, number: int) -> Any:
    """A Python number has no dtype of its own."""
    t = program.types[number]
    return PYTHON.get(t.dtype.kind, t.dtype) if t.weak else t.dtype


def _reduces(program: Program, step: Step) -> bool:
    x, out = program.types[step.args[0]], program.types[step.outs[0]]
    if x.size == 0:
        return False
    return x.dtype == out.dtype or (x.dtype.kind in "bi" and out.dtype.name == "int64")


def _all_native(step: Step) -> bool:
    """Whether every step of the programs inside a loop has machine code."""
    return all([is_native(expanded(p)) for p in inner_programs(step)])


def is_native(program: Program) -> bool:
    """Whether every step has machine code."""
    return all([sort_of(program, step) is not None for step in program.steps])


def cost_of(step: Step) -> int:
    """About how much one element of an elementwise step costs, in additions."""
    return {CHEAP: 1, MEDIUM: 4, DEAR: 20}[scalar_of(step.primitive).cost]


def is_dear(step: Step) -> bool:
    """Whether an elementwise step is one for which there are functions, as the exponential."""
    return scalar_of(step.primitive).cost == DEAR
