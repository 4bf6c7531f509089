"""A program as text, one step a line."""

from __future__ import annotations

from typing import Any

import numpy as np

from .failures import Failure
from .program import GUARD, Program, Step


def show(program: Program) -> str:
    """The program as a reader wants it: `v3: float64[10] = multiply(v1, 2.0)`."""
    names = {n: _constant(program, n) for n in program.constants}
    inputs = ", ".join(f"v{n}: {program.types[n]}" for n in program.inputs)
    lines = [f"program({inputs}):"]
    for step in program.steps:
        args = ", ".join(names.get(a, f"v{a}") for a in step.args)
        if step.primitive is GUARD:
            lines.append(f"    guard {_guard(args, step.params['expected'])}    # {step.line}")
            continue
        params = "".join(f", {k}={_short(v)}" for k, v in step.params.items())
        results = ", ".join(f"v{o}: {program.types[o]}" for o in step.outs)
        if step.primitive.name == "rolled":
            lines += _loop(step, args, results)
            continue
        lines.append(f"    {results} = {step.primitive.name}({args}{params})")
    results = ", ".join(names.get(o, f"v{o}") for o in program.outputs)
    return "\n".join([*lines, f"    return {results}"])


def _guard(args: str, expected: Any) -> str:
    if isinstance(expected, Failure):
        return f"{expected.primitive.name}({args}) raises {expected.kind.__name__}"
    return f"{args} is {_short(expected)}"


def _loop(step: Step, args: str, results: str) -> list[str]:
    """A loop with its body: what it is given is the same each time, carried along, or taken row by row."""
    body, n_consts, n_carry = (step.params[k] for k in ("body", "n_consts", "n_carry"))
    names = [f"v{n}" for n in body.inputs]
    parts = [("the same", names[:n_consts]), ("carried", names[n_consts : n_consts + n_carry]),
             ("row by row", names[n_consts + n_carry :])]  # fmt: skip
    roles = "; ".join(f"{role}: {', '.join(given)}" for role, given in parts if given)
    head = f"    {results}{' = ' if results else ''}rolled({args}), {step.params['length']} times  # {roles}"
    return [head, *["    " + line for line in show(body).splitlines()]]


def _constant(program: Program, number: int) -> str:
    value = program.constants[number]
    return f"<{program.types[number]}>" if isinstance(value, np.ndarray) and value.size > 4 else _short(value)


def _short(value: Any) -> str:
    if isinstance(value, Program):
        return f"<program of {len(value.steps)} steps>"
    text = np.array2string(value, separator=",") if isinstance(value, np.ndarray) else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= 40 else text[:37] + "..."
