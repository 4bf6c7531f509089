"""A program as a Python function: what runs the body of a loop where there is no machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ir.program import Program

Function = Callable[..., list[Any]]
"""From the inputs of a program to its outputs, all plain values."""


def python_function(program: Program) -> Function:
    """The program as one function, a line for each step; a name is used again when nobody needs its value."""
    last = _last_uses(program)
    names: dict[int, str] = {}
    free: list[str] = []
    known: dict[str, Any] = {}

    def name(number: int) -> str:
        if number not in names:
            names[number] = free.pop() if free else f"v{len(names)}"
        return names[number]

    for number, constant in program.constants.items():
        names[number] = f"c{number}"
        known[f"c{number}"] = constant
    inputs = [name(n) for n in program.inputs]
    lines = [f"def body({', '.join(inputs)}):"]
    for k, step in enumerate(program.steps):
        known[f"f{k}"], known[f"p{k}"] = step.primitive.evaluate, step.params
        args = ", ".join([name(a) for a in step.args] + ([f"**p{k}"] if step.params else []))
        free += [names[a] for a in dict.fromkeys(step.args) if last[a] == k and a not in program.constants]
        results = ", ".join([name(o) for o in step.outs]) + ("," if step.primitive.multiple else "")
        lines.append(f"    {results} = f{k}({args})" if step.outs else f"    f{k}({args})")
        free += [names[o] for o in step.outs if o not in last]
    lines.append(f"    return [{', '.join([name(o) for o in program.outputs])}]")
    exec("\n".join(lines), known)  # noqa: S102  (the source is put together above, from numbers alone)
    return known["body"]  # type: ignore[no-any-return]


def _last_uses(program: Program) -> dict[int, int]:
    last = {a: k for k, step in enumerate(program.steps) for a in step.args}
    return {**last, **dict.fromkeys(program.outputs, len(program.steps))}
