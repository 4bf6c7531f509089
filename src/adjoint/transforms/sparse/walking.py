"""Sets of inputs through a whole program, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...core.entry.moves import MARKS
from ...ir.fold import fold
from ...ir.loops import LoopPrimitive, ScanOperands, WhileOperands
from ...ir.program import GUARD, Program, Step, inner_programs
from .interactions import Interactions
from .loops import KINDS, SetMap
from .sets import Sets, single
from .steps import Found, Passing, everything, passed

Values = Mapping[int, Any]
"""Of places, by their numbers in the program."""


def walked(
    program: Program, given: Mapping[int, Sets | None], values: Values, width: int, pairs: Interactions | None = None
) -> list[Sets | None]:
    """The sets of the outputs of a program, given those of its inputs; pairs of inputs that meet are collected."""
    algebra = _InputSets(program, given, values, width, pairs)
    return fold(program, algebra, [given.get(n) for n in program.inputs])


class _InputSets(NamedTuple):
    """Sets of inputs that values depend on; None for those that depend on none."""

    program: Program
    given: Mapping[int, Sets | None]
    values: Values
    width: int
    pairs: Interactions | None

    def constant(self, number: int, value: Any) -> Sets | None:
        return self.given.get(number)

    def step(self, step: Step, args: list[Sets | None]) -> Found:
        if step.primitive is GUARD or step.primitive.derivative.is_zero or all([s is None for s in args]):
            return [None] * len(step.outs)
        takes, gives = [[self.program.types[n] for n in numbers] for numbers in (step.args, step.outs)]
        known = [self.values.get(a) for a in step.args]
        found = _taken_step(Passing(step, takes, gives, args, known, self.width, self.pairs))
        return [sets if t.dtype.kind in "fc" else None for sets, t in zip(found, gives, strict=True)]


def _taken_step(p: Passing) -> Found:
    step = p.step
    if not inner_programs(step):
        return passed(p)
    kind = KINDS.get(getattr(step.primitive, "operands", None))
    return everything(p) if kind is None else kind(p, _local)


def _local(program: Program, values: Values, second: bool) -> SetMap:
    """What a program does with sets of its own inputs: those of the body of a loop, which are not those of the user."""
    sizes = [program.types[n].size for n in program.inputs]
    width, first = sum(sizes), 0
    given: dict[int, Sets | None] = {}
    for number, size in zip(program.inputs, sizes, strict=True):
        if program.types[number].dtype.kind in "fc":
            given[number] = single(size, width, first)
        first += size
    pairs = Interactions(width) if second else None
    return SetMap(walked(program, given, values, width, pairs), pairs.pairs() if pairs is not None else None)


def places_of(program: Program) -> list[int]:
    """The numbers of the arrays of places of a program, and of those that it hands to the bodies of its loops."""
    found: dict[int, None] = {}
    for step in program.steps:
        if step.primitive is GUARD:
            continue
        addressed = step.primitive.facts.addressed
        if addressed is not None and addressed.does != MARKS:
            found.update(dict.fromkeys(step.args[addressed.first :]))
        found.update(dict.fromkeys(_handed(step)))
    return list(found)


def _handed(step: Step) -> Sequence[int]:
    """The operands of a loop that are places in its body, the same in every step."""
    if not isinstance(step.primitive, LoopPrimitive) or step.primitive.operands not in (ScanOperands, WhileOperands):
        return []
    loop: Any = step.primitive.operands.of(step)
    body = step.params["body"]
    consts = loop.consts if isinstance(loop, ScanOperands) else loop.body_consts
    inside = set(places_of(body))
    return [outer for outer, inner in zip(consts, body.inputs, strict=False) if inner in inside]
