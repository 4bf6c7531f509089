"""Operations that are written in terms of others: their formula as a program, for whoever knows only the others.

A formula is that of one element, and holds for all; a composition is for whole arrays of some shape.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..core.primitive import Primitive
from ..core.traced import Traced
from ..core.types import Params
from .builder import Builder
from .capture import CaptureTrace, GuardRefusedError
from .fold import fold
from .keys import key_of
from .program import Program, Step, Type

EXAMPLE = 0.5
"""The number that formulas are written down with: inside of the domain of most functions."""


def formula_of(primitive: Primitive, types: Sequence[Type], params: Params) -> Program | None:
    """What an elementwise operation does to one element of each of these types; None if it has no formula for them."""
    if primitive.facts.formula is None or primitive.nin is None:
        return None
    kinds = tuple([(t.dtype, t.weak) for t in types])
    key = (primitive, kinds, key_of(params))
    if key not in _known:
        program = _written_down(primitive.facts.formula, [_example(*kind) for kind in kinds], params)
        is_plain = program is not None and all([len(numbers) == 1 for numbers in _results(program)])
        _known[key] = program if is_plain else None
    return _known[key]


_known: dict[tuple[Primitive, Hashable, Hashable], Program | None] = {}


def _example(dtype: np.dtype, is_python: bool) -> Any:
    number = dtype.type(EXAMPLE if dtype.kind in "fc" else 1)
    return number.item() if is_python else number


def _results(program: Program) -> list[Sequence[int]]:
    """The numbers of what a program gives, and of what each of its steps does."""
    return [program.outputs, *[step.outs for step in program.steps]]


def composition_of(primitive: Primitive, types: Sequence[Type], params: dict[str, Any]) -> Program | None:
    """What an operation does to values of these types, as a program that holds no arrays; None if it does not say.

    Its outputs are the result and, of an operation that may raise, whether it does not.
    """
    if primitive.facts.composition is None:
        return None
    return steps_of(primitive.facts.composition, tuple(types), tuple(params.items()))


@lru_cache(maxsize=500)
def steps_of(
    function: Callable[..., Any], types: tuple[Type, ...], params: tuple[tuple[str, Any], ...]
) -> Program | None:
    """What a function does to values of these types, as a program that holds no arrays; None if it cannot be one."""
    examples = []
    for t in types:
        zero = np.zeros(t.shape, t.dtype)[()]
        examples.append(zero.item() if t.weak else zero)
    program = _written_down(function, examples, dict(params))
    is_small = program is not None and not any([isinstance(c, np.ndarray) for c in program.constants.values()])
    return program if is_small else None


def _written_down(function: Callable[..., Any], examples: list[Any], params: dict[str, Any]) -> Program | None:
    """What a function does, if it does not decide anything and is for such values."""
    trace = CaptureTrace(guards=False)
    inputs = [trace.input(x) for x in examples]
    program = trace.program
    try:
        with np.errstate(all="ignore"):
            found = function(*inputs, **params)
    except (GuardRefusedError, ArithmeticError, TypeError, ValueError):  # it decides, or is not for such numbers
        return None
    finally:
        trace.end()
    outs = found if isinstance(found, tuple) else (found,)
    if not all([isinstance(out, Traced) for out in outs]):
        return None
    return program.build([out.node for out in outs])


def written_out(work: Builder, step: Step, put: Callable[[Builder, Step], int]) -> int | None:
    """Put the steps of an operation's formula into a program; the number of the result, None if it has no formula.

    `put` adds a step to a program and gives the number of its result.
    """
    types = work.types
    program = formula_of(step.primitive, [types[a] for a in step.args], step.params)
    if program is None or program.types[program.outputs[0]].dtype != types[step.outs[0]].dtype:
        return None
    return fold(program, _WrittenOut(work, program, put), step.args)[0]


class _WrittenOut:
    """Numbers of the program that a formula is put into: what it does to one element is done to all."""

    def __init__(self, work: Builder, program: Program, put: Callable[[Builder, Step], int]) -> None:
        self.work, self.program, self.put = work, program, put

    def constant(self, number: int, value: object) -> int:
        return self.work.constant(value)

    def step(self, step: Step, args: list[int]) -> tuple[int]:
        have = self.program.types[step.outs[0]]
        shape = np.broadcast_shapes(*[self.work.types[a].shape for a in args])
        out = self.work.new(Type(have.dtype, shape, have.weak and not shape))
        return (self.put(self.work, step._replace(args=tuple(args), outs=(out,))),)
