"""The primitive `rolled`: a loop of Python's that was recorded step by step and found to repeat itself.

Arguments: what is the same each time, what is carried from one time to the next, stacks of what is taken in turn.
Results: what is carried, and stacks of what is made. It stands in programs that are run, never in a walk.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.primitive import Primitive
from ..ir.interpret import GuardFailedError, Interpreter
from ..ir.program import Program
from ..ops.declare import CONSTANT
from ..rules.stacking import one_by_one

RUNNERS: list[Callable[[Program], Any]] = [Interpreter]
"""What makes something that runs a body: the last one does. `jit` adds machine code."""
MOST = 64
"""Bodies whose executables are kept."""

_executables: OrderedDict[int, tuple[Program, Any]] = OrderedDict()
_lock = threading.Lock()


def _evaluate(*args: Any, body: Program, n_consts: int, n_carry: int, length: int) -> tuple[Any, ...]:
    """Run the loop with what runs its body: machine code with NumPy's steps in between, or NumPy alone."""
    made = _executable(body)
    consts, carry = list(args[:n_consts]), list(args[n_consts : n_consts + n_carry])
    types = [body.types[n] for n in body.inputs[n_consts + n_carry :]]
    rows = [np.asarray(x).tolist() if t.weak else x for x, t in zip(args[n_consts + n_carry :], types, strict=True)]
    ys = [np.empty((length, *body.types[o].shape), body.types[o].dtype) for o in body.outputs[n_carry:]]
    for k in range(length):
        found = made.run([*consts, *carry, *[x[k] for x in rows]])
        if found is None:
            raise GuardFailedError
        carry = found[:n_carry]
        for y, new in zip(ys, found[n_carry:], strict=True):
            y[k] = new
    return (*carry, *ys)


def _executable(body: Program) -> Any:
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


rolled = Primitive("rolled", _evaluate, derivative=CONSTANT, stacking=one_by_one, multiple=True)
