"""What becomes of a jitted function: the program as it was recorded, and what the compiler does together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from ...ir.loops import LoopPrimitive
from ...ir.program import GUARD, Program, Step, Type
from ...transforms.compiler import can_compile
from ...transforms.jit.jit import Jitted
from ...transforms.jit.show import KernelOutline, Lowered
from ..formula.expression import SYMBOL, Expression, Symbol, constant
from ..formula.notation import Notation
from ..show.table import width


@dataclass(frozen=True)
class Programs:
    """A jitted function before and after fusion; prints as two columns."""

    before: tuple[str, ...]
    """The steps as they were recorded; those that the passes left out are marked."""
    kernels: tuple[tuple[str, tuple[str, ...]], ...]
    """What is done together: how, and which steps; NumPy does one at a time."""
    steps: int
    """How many steps are left after the passes."""
    lowered: Lowered
    """The programs themselves, and the machine's instructions."""

    def __str__(self) -> str:
        left = [f"before: {_several(len(self.before), 'step')}", *self.before]
        parts: list[tuple[str, str]] = []
        number = 0
        for how, steps in self.kernels:
            number += how != "NumPy"
            title = "NumPy: " if how == "NumPy" else f"kernel {number}, {how}: "
            parts += [(title if k == 0 else "", step) for k, step in enumerate(steps)]
        room = max([width(title) for title, _ in parts], default=0)
        right = [self._heading(number), *[f"{title}{' ' * (room - width(title))}{step}" for title, step in parts]]
        room = max([width(text) for text in left])
        both = zip_longest(left, right, fillvalue="")
        return "\n".join([f"{one}{' ' * (room - width(one))}   {other}".rstrip() for one, other in both])

    def _heading(self, kernels: int) -> str:
        steps = _several(self.steps, "step")
        if kernels or not self.kernels:
            hosted = len(self.kernels) - kernels
            return f"after: {steps} in {_several(kernels, 'kernel')}{f' and {hosted} by NumPy' if hosted else ''}"
        why = "they have no machine code" if can_compile() else "llvmlite is not installed"
        return f"after: {steps}, one at a time by NumPy, as {why}"


def programs(
    fun: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    names: Sequence[str] = (),
    arrays: Sequence[tuple[Any, str]] = (),
    ascii: bool = False,
) -> Programs | None:
    """The programs of a jitted function for such arguments; None if the function is not jitted.

    `names` are what the user calls the inputs, `arrays` what they call plain arrays.
    """
    if not isinstance(fun, Jitted):
        return None
    lowered = fun.lower(*args, **kwargs)
    writer = _Writer(lowered.program, names, arrays, ascii=ascii)
    left = {o for step in lowered.optimized.steps for o in step.outs}
    before = []
    for step in lowered.program.steps:
        is_gone = step.primitive is not GUARD and not left.intersection(step.outs)
        before.append(writer.text(step, lowered.program) + ("   (left out)" if is_gone else ""))
    return Programs(
        tuple(before),
        tuple([(_how(k), tuple([writer.text(step, k.program) for step in k.steps])) for k in lowered.kernels]),
        len(lowered.optimized.steps),
        lowered,
    )


def _how(kernel: KernelOutline) -> str:
    if kernel.how == "registers":
        return "in registers"
    if kernel.how == "loop":
        return f"one loop over {' x '.join(map(str, kernel.shape)) or '1'}"
    return "loops of its own" if kernel.how == "loops" else kernel.how


class _Writer:
    """Steps of programs as formulas: v1, v2, ... are the results of the recorded steps, t1, t2, ... the compiler's."""

    def __init__(
        self, recorded: Program, names: Sequence[str], arrays: Sequence[tuple[Any, str]], *, ascii: bool
    ) -> None:
        is_named = len(names) == len(recorded.inputs)
        self._names: dict[Any, str] = {
            n: names[k] if is_named else f"v({-k})" if k else "v0" for k, n in enumerate(recorded.inputs)
        }
        results = [o for step in recorded.steps for o in step.outs]
        self._names.update({o: f"v{k}" for k, o in enumerate(results, 1)})
        self._own = 0
        self._program = recorded
        self._notation = Notation(lambda symbol: self._name(symbol.place), arrays, ascii=ascii)

    def text(self, step: Step, program: Program) -> str:
        """One step: `v2 = exp(v1)`."""
        self._program = program
        args = tuple([self._argument(a) for a in step.args])
        if step.primitive is GUARD:
            return f"guard: {self._notation.text(args[0])} is {step.params['expected']}"
        given = _blank(program.types[step.outs[0]])
        params = step.params
        if isinstance(step.primitive, LoopPrimitive):  # what is inside has steps of its own
            params = {"length": params["length"]} if "length" in params else {}
        formula = self._notation.text(Expression(step.primitive, args, params, given))
        return f"{', '.join([self._name(o) for o in step.outs])} = {formula}"

    def _argument(self, number: int) -> Expression:
        if number in self._program.constants:
            return constant(self._program.constants[number])
        return Expression(SYMBOL, (), {"symbol": Symbol("value", number)}, _blank(self._program.types[number]))

    def _name(self, number: int) -> str:
        known = self._names.get(number) or self._names.get((id(self._program), number))
        if known is None:
            self._own += 1
            known = self._names[id(self._program), number] = f"t{self._own}"
        return known


def _blank(t: Type) -> Any:
    """A value of a type, for its shape."""
    return np.broadcast_to(np.zeros((), t.dtype), t.shape)


def _several(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"
