"""What runs the body of a loop on plain values: a Python function, or machine code for a whole loop that is long."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np

from ...core.entry.moves import Same
from ...core.values import Value
from ...ir.builder import Builder
from ...ir.fold import fold, last_reads
from ...ir.loops import LoopPrimitive, PullOperands, WhileOperands
from ...ir.program import Program, Step, Type, type_of
from ...ops.selection import where
from ..compiler import can_compile
from .capture import derived

Function = Callable[..., list[Any]]
"""From the inputs of a program to its outputs, all plain values."""


def executable(program: Program) -> Function:
    """What runs a program on plain values: a function of its inputs that returns the list of its outputs."""
    return derived(program, "python", lambda: _by_numpy(program))


def scalar_executable(program: Program) -> Function | None:
    """What runs a program on Python's numbers, if there is nothing else in it: several times as fast."""
    return derived(program, "numbers", lambda: _by_python(program))


def _by_numpy(program: Program) -> Function:
    """A function that evaluates the primitive of each step."""
    source = _Calls(program)
    inputs = [source.name() for _ in program.inputs]
    outputs = fold(program, source, inputs)
    return _defined(inputs, [*source.lines, f"return {_listed(outputs)}"], source.known)


class _Calls:
    """Names of values in a function that calls one primitive after the other.

    One is used again when nobody needs its value, which frees its memory.
    """

    def __init__(self, program: Program) -> None:
        self.last = last_reads(program.steps) | dict.fromkeys(program.outputs, len(program.steps))
        self.kept = program.constants
        self.lines: list[str] = []
        self.known: dict[str, Any] = {}
        self.free: list[str] = []
        self.count = 0

    def name(self) -> str:
        if self.free:
            return self.free.pop()
        self.count += 1
        return f"v{self.count}"

    def constant(self, number: int, value: Any) -> str:
        self.known[f"c{number}"] = value
        return f"c{number}"

    def step(self, step: Step, args: list[str]) -> list[str]:
        k = len(self.lines)
        self.known[f"f{k}"], self.known[f"p{k}"] = step.primitive.evaluate, step.params
        rows = dict(zip(step.args, args, strict=True))
        self.free += [name for a, name in rows.items() if self.last[a] == k and a not in self.kept]
        outs = [self.name() for _ in step.outs]
        self.free += [name for o, name in zip(step.outs, outs, strict=True) if o not in self.last]
        given = ", ".join([*args, f"**p{k}"] if step.params else args)
        self.lines.append(f"{_listed(outs) if step.primitive.multiple else outs[0]} = f{k}({given})")
        return outs


def _by_python(program: Program) -> Function | None:
    """A function of Python's floats, if all values are float64 numbers and truth values; where it raises, NumPy's."""
    constants = [c.item() if isinstance(c, np.generic) else c for c in program.constants.values()]
    types = [t for n, t in enumerate(program.types) if n not in program.constants]
    if any([t.shape or t.dtype not in (np.float64, np.bool) for t in types]):
        return None
    if not all([isinstance(c, (bool, int, float)) for c in constants]):
        return None
    source, inputs = _Operators(program), [f"v{n}" for n in program.inputs]
    source.known["again"] = _with_numpys(executable(program))
    try:
        outputs = fold(program, source, inputs)
    except LookupError:  # a step that has no expression
        return None
    lines = ["try:", *source.lines, f"    return {_listed(outputs)}"]
    lines += [f"except ({RAISED}):", f"    return again(*{_listed(inputs)})"]
    return _defined(inputs, lines, source.known)


class _Operators:
    """Names of values in a function of Python's operators."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.lines: list[str] = []
        self.known: dict[str, Any] = {}

    def constant(self, number: int, value: Any) -> str:
        self.known[f"v{number}"] = value.item() if isinstance(value, np.generic) else value
        return f"v{number}"

    def step(self, step: Step, args: list[str]) -> list[str]:
        expression = _expression(self.program, step, self.known, args)
        if expression is None:
            raise LookupError(step.primitive.name)
        self.lines.append(f"    v{step.outs[0]} = {expression}")
        return [f"v{o}" for o in step.outs]


def _listed(names: Sequence[str]) -> str:
    return f"[{', '.join(names)}]"


def _defined(inputs: Sequence[str], lines: list[str], known: dict[str, Any]) -> Function:
    """The function of inputs of these names, with these lines."""
    head = f"def body({', '.join(inputs)}):"
    known["__name__"] = __name__
    exec("\n    ".join([head, *lines]), known)  # noqa: S102  (put together above, from numbers and the tables)
    return known["body"]  # type: ignore[no-any-return]


SIGNS = ("+", "-", "*", "/", "<", "<=", ">", ">=", "==", "!=")
"""Python's operators that give what NumPy gives, or raise."""
RAISED = "ZeroDivisionError, OverflowError, ValueError"
"""Where Python raises, NumPy has an infinity or nan: such a step is taken again by NumPy."""


