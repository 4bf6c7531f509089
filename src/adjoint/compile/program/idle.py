"""Loops without what nobody uses: carried values that only they themselves depend on, stacks and operands not read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.fold import leading_to, may_fail, rewritten_back
from ...ir.loops import LoopPrimitive, Operands, Part, ScanOperands, WhileOperands
from ...ir.passes import program_pass, without_dead
from ...ir.program import Program, Step


@program_pass
def without_idle(program: Program) -> Program:
    """The program with narrower loops: a key that is handed on from step to step, and never drawn from, is left out."""
    if not any([_record(step) for step in program.steps]):
        return program

    def change(step: Step, needed: set[int]) -> Step:
        record = _record(step)
        return step if record is None or needed.isdisjoint(step.outs) else _narrowed(step, record, needed)

    return rewritten_back(program, change)


def _record(step: Step) -> Any:
    """The record of the operands of a loop that may be made narrower."""
    found = step.primitive.operands if isinstance(step.primitive, LoopPrimitive) else None
    return found if found in (ScanOperands, WhileOperands) else None


def _narrowed(step: Step, record: Any, needed: set[int]) -> Step:
    operands: Any = record.of(step)
    body: Program = step.params["body"]
    count = len(operands.carry)
    live = {k for k in range(count) if step.outs[k] in needed}
    rest = [k for k in range(count, len(body.outputs)) if step.outs[k] in needed]
    places = _carried(operands, record.BODY, body)
    if record is WhileOperands:
        asked = _reads(step.params["cond"], step.params["cond"].outputs)
        live |= {k for k, n in enumerate(_carried(operands, record.COND, step.params["cond"])) if n in asked}
    while True:
        outputs = [body.outputs[k] for k in (*sorted(live), *rest)]
        read = _reads(body, outputs)
        more = {k for k, n in enumerate(places) if n in read} - live
        if not more:
            break
        live |= more
    if not live and count:  # a loop is made for what it carries
        return step
    return _without(step, operands, sorted(live), [*rest, *range(len(body.outputs), len(step.outs))])


def _carried(operands: Operands, part: Part, program: Program) -> list[int]:
    """The inputs of one of a loop's programs that are carried."""
    return operands.inner(part, program)["carry"]


def _reads(program: Program, outputs: Sequence[int]) -> set[int]:
    """What some of its outputs depend on, and what may raise."""
    return leading_to(program.steps, outputs, lambda step: may_fail(program, step))[1]


def _without(step: Step, operands: Any, live: list[int], rest: list[int]) -> Step:
    """The loop with these carried values and other results alone, and of its other operands those that are read."""
    params, count = dict(step.params), len(operands.carry)
    groups = {"carry": [operands.carry[k] for k in live]}
    for part in operands.parts:
        program: Program = params[part.param]
        outputs = [program.outputs[k] for k in (*live, *rest) if k < len(program.outputs)]
        outputs = outputs if part.carries else list(program.outputs)
        read = _reads(program, outputs)
        inputs = []
        for name, numbers in operands.inner(part, program).items():
            kept = live if name == "carry" else [k for k, n in enumerate(numbers) if n in read]
            groups[name] = [getattr(operands, name)[k] for k in kept]
            inputs += [numbers[k] for k in kept]
        if len(inputs) < len(program.inputs) or len(outputs) < len(program.outputs):
            params[part.param] = without_dead(program.having(inputs=inputs, outputs=outputs))
    found = operands.having(**groups)
    if found.sizes == operands.sizes and len(live) == count and len(live) + len(rest) == len(step.outs):
        return step
    outs = tuple([step.outs[k] for k in (*live, *rest)])
    return step._replace(args=tuple(found.flat()), params={**params, "sizes": found.sizes}, outs=outs)
