"""Making a program smaller without changing what it computes: common steps once, unused steps never."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import numpy as np

from ..core.entry.moves import is_same
from .fold import may_fail, rewritten
from .keys import key_of
from .program import Program, Step

P = ParamSpec("P")
OBSERVERS: list[Callable[[str, Program], None]] = []
"""Who is shown each program, with what has made it; nobody, but in tests."""


def program_pass(make: Callable[P, Program]) -> Callable[P, Program]:
    """Mark a function that makes programs, so that observers see them."""

    @functools.wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> Program:
        program = make(*args, **kwargs)
        observe(make.__qualname__, program)
        return program

    return made


def observe(maker: str, program: Program) -> None:
    """Show a program to all observers."""
    for look in OBSERVERS:
        look(maker, program)


def simplified(program: Program) -> Program:
    """All passes, in order."""
    return without_dead(without_repeated(program))


@program_pass
def without_repeated(program: Program) -> Program:
    """Steps with the same primitive, arguments and parameters are taken once."""
    first: dict[Any, tuple[int, ...]] = {}

    def change(step: Step) -> Step | Sequence[int]:
        facts = step.primitive.facts
        order = sorted(step.args) if facts.commutative else step.args
        key = (id(step.primitive), tuple(order), key_of(step.params))
        known = first.get(key)
        if known is not None:
            return known
        if facts.moves is not None or type(facts.neutral) is float:
            kept = _unchanged(program, step)
            if kept is not None:
                return (kept,)
        first[key] = step.outs
        return step

    return rewritten(program, change)


def _unchanged(program: Program, step: Step) -> int | None:
    """The argument that is the result already. Signed zeros and nan stay: x + 0.0 is not neutral, x * 1.0 is."""
    out, facts, args = program.types[step.outs[0]], step.primitive.facts, step.args
    if facts.neutral is None:
        if len(args) != 1 or program.types[args[0]] != out:
            return None
        if out.shape == () and facts.addressed is not None:  # x[()] makes a number of an array without axes
            return None
        stops = step.primitive.derivative.is_zero and out.dtype.kind in "fc"  # a program may be differentiated
        return args[0] if not stops and is_same(facts.moves, out.shape, out.dtype.kind, step.params) else None
    places = ((0, 1), (1, 0)) if facts.commutative else ((0, 1),)
    for kept, other in places:
        value = program.constants.get(args[other])
        if (
            value is not None
            and type(value) in (float, int, np.float64)
            and value == facts.neutral
            and program.types[args[kept]] == out
        ):
            return args[kept]
    return None


@program_pass
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
    return program.having(steps=kept[::-1])


def _places(program: Program, step: Step) -> Any:
    """For a step that reads or writes at places: which ones, of an array of which shape; several check them once."""
    if "template" not in step.params:
        return None
    start = getattr(step.primitive, "fails_from", None)
    if not start or len(step.args) <= start:  # all that is not an array in a key was looked at when it was recorded
        return None
    whole = step.params.get("shape", program.types[step.args[0]].shape)
    return whole, step.args[start:], key_of(step.params["template"])
