"""What tells one fused loop from another: of those that are alike, as in a network of equal layers, one is written."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...ir.program import Step, Type
from ..program.loop_checks import is_number
from ..program.plan import Fused, Plan

PLAIN = (int, float, complex, str, bytes, bool, type(None), np.dtype, np.generic, slice, type(Ellipsis))
"""Parameters whose repr says all."""


class LoopKey(NamedTuple):
    """A loop up to the numbers of its values."""

    facts: Any
    """Equal for loops whose code is the same."""
    values: tuple[int, ...]
    """Its values, in an order that such loops have in common."""


def key_of(plan: Plan, unit: Fused, members: list[int]) -> LoopKey | None:
    """The key of a loop; None if a step has parameters that cannot be compared."""
    walk = _Walk(plan, unit.level)
    try:
        for v in unit.stored:
            walk.visit(v)
        for v in unit.reduced:
            step = plan.maker[v]
            walk.visit(step.args[0])
            walk.enter(v, ("reduced", id(step.primitive), _params(step), _kind(plan.types[v])))
    except _NotCompilableError:
        return None
    numbers = walk.numbers
    written = [tuple([numbers[v] for v in values]) for values in (unit.stored, unit.reduced)]
    sources = tuple([numbers[plan.maker[v].args[0]] for v in unit.reduced])
    over = tuple([numbers[v] for v in unit.stored if v in plan.over])
    order = tuple([numbers[v] for v in members])  # in which they are computed
    return LoopKey((unit.shape, *written, sources, over, order, tuple(walk.facts)), tuple(numbers))


class _NotCompilableError(Exception):
    """A parameter that cannot be compared."""


class _Walk:
    """From what a loop writes to what it reads, each value with what its code depends on."""

    def __init__(self, plan: Plan, level: int) -> None:
        self.plan, self.level = plan, level
        self.numbers: dict[int, int] = {}
        self.facts: list[Any] = []

    def enter(self, v: int, fact: Any) -> None:
        """Give a value the next number."""
        self.numbers[v] = len(self.numbers)
        self.facts.append(fact)

    def visit(self, v: int) -> None:
        """Enter a value after all that it is computed from."""
        plan = self.plan
        if v in self.numbers:
            return
        kind, constant = _kind(plan.types[v]), plan.program.constants.get(v)
        if constant is not None and is_number(constant):
            self.enter(v, ("number", type(constant), repr(constant), kind))
        elif v not in plan.maker or not plan.is_computed(v, self.level):
            self.enter(v, ("memory", kind, plan.strides.get(v), plan.in_registers(v)))
        else:
            step = plan.maker[v]
            for a in step.args:
                self.visit(a)
            read = tuple([self.numbers[a] for a in step.args])
            self.enter(v, (id(step.primitive), _params(step), plan.sort(step), kind, read))


def _kind(t: Type) -> tuple[Any, ...]:
    return t.dtype.num, t.shape, t.weak


def _params(step: Step) -> str:
    if not all([_is_plain(value) for value in step.params.values()]):
        raise _NotCompilableError
    return repr(sorted(step.params.items()))


def _is_plain(x: Any) -> bool:
    return all([_is_plain(item) for item in x]) if type(x) is tuple else isinstance(x, PLAIN)