def _expression(program: Program, step: Step, known: dict[str, Any], args: list[str]) -> str | None:
    """A step on Python's numbers, as an expression; None if it has none, or NumPy would do otherwise."""
    name, facts = step.primitive.name, step.primitive.facts
    if isinstance(facts.moves, Same):
        changes = step.params.get("dtype", np.float64) != np.float64
        return None if changes else f"float({args[0]})" if "dtype" in step.params else args[0]
    truths = [program.types[a].dtype.kind == "b" for a in step.args]
    if step.params or (any(truths) and not (step.primitive is where and truths == [True, False, False])):
        return None
    if facts.scalar is not None:
        known[name] = facts.scalar
        return f"{name}({', '.join(args)})"
    return f" {facts.form.sign} ".join(args if len(args) > 1 else ["", *args]) if facts.form.sign in SIGNS else None


def _with_numpys(general: Function) -> Function:
    """The function that NumPy runs, for Python's numbers."""

    def again(*values: Any) -> list[Any]:
        with np.errstate(all="ignore"):
            found = general(*[np.float64(v) if type(v) is float else np.bool(v) for v in values])
        return [o.item() if isinstance(o, (np.generic, np.ndarray)) else o for o in found]

    return again


LONG = 20_000
"""Steps from which on a compiler pays: some ten milliseconds of Python."""
DEEPER = 4
"""So many times as many for a loop inside another one, which is better compiled as a whole."""


class _Taken(threading.local):
    count = 0
    depth = 0


_taken = _Taken()
"""Steps that Python has taken in loops, in this thread, and how many loops are under way."""


class Pace:
    """How much Python has done for a loop, in this call and before: from some point on, machine code goes on.

    A loop whose number of steps is not known, or that is short but inside another one, is found out this way.
    """

    def __init__(self, body: Program) -> None:
        self._before: list[int] = derived(body, "steps by python", lambda: [0])
        self._start = _taken.count
        self._most = LONG * DEEPER**_taken.depth

    def __enter__(self) -> Self:
        _taken.depth += 1
        return self

    def __exit__(self, *error: object) -> None:
        _taken.depth -= 1
        self._before[0] += _taken.count - self._start

    def add(self, steps: int) -> None:
        """So many steps were taken, or are about to be."""
        _taken.count += steps

    def is_long(self, more: int = 0) -> bool:
        """Whether Python has done enough, with so many steps more."""
        return self._before[0] + _taken.count - self._start + more >= self._most


def by_machine(primitive: LoopPrimitive, args: Sequence[Value], params: dict[str, Any]) -> tuple[Value, ...] | None:
    """The results of a loop on plain values; None if Python has to take it, as there is no machine code."""
    if not can_compile():
        return None
    types = tuple([type_of(a) for a in args])
    programs = {p.param: params[p.param] for p in primitive.operands.parts}
    facts = tuple([(k, p) for k, p in params.items() if k not in programs])
    results = tuple(_results(primitive.operands.cut(args, params["sizes"]), params))
    key = ("native", primitive.name, types, results, facts, *[id(p) for p in programs.values()])
    native = derived(params["body"], key, partial(_compiled, primitive, types, results, params))
    found = None if native is None else native.run(list(args))
    return None if found is None else tuple(found)


def _compiled(primitive: LoopPrimitive, types: Sequence[Type], results: Sequence[Type], params: dict[str, Any]) -> Any:
    """The loop as a program of one step, in machine code; None if a step of its body has none."""
    from ...compile.build import Native, build

    work = Builder()
    inputs = tuple([work.input(t) for t in types])
    outputs = tuple([work.new(t) for t in results])
    work.append(Step(primitive, inputs, params, outputs))
    made = build(work.build(outputs))
    return made.finish() if isinstance(made, Native) else None


def _results(loop: Any, params: dict[str, Any]) -> list[Type]:
    """The types of what a loop gives."""
    if isinstance(loop, PullOperands):
        last, count, length = params["back"], len(loop.state), int(loop.steps[0])
    else:
        last, count, length = params["body"], len(loop.carry), params.get("length", 0)
    types = [last.types[o] for o in last.outputs]
    stacks = [Type(t.dtype, (length, *t.shape), False) for t in types[count:]]
    counted = [Type(np.dtype(np.int64), (), False)] if isinstance(loop, WhileOperands) else []
    return [*types[:count], *stacks, *counted]
