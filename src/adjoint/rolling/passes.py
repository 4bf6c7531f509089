"""Rolling up: a program with long repetitions, as a Python loop leaves them behind, becomes one with loops."""

from __future__ import annotations

from typing import Any

from ..ir.passes import program_pass, simplified, without_dead
from ..ir.program import Program
from .find import SHORTEST, Repetition, runs
from .places import place_by_place
from .roles import LoopCandidate, OperandColumns, loops_in
from .write import Writer

SMALL = 256
"""Bytes of an array that is worth comparing."""


def smaller(program: Program) -> Program:
    """All passes: repetitions become loops, common steps are taken once, unused ones never."""
    if len(program.steps) >= SHORTEST:
        program = with_loops(without_dead(place_by_place(with_equal_constants(program))))
    return simplified(program)


@program_pass
def with_equal_constants(program: Program) -> Program:
    """Small arrays that hold the same, and always will, become one: those that a rule makes anew each time."""
    first: dict[Any, int] = {}
    same: dict[int, int] = {}
    for n in sorted(program.frozen):
        value = program.constants[n]
        if value.nbytes <= SMALL:
            kept = first.setdefault((value.dtype, value.shape, value.tobytes()), n)
            if kept != n:
                same[n] = kept
    if not same:
        return program
    are_others = same.keys().isdisjoint
    steps = [
        s if are_others(s.args) else s._replace(args=tuple([same.get(a, a) for a in s.args])) for s in program.steps
    ]
    return program.having(steps=steps)


@program_pass
def with_loops(program: Program) -> Program:
    """The program with its repetitions rolled up: the same operations on the same numbers."""
    facts = OperandColumns(program)
    found = runs(program)
    chosen = _chosen(facts, found)
    if any(loop.fixed for loop in chosen):  # what is the same in one loop may be so in others, which read it
        facts.unite(chosen)
        chosen = _chosen(facts, found)
    return Writer(facts, smaller).written(chosen) if chosen else program


def _chosen(facts: OperandColumns, found: list[Repetition]) -> list[LoopCandidate]:
    """Loops that do not overlap, the largest first."""
    chosen: list[LoopCandidate] = []
    for run in found:
        if not any(run.start < loop.end and loop.start < run.start + run.length for loop in chosen):
            chosen += loops_in(facts, run)
    return chosen
