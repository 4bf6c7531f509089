"""The primitive `rolled`: a Python loop that was recorded step by step and found to repeat itself.

Its operands are those of `scan`, in the same record. It stands in programs that are run, never in a trace.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ..core.entry.facts import Facts
from ..host.forking import Lock
from ..ir.interpret import GuardFailedError, Interpreter
from ..ir.loops import LoopPrimitive, ScanOperands
from ..ir.program import Program
from ..ops.declare import CONSTANT
from ..rules.stacking import one_by_one


class Executable(Protocol):
    """What runs a program."""

    def run(self, inputs: list[Any]) -> list[Any] | None:
        """The outputs, or None if a guard does not hold."""


RUNNERS: list[Callable[[Program], Executable]] = [Interpreter]
"""What makes something that runs a body: the last one does. `jit` adds machine code."""
MOST = 64
"""Bodies whose executables are kept."""

_executables: OrderedDict[int, tuple[Program, Executable]] = OrderedDict()
_lock = Lock()


def _evaluate(*args: Any, body: Program, sizes: tuple[int, ...], length: int) -> tuple[Any, ...]:
    """Run the loop with what runs its body: machine code with NumPy's steps in between, or NumPy alone."""
    made = _executable(body)
    loop = ScanOperands.cut(args, sizes)
    of_xs = ScanOperands.cut(body.inputs, sizes).xs
    rows = [np.asarray(x).tolist() if body.types[n].weak else x for x, n in zip(loop.xs, of_xs, strict=True)]
    carry, n_carry = list(loop.carry), len(loop.carry)
    ys = [np.empty((length, *body.types[o].shape), body.types[o].dtype) for o in body.outputs[n_carry:]]
    for k in range(length):
        found = made.run([*loop.consts, *carry, *[x[k] for x in rows]])
        if found is None:
            raise GuardFailedError
        carry = found[:n_carry]
        for y, new in zip(ys, found[n_carry:], strict=True):
            y[k] = new
    return (*carry, *ys)


def _executable(body: Program) -> Executable:
    """What runs a body; made once."""
    with _lock:
        known = _executables.get(id(body))
        if known is not None:
            _executables.move_to_end(id(body))
            return known[1]
    made = RUNNERS[-1](body)
    with _lock:
        _executables[id(body)] = (body, made)
        while len(_executables) > MOST:
            _executables.popitem(last=False)
    return made


def forget() -> None:
    """Let go of what runs bodies."""
    with _lock:
        _executables.clear()


rolled = LoopPrimitive(
    "rolled",
    _evaluate,
    ScanOperands,
    derivative=CONSTANT,
    stacking=one_by_one,
    facts=Facts(stands_for_steps=True),
)
