"""Whether loops and choices have machine code: if their bodies take exactly what these are given."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...ir.loops import CondOperands, LoopPrimitive, Operands, PullOperands, ScanOperands, WhileOperands
from ...ir.program import Program, Step, Type


def is_fit(program: Program, step: Step) -> bool:
    """Whether the bodies take exactly what they are given: types are the same and all arrays come in as arguments."""
    params, types = step.params, types_of(program.types, step)
    for part in types.parts:
        programs = params[part.param]
        carry = getattr(types, part.carries) if part.carries else ()
        for body in programs if isinstance(programs, tuple) else (programs,):
            ends = [body.types[o] for o in body.outputs[: len(carry)]]
            if not _same([body.types[n] for n in body.inputs], types.inputs(part)) or not _same(ends, carry):
                return False
            if not all([is_number(c) for c in body.constants.values()]):
                return False
    if isinstance(types, ScanOperands):
        return bool(params["length"] > 0)
    if isinstance(types, WhileOperands):
        return bool(params["cond"].types[params["cond"].outputs[0]].dtype.kind == "b")
    if isinstance(types, CondOperands):
        return types.choice[0].dtype.kind in "bi" and types.choice[0].size == 1
    return isinstance(types, PullOperands) and _has_carries(types)


def _has_carries(types: PullOperands) -> bool:
    """Whether a sweep through a loop and back has carries to keep, and a count of steps that machine code can read."""
    (count,) = types.steps
    return count.dtype.name == "int64" and count.size == 1 and bool(types.carry)


def record_of(step: Step) -> type[Operands]:
    """The record of the operands of a loop."""
    assert isinstance(step.primitive, LoopPrimitive)
    return step.primitive.operands


def types_of(types: Sequence[Type], step: Step) -> Operands:
    """The types of the operands as a body sees them: of a stack, that of a slice."""
    return record_of(step).of(step).map(lambda a: types[a], stacked=lambda a: sliced(types[a]))


def sliced(t: Type) -> Type:
    """The type of one slice of a stack."""
    return t._replace(shape=t.shape[1:])


def _same(want: Sequence[Type], have: Sequence[Type]) -> bool:
    return len(want) == len(have) and all(
        [w.dtype == h.dtype and w.shape == h.shape for w, h in zip(want, have, strict=True)]
    )


def is_number(value: object) -> bool:
    """Whether a constant is a number, not an array that may change."""
    return isinstance(value, (bool, int, float, np.generic))
