"""Whether a program is well formed: a table of what has to hold, which the tests look up after every pass.

Nothing is verified when a user's function is compiled. `after_passes` has every program verified that a pass makes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from .passes import OBSERVERS
from .program import Program, inner_programs, type_of
from .requirements import STEPS, Requirement


class MalformedProgramError(Exception):
    """A program that no pass may give: which, what is wrong, and where."""


def verify(program: Program, maker: str = "the program") -> None:
    """Raise an error if a program, or one inside it, is not well formed; `maker` is the pass that gave it."""
    for sentence, broken in PROGRAMS:
        for what in broken(program):
            raise MalformedProgramError(f"{maker}: {sentence}, but {what}\n{program}")
    for step in program.steps:
        for sentence, broken in STEPS:
            for what in broken(program, step):
                raise MalformedProgramError(f"{maker}: {sentence}, but {what}\n{step}\n{program}")
        for inner in inner_programs(step):
            verify(inner, f"{maker}, inside {step.primitive.name}")


@contextmanager
def after_passes() -> Iterator[None]:
    """Verify what every pass gives, as long as this is open."""
    OBSERVERS.append(_look)
    try:
        yield
    finally:
        OBSERVERS.remove(_look)


def _look(maker: str, program: Program) -> None:
    verify(program, maker)


# What holds for a program


def _numbers(program: Program) -> Iterator[object]:
    """Numbers that no value has."""
    args = [n for s in program.steps for n in (*s.args, *s.outs)]
    for n in (*program.inputs, *program.constants, *args, *program.outputs):
        if not 0 <= n < len(program.types):
            yield f"there is no v{n}"


def _twice(program: Program) -> Iterator[object]:
    """Values with two origins."""
    seen: set[int] = set()
    for n in (*program.inputs, *program.constants, *[o for s in program.steps for o in s.outs]):
        if n in seen:
            yield f"v{n} is defined twice"
        seen.add(n)


def _early(program: Program) -> Iterator[object]:
    """Values that are read before they are there."""
    known = {*program.inputs, *program.constants}
    for step in program.steps:
        for a in step.args:
            if a not in known:
                yield f"{step.primitive.name} reads v{a}"
        known.update(step.outs)
    for o in program.outputs:
        if o not in known:
            yield f"the output v{o} is never made"


def _constants(program: Program) -> Iterator[object]:
    """Constants of another type than the program says."""
    for n, value in program.constants.items():
        have, want = type_of(value), program.types[n]
        if have.dtype != want.dtype or have.shape != want.shape or have.weak != want.weak:
            yield f"v{n}, a {want}, is {have}"


def _frozen(program: Program) -> Iterator[object]:
    """Values that are said never to change, and are no arrays among the constants."""
    for n in program.frozen:
        if not isinstance(program.constants.get(n), np.ndarray):
            yield f"v{n} is not"


PROGRAMS = (
    Requirement("every number is that of a value", _numbers),
    Requirement("a value has one origin", _twice),
    Requirement("a value is defined before it is read", _early),
    Requirement("a constant is of its type", _constants),
    Requirement("what never changes is an array among the constants", _frozen),
)
