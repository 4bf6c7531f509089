"""What a recorded gradient computes, but for its looks at finiteness, which an explanation need not take."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from adjoint.explanation.show.flops import operations
from adjoint.ir.program import Program


def operations_without_looks(program: Program) -> Counter[Any]:
    """Count all steps but those that ask whether numbers are finite, and those that only such steps read."""
    steps = program.steps
    looks: set[int] = set()
    for step in steps:
        if step.primitive.name == "isfinite" or not looks.isdisjoint(step.args):
            looks.update(step.outs)
    left_out = {k for k, step in enumerate(steps) if not looks.isdisjoint((*step.outs, *step.args))}
    readers: dict[int, set[int]] = defaultdict(set)
    for k, step in enumerate(steps):
        for argument in step.args:
            readers[argument].add(k)
    for k in reversed(range(len(steps))):
        read_by = set().union(*[readers[out] for out in steps[k].outs])
        if read_by and read_by <= left_out and not set(program.outputs).intersection(steps[k].outs):
            left_out.add(k)
    return operations(program, [step for k, step in enumerate(steps) if k not in left_out])
