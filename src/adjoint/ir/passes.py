"""Making a program smaller without changing what it computes: common steps once, unused steps never."""

from __future__ import annotations

from typing import Any

import numpy as np

from .failures import may_fail
from .program import Program, Step


def simplified(program: Program) -> Program:
    """All passes, in order."""
    return without_dead(without_repeated(program))


def without_repeated(program: Program) -> Program:
    """Steps with the same primitive, arguments and parameters are taken once."""
    first: dict[Any, tuple[int, ...]] = {}
    same: dict[int, int] = {}
    steps: list[Step] = []
    for step in program.steps:
        args = tuple([same.get(a, a) for a in step.args])
        order = sorted(args) if step.primitive.name in COMMUTATIVE else args
        key = (id(step.primitive), tuple(order), _key(step.params))
        known = first.get(key)
        if known is not None:
            same.update(zip(step.outs, known, strict=True))
            continue
        if (step.primitive.name in NEUTRAL) and (kept := _unchanged(program, step, args)) is not None:
            same[step.outs[0]] = kept
            continue
        first[key] = step.outs
        steps.append(step if args == step.args else step._replace(args=args))
    return program.with_steps(steps, [same.get(o, o) for o in program.outputs])


COMMUTATIVE = ("add", "multiply")
NEUTRAL = {"multiply": 1.0, "divide": 1.0, "positive": None, "astype": None, "reshape": None, "broadcast_to": None}
"""Steps that may change nothing: by a neutral number on the right (or left, of a product), or by their type."""


def _unchanged(program: Program, step: Step, args: tuple[int, ...]) -> int | None:
    """The argument that is the result already. Signed zeros and nan stay: x + 0.0 is not neutral, x * 1.0 is."""
    out = program.types[step.outs[0]]
    neutral = NEUTRAL[step.primitive.name]
    x = args[0]
    if neutral is None:
        have = program.types[x]
        return x if have.dtype == out.dtype and have.shape == out.shape and have.weak == out.weak else None
    places = ((0, 1), (1, 0)) if step.primitive.name == "multiply" else ((0, 1),)
    for kept, other in places:
        value = program.constants.get(args[other])
        if (
            value is not None
            and type(value) in (float, int, np.float64)
            and value == neutral
            and program.types[args[kept]] == out
        ):
            return args[kept]
    return None


def without_dead(program: Program) -> Program:
    """Steps whose results nobody uses are left out; guards stay, and what may raise, with what they look at."""
    needed = set(program.outputs)
    kept: list[Step] = []
    bounds: set[Any] = set()
    for step in reversed(program.steps):
        _, args, params, outs, _ = step
        places = _places(program, step) if params else None
        is_needed = outs[0] in needed if len(outs) == 1 else not needed.isdisjoint(outs)
        if is_needed or (places not in bounds and may_fail(program, step)):
            needed.update(args)
            kept.append(step)
            if places is not None:
                bounds.add(places)
    return program.with_steps(kept[::-1])


def _places(program: Program, step: Step) -> Any:
    """For a step that reads or writes at places: which ones, of an array of which shape; several check them once."""
    if "template" not in step.params:
        return None
    start = getattr(step.primitive, "fails_from", None)
    if not start or len(step.args) <= start:  # all that is not an array in a key was looked at when it was recorded
        return None
    whole = step.params.get("shape", program.types[step.args[0]].shape)
    return whole, step.args[start:], _key(step.params["template"])


def _key(x: Any) -> Any:
    """Parameters as something that can be compared and hashed."""
    if isinstance(x, dict):
        return tuple([(k, _key(v)) for k, v in x.items()])
    if isinstance(x, (list, tuple)):
        return (type(x), tuple([_key(v) for v in x]))
    if isinstance(x, slice):
        return ("slice", x.start, x.stop, x.step)
    if isinstance(x, np.ndarray):
        return (x.shape, x.dtype.str, x.tobytes())
    if isinstance(x, (float, np.floating)):
        return (type(x), repr(x))
    try:
        hash(x)
    except TypeError:
        return id(x)
    return (type(x), x)
