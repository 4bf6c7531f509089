"""Which steps of a program have machine code, and of what sort it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.failures import Failure
from ..ir.program import GUARD, Program, Step
from .emit import is_known
from .indices import cuts
from .scalar.table import SCALARS, Loop

TINY = 9
"""Arrays of at most so many elements live in registers, one element each: vectors in space, 3x3 matrices."""

ELEMENTWISE, VIEW, PAD, REDUCE, WHOLE, CHECK = "elementwise", "view", "pad", "reduce", "whole", "check"
REDUCTIONS = ("sum", "max", "min", "any", "all", "prod")
VIEWS = ("reshape", "transpose", "broadcast_to", "flip")
LOOPS = ("scan", "rolled", "while_loop", "while_pull", "cond")


def sort_of(program: Program, step: Step) -> str | None:
    """The sort of a step; None if NumPy has to take it."""
    types = [program.types[n] for n in (*step.args, *step.outs)]
    if any([not is_known(t.dtype) for t in types]):
        return None
    if step.primitive is GUARD:
        if isinstance(step.params["expected"], Failure):
            return None
        return CHECK if types[0].shape == () or types[0].size <= TINY else None
    name = step.primitive.name
    out = types[-1]
    if name in SCALARS:
        return ELEMENTWISE if loop_of(program, step) is not None else None
    if name in VIEWS:
        return VIEW
    if name == "index":
        return VIEW if len(step.args) == 1 and cuts(step.params["template"], types[0].shape) else _gather(program, step)
    if name == "unindex" and len(step.args) == 1:
        return PAD if _unit_steps(step, out.shape) else WHOLE if cuts(step.params["template"], out.shape) else None
    if name == "unindex":
        return _gather(program, step)
    if name in ("zeros", "accumulate"):
        return WHOLE
    if name == "assign" and len(step.args) == 2:
        return WHOLE if cuts(step.params["template"], out.shape) else None
    if name in ("assign", "last_writes"):
        return _gather(program, step)
    if name in REDUCTIONS:
        return REDUCE if _reduces(program, step) else None
    if name in ("concatenate", "stack"):
        return WHOLE if all([t.dtype == out.dtype for t in types]) else None
    if name in ("matmul", "contract"):
        same = all([t.dtype == out.dtype for t in types]) and out.dtype.kind == "f"
        return WHOLE if same and out.size and types[0].size else None
    if name == "cumsum":
        return WHOLE if types[0].dtype == out.dtype else None
    if name in ("take_along", "put_along"):
        return WHOLE if types[1].dtype.name == "int64" else None
    if name in LOOPS:
        from .control import is_fit

        return WHOLE if is_fit(program, step) and _all_native(step) else None
    return None


def loop_of(program: Program, step: Step) -> Loop | None:
    """The types an elementwise step computes with."""
    dtypes = [_kind(program, a) for a in step.args]
    literals = [program.constants.get(a) if program.types[a].shape == () else None for a in step.args]
    found = SCALARS[step.primitive.name].loop(dtypes, literals, **step.params)
    if found is None or found.result != program.types[step.outs[0]].dtype:
        return None
    return found


PYTHON = {"f": float, "i": int, "b": bool}


def _kind(program: Program, number: int) -> Any:
    """A Python number has no dtype of its own."""
    t = program.types[number]
    return PYTHON.get(t.dtype.kind, t.dtype) if t.weak else t.dtype


def _unit_steps(step: Step, shape: tuple[int, ...]) -> bool:
    found = cuts(step.params["template"], shape)
    return found is not None and all([c.step == 1 for c in found[0]])


def _reduces(program: Program, step: Step) -> bool:
    x, out = program.types[step.args[0]], program.types[step.outs[0]]
    if x.size == 0:
        return False
    if step.primitive.name in ("any", "all"):
        return x.dtype.kind == "b"
    return x.dtype == out.dtype or (x.dtype.kind in "bi" and out.dtype.name == "int64")


def _gather(program: Program, step: Step) -> str | None:
    """Indexing with arrays of places."""
    from .gathers import holes_of

    return WHOLE if holes_of(program, step) is not None else None


def _all_native(step: Step) -> bool:
    """Whether every step of the programs inside a loop has machine code."""
    from .expand import expanded

    return all([is_native(expanded(p)) for p in inner_programs(step)])


def inner_programs(step: Step) -> list[Program]:
    """The programs among the parameters of a step."""
    found = []
    for p in step.params.values():
        found += [q for q in (p if isinstance(p, tuple) else (p,)) if isinstance(q, Program)]
    return found


def is_native(program: Program) -> bool:
    """Whether every step has machine code."""
    return all([sort_of(program, step) is not None for step in program.steps])


def cost_of(step: Step) -> int:
    """About how much one element of an elementwise step costs, in additions."""
    return {"cheap": 1, "medium": 4, "dear": 20}[SCALARS[step.primitive.name].cost]


def is_number(value: Any) -> bool:
    """Whether a constant is a number, not an array that may change."""
    return isinstance(value, (bool, int, float, np.generic))
