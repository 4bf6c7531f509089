"""Machine code for loops that are not part of a jitted function, where they are long enough to be worth compiling."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..ir.program import Program, Step, Type, type_of
from .jit_native import can_compile
from .loop_capture import NATIVE, derived

LONG = 20_000
"""Steps of a whole loop from which on a compiler pays: some ten milliseconds of Python."""


def _run(name: str, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """The results of a loop on plain values, or None if Python should take it."""
    body = params["body"]
    if params.get("length", 0) * len(body.steps) < LONG or not can_compile():
        return None
    types = tuple([type_of(a) for a in args])
    facts = tuple([(k, p) for k, p in params.items() if not isinstance(p, Program)])
    native = derived(body, ("native", name, types, facts), partial(_compiled, name, types, params))
    return None if native is None else _found(native, args)


def _found(native: Any, args: tuple[Any, ...]) -> Any:
    found = native.run(list(args))
    return None if found is None else tuple(found)


def _compiled(name: str, types: tuple[Type, ...], params: dict[str, Any]) -> Any:
    """The loop as a program of one step, in machine code; None if a step of its body has none."""
    from ..compile.build import Native, build

    program = Program(list(types))
    program.inputs = list(range(len(types)))
    body, n_carry, length = params["body"], params["n_carry"], params["length"]
    outs = []
    for k, o in enumerate(body.outputs):
        t = body.types[o]
        outs.append(program.new(t if k < n_carry else Type(t.dtype, (length, *t.shape), False)))
    program.steps = [Step(_Named(name), tuple(program.inputs), params, tuple(outs))]
    program.outputs = outs
    made = build(program)
    return made.finish() if isinstance(made, Native) else None


class _Named:
    """Stands for the loop's primitive."""

    multiple = True

    def __init__(self, name: str) -> None:
        self.name = name


NATIVE["scan"] = partial(_run, "scan")
