"""Steps that raise: as much a decision of the program as a branch is, and guarded like one."""

from __future__ import annotations

from .program import GUARD, Readable, Step, inner_programs


def may_fail(program: Readable, step: Step) -> bool:
    """Whether a step may raise, or give a result of another length, for other values of the same types."""
    if step.primitive is GUARD:
        return True
    start = getattr(step.primitive, "fails_from", None)
    if step.primitive.facts.refuses_integers:
        return all([program.types[a].dtype.kind not in "fc" for a in step.args])
    if start is not None:
        return any([a not in program.constants or _is_open(program, a) for a in step.args[start:]])
    return any([may_fail(q, s) for q in inner_programs(step) for s in q.steps])


def _is_open(program: Readable, number: int) -> bool:
    """Whether a constant may hold other numbers at another run."""
    return program.types[number].shape != () and number not in program.frozen
