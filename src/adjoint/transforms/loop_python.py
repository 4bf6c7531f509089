"""A program as a Python function: what runs the body of a loop where there is no machine code."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.program import Program, Step

Function = Callable[..., list[Any]]
"""From the inputs of a program to its outputs, all plain values."""


def python_function(program: Program) -> Function:
    """The program as one function, a line for each step; a name is used again when nobody needs its value."""
    last = _last_uses(program)
    names: dict[int, str] = {}
    free: list[str] = []
    known: dict[str, Any] = {"__name__": __name__}

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


EXPRESSIONS = {
    "add": "{0} + {1}", "subtract": "{0} - {1}", "multiply": "{0} * {1}", "divide": "{0} / {1}", "negative": "-{0}",
    "positive": "{0}", "square": "{0} * {0}", "absolute": "abs({0})", "reciprocal": "1.0 / {0}", "less": "{0} < {1}",
    "less_equal": "{0} <= {1}", "greater": "{0} > {1}", "greater_equal": "{0} >= {1}", "equal": "{0} == {1}",
    "not_equal": "{0} != {1}", "where": "{1} if {0} else {2}", "stop_gradient": "{0}", "astype": "float({0})",
    "power": "pow({0}, {1})",
}  # fmt: skip
"""Steps on Python's numbers, as Python's expressions; those on truth values give the same as NumPy's."""

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "exp": math.exp, "expm1": math.expm1, "log": math.log,
    "log1p": math.log1p, "sqrt": math.sqrt, "tanh": math.tanh, "sinh": math.sinh, "cosh": math.cosh,
    "arctan": math.atan, "arcsin": math.asin, "arccos": math.acos, "arctan2": math.atan2, "isnan": math.isnan,
    "isinf": math.isinf, "isfinite": math.isfinite, "copysign": math.copysign,
}  # fmt: skip
RAISED = "ZeroDivisionError, OverflowError, ValueError"
"""Where Python raises, NumPy has an infinity or nan: such a step is taken again by NumPy."""


def scalar_function(program: Program, general: Function) -> Function | None:
    """The program as a function of Python's floats, if all its values are float64 numbers and truth values."""
    if any(
        t.shape or t.dtype not in (np.float64, np.bool)
        for n, t in enumerate(program.types)
        if n not in program.constants
    ):
        return None
    known: dict[str, Any] = {"__name__": __name__, "pow": math.pow, "again": _with_numpys(general)}
    names = {n: f"v{n}" for n in range(len(program.types))}
    for n, c in program.constants.items():
        known[names[n]] = c.item() if isinstance(c, np.generic) else c
        if not isinstance(known[names[n]], (bool, int, float)):
            return None
    inputs = ", ".join([names[n] for n in program.inputs])
    lines = [f"def body({inputs}):", "    try:"]
    for step in program.steps:
        expression = _expression(program, step, known, [names[a] for a in step.args])
        if expression is None:
            return None
        lines.append(f"        {names[step.outs[0]]} = {expression}")
    lines.append(f"        return [{', '.join([names[o] for o in program.outputs])}]")
    lines += [f"    except ({RAISED}):", f"        return again({inputs})"]
    exec("\n".join(lines), known)  # noqa: S102  (the source is put together above, from the tables)
    return known["body"]  # type: ignore[no-any-return]


def _expression(program: Program, step: Step, known: dict[str, Any], args: list[str]) -> str | None:
    name = step.primitive.name
    if step.primitive.multiple or (step.params and name != "astype"):
        return None
    if name == "astype" and step.params.get("dtype") != np.float64:
        return None
    truths = [program.types[a].dtype.kind == "b" for a in step.args]
    if any(truths) and not (
        name in ("astype", "stop_gradient") or (name == "where" and truths == [True, False, False])
    ):
        return None
    if name in FUNCTIONS:
        known[name] = FUNCTIONS[name]
        return f"{name}({', '.join(args)})"
    return EXPRESSIONS[name].format(*args) if name in EXPRESSIONS else None


def _with_numpys(general: Function) -> Function:
    """The function that NumPy runs, for Python's numbers."""

    def again(*values: Any) -> list[Any]:
        with np.errstate(all="ignore"):
            found = general(*[np.float64(v) if type(v) is float else np.bool(v) for v in values])
        return [o.item() if isinstance(o, (np.generic, np.ndarray)) else o for o in found]

    return again
