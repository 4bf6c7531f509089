"""Running a program step by step: with NumPy, or through the traces that its arguments belong to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..core.values import LARGE, unshared
from .fold import fold, last_reads, made_by, read_by, results
from .program import GUARD, Failure, Program, Step, inner_programs, type_of


def replay(program: Program, inputs: Sequence[object]) -> list[Any]:
    """Take every step again through its primitive, so that traced inputs are differentiated, batched or captured."""
    return fold(program, Replayed(program), inputs)


class Replayed:
    """Values that primitives take: numbers, arrays and handles of any trace.

    Whoever asks which step of a program is taken again reads the frame of `step`: see `host/frames/asking.py`.
    """

    __slots__ = ("program",)

    def __init__(self, program: Program) -> None:
        self.program = program

    def constant(self, number: int, value: Any) -> Any:
        """It is what it is."""
        return value

    def step(self, step: Step, args: list[Any]) -> Iterable[Any]:
        """Take the step, through the traces of its arguments."""
        return results(step, step.primitive(*args, **step.params))


class GuardFailedError(Exception):
    """A guard inside a loop does not hold."""


class Interpreter:
    """A program that NumPy runs; large results are written to memory that is no longer needed."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._plan = _planned(program)
        self.hosted = sorted(_names(program))

    def run(self, inputs: Sequence[object]) -> list[Any] | None:
        """The outputs, or None if a guard does not hold; every output is an array or a number of its own."""
        try:
            return self._run(inputs)
        except GuardFailedError:
            return None

    def _run(self, inputs: Sequence[object]) -> list[Any] | None:
        program = self.program
        values: list[Any] = [None] * len(program.types)
        for number, constant in program.constants.items():
            values[number] = constant
        for number, given in zip(program.inputs, inputs, strict=True):
            values[number] = given
        with np.errstate(all="ignore"):
            for step, ufunc, reuse, dead in self._plan:
                args = [values[a] for a in step.args]
                if step.primitive is GUARD:
                    if not is_met(args, step.params["expected"]):
                        return None
                elif ufunc is not None:
                    values[step.outs[0]] = ufunc(*args, out=None if reuse is None else values[reuse])
                else:
                    out = step.primitive.evaluate(*args, **step.params)
                    if step.primitive.multiple:
                        for number, o in zip(step.outs, out, strict=True):
                            values[number] = o
                    else:
                        values[step.outs[0]] = out
                    if not _as_recorded(program, step, values):
                        return None
                for number in dead:
                    values[number] = None
        return unshared([values[o] for o in program.outputs], [*inputs, *program.constants.values()])


def _names(program: Program) -> set[str]:
    """The primitives of a program, with those inside its loops."""
    found: set[str] = set()
    for step in program.steps:
        if step.primitive.facts.stands_for_steps:
            found.update(*[_names(inner) for inner in inner_programs(step)])
        elif step.primitive is not GUARD:
            found.add(step.primitive.name)
    return found


def is_met(args: Sequence[object], expected: object) -> bool:
    """Whether a guard holds: its one argument is as expected, or a step with these arguments raises."""
    return expected.recurs(args) if isinstance(expected, Failure) else holds(args[0], expected)


def holds(value: Any, expected: Any) -> bool:
    """Whether a guarded value is what the recording relies on, to the last bit."""
    if isinstance(expected, np.ndarray):
        from .bits import same_bits

        return isinstance(value, np.ndarray) and same_bits(value, expected)
    if isinstance(expected, (float, np.floating)):
        return (value == expected and math.copysign(1.0, value) == math.copysign(1.0, expected)) or (
            value != value and expected != expected
        )
    return bool(value == expected) or (value != value and expected != expected)


def _as_recorded(program: Program, step: Step, values: list[Any]) -> bool:
    """Whether the results have the types they had: the shape of `x[mask]` depends on values."""
    for o in step.outs:
        now, then = type_of(values[o]), program.types[o]
        if now.shape != then.shape or now.dtype != then.dtype:
            return False
    return True


def _planned(program: Program) -> list[tuple[Step, Any, int | None, list[int]]]:
    """For each step: the universal function that can write to given memory, whose memory that is, who dies after it."""
    last = last_reads(program.steps)
    kept = {*program.outputs, *program.inputs, *program.constants}
    ufuncs = [_ufunc(program, step) for step in program.steps]
    rows = list(zip(program.steps, ufuncs, strict=True))
    viewed = read_by([step for step, ufunc in rows if ufunc is None])
    fresh = made_by([step for step, ufunc in rows if ufunc is not None])
    plan: list[tuple[Step, Any, int | None, list[int]]] = []
    for k, (step, ufunc) in enumerate(rows):
        dying = [a for a in dict.fromkeys(step.args) if last[a] == k and a not in kept]
        reuse = None
        if ufunc is not None:
            for a in dying:
                if a in fresh and a not in viewed and program.types[a] == program.types[step.outs[0]]:
                    reuse = a
                    break
        plan.append((step, ufunc, reuse, dying))
    return plan


def _ufunc(program: Program, step: Step) -> Any:
    """The universal function of a large elementwise step."""
    if step.primitive is GUARD or step.params or len(step.outs) != 1 or program.types[step.outs[0]].size <= LARGE:
        return None
    found = step.primitive.facts.ufunc
    return found if found is not None and found.nout == 1 and found.signature is None else None
