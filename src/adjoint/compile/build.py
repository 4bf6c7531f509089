"""From a program to something that runs: machine code, with NumPy in between for the steps that have none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ir.interpret import Interpreter, own
from ..ir.passes import without_dead
from ..ir.program import GUARD, Program, Step, Type, decides
from ..ir.waiting import look
from .call.callable import NativeCallable
from .call.entry import Entry, entry_text
from .call.signature import Array, NumpyScalar, Output, PythonBool, PythonFloat, PythonInt, Result, Signature, Tuple
from .classify import is_number, sort_of
from .emit import Module, is_known
from .engine import Code, allocator
from .expand import expanded
from .kernel import STACK, Kernel
from .plan import Plan
from .threads import parallel_symbol

LONG = 30_000
"""Work, in additions, from which on the GIL is given up: some ten microseconds."""
STRAIGHT = 8_000
"""Lines of code above which LLVM is asked for less."""
PER_LINE = 20e-6
"""Seconds that LLVM takes for a line, about."""
Part = tuple[str, tuple[int, ...], list[Step], Program]
"""Steps that are done together: how, over which shape, which ones, and the program that they belong to."""


class Native:
    """A program whose every step has machine code."""

    hosted: tuple[str, ...] = ()

    def __init__(
        self, program: Program, inputs: Sequence[Any] | None = None, sorts: dict[int, str | None] | None = None
    ) -> None:
        self.program = program
        program, turned = _unturned(program)
        self.module = Module()
        strides = _strides(program, inputs)
        self.kernel = Kernel(self.module, program, strides, sorts)
        self.main = _with_workspace(self.module, self.kernel)
        self.captured = tuple([program.constants[n] for n in self.kernel.captured])
        leaves = tuple([_leaf(program.types[n], strides.get(n)) for n in program.inputs])
        self.outputs = tuple([
            _output(program.types[n], k in turned) for k, n in enumerate(program.outputs)
        ])  # fmt: skip
        self.release_gil = self.kernel.work > LONG
        result = Tuple(tuple([Result(k) for k in range(len(self.outputs))]))
        self.signature = Signature(leaves, self.outputs, result, (), self.captured, (), self.release_gil)
        self._inputs = inputs
        self.has_entry = False
        """Whether calls have an entry of their own; the one for flat arguments is then made only when it is needed."""
        self.code: Code | None = None
        self._call: NativeCallable | None = None

    def finish(self) -> Native:
        """Translate to machine code; entries may be added before."""
        if not self.has_entry:
            self._wanted = entry_text(self.module, "flat", self.signature, self.main)
        text = self.module.text()
        lines = text.count("\n")
        look(len(self.program.steps), expected=PER_LINE * lines)
        self.code = Code(text, 0 if lines > STRAIGHT else 2 if self.module.wants_vectors else 1)
        if not self.has_entry:
            self._call = NativeCallable(_not_taken)
            Entry(self.code, "flat", self._wanted).install(self._call)
        return self

    def run(self, inputs: Sequence[Any]) -> list[Any] | None:
        """The outputs, or None if a guard does not hold."""
        if self._call is None:
            self._call = Native(self.program, self._inputs).finish()._call
        assert self._call is not None
        given = [_fitted(x, leaf) for x, leaf in zip(inputs, self.signature.arguments, strict=True)]
        found = self._call(*given)
        return None if found is None else list(found)

    def assembly(self) -> str:
        """The machine's instructions."""
        assert self.code is not None
        return self.code.assembly()

    def parts(self) -> list[Part]:
        """What is done together, in the order of execution; steps in registers that follow each other are one part."""
        plan = self.kernel.plan
        found: list[Part] = []
        for unit in plan.units:
            steps = plan.computed_in(unit)
            if unit.kind == "straight" and found and found[-1][0] == "registers":
                found[-1][2].extend(steps)
                continue
            how = {"straight": "registers", "group": "loop"}.get(unit.kind) or _how(plan, steps[-1])
            found.append((how, unit.shape, steps, plan.program))
        return found


def _not_taken(*args: Any) -> None:
    return None


def _how(plan: Plan, step: Step) -> str:
    """How a whole operation is done: the code of a product alone, with its operands lying as they do, tells."""
    if step.primitive.name not in ("matmul", "contract"):
        return "loops"
    strides = {a: place[2] for a in step.args if (place := plan.layout(a)) is not None}
    alone = Program(plan.types, list(dict.fromkeys(step.args)), {}, [step], list(step.outs))
    module = Module()
    Kernel(module, alone, strides)
    return "BLAS" if any(["gemm" in name for name in module.declarations]) else "loops"


def _fitted(x: Any, leaf: Any) -> Any:
    """An argument as the entry wants it."""
    if type(leaf) is NumpyScalar:
        return x if type(x) is leaf.dtype.type else np.asarray(x, leaf.dtype)[()]
    if type(leaf) is not Array:
        return x
    if type(x) is np.ndarray and x.strides == leaf.strides and x.flags.aligned:
        return x
    return np.require(x, leaf.dtype, ("C", "A"))


def _strides(program: Program, inputs: Sequence[Any] | None) -> dict[int, tuple[int, ...]]:
    """How inputs and captured arrays lie in memory, in elements, where that is not row by row."""
    given = dict(zip(program.inputs, inputs or (), strict=False))
    given.update({n: c for n, c in program.constants.items() if not is_number(c)})
    found = {}
    for n, x in given.items():
        if isinstance(x, np.ndarray) and not x.flags.c_contiguous:
            found[n] = tuple([s // x.itemsize for s in x.strides])
    return found


def _leaf(t: Type, strides: tuple[int, ...] | None) -> Any:
    if t.weak:
        return {"f": PythonFloat, "i": PythonInt, "b": PythonBool}[t.dtype.kind]()
    if t.shape == ():
        return NumpyScalar(t.dtype)
    steps = "C" if strides is None else tuple([s * t.dtype.itemsize for s in strides])
    return Array(t.dtype, t.shape, steps)


def _unturned(program: Program) -> tuple[Program, set[int]]:
    """Outputs that are transposed give their source, column by column as NumPy's views do; which ones these are."""
    maker = {s.outs[0]: s for s in program.steps if s.primitive.name == "transpose"}
    outputs, turned = list(program.outputs), set()
    for k, o in enumerate(outputs):
        step = maker.get(o)
        if step is None or step.params["axes"] != tuple(reversed(range(len(program.types[o].shape)))):
            continue
        source = step.args[0]
        if source in program.inputs or source in program.constants or source in outputs or program.types[o].size < 2:
            continue
        outputs[k] = source
        turned.add(k)
    return without_dead(program.with_steps(program.steps, outputs)) if turned else program, turned


def _output(t: Type, turned: bool = False) -> Output:
    if turned:
        return Output(t.dtype, t.shape[::-1], "array", "F")
    if t.weak:
        return Output(t.dtype, (), {"f": "python float", "i": "python int", "b": "python bool"}[t.dtype.kind])
    return Output(t.dtype, t.shape, "array" if t.shape else "numpy scalar")


def _with_workspace(module: Module, kernel: Kernel) -> str:
    """The kernel with memory of its own: from the stack, or kept from one call to the next."""
    if "malloc" in module.declarations:
        allocator()
    names = [f"%a{k}" for k in range(len(kernel.program.inputs) + len(kernel.captured) + len(kernel.program.outputs))]
    arguments = ", ".join([f"ptr {n}" for n in names])
    inner = ", ".join([*[f"ptr {n}" for n in names], "ptr %ws"])
    if "adjoint_parallel" in module.declarations:
        parallel_symbol()
    if kernel.space <= STACK:
        body = f"  %ws = alloca [{max(kernel.space, 1)} x i8], align 64\n  %r = call i32 @{kernel.name}({inner})\n"
        return module.function(
            "main", "internal i32", f"({arguments}) nounwind alwaysinline {{\nentry:\n{body}  ret i32 %r\n}}"
        )
    allocator()
    module.declare("malloc", "noalias ptr {}(i64)")
    module.declare("free", "void {}(ptr)")
    cache = module.fresh("workspace")
    module.functions.append(f"@{cache} = internal global ptr null")
    body = f"""  %kept = atomicrmw xchg ptr @{cache}, ptr null acq_rel
  %none = icmp eq ptr %kept, null
  br i1 %none, label %new, label %ready
new:
  %fresh = call ptr @malloc(i64 {kernel.space + 64})
  %failed = icmp eq ptr %fresh, null
  br i1 %failed, label %poor, label %ready
poor:
  ret i32 3
ready:
  %raw = phi ptr [ %kept, %entry ], [ %fresh, %new ]
  %number = ptrtoint ptr %raw to i64
  %up = add i64 %number, 63
  %aligned = and i64 %up, -64
  %ws = inttoptr i64 %aligned to ptr
  %r = call i32 @{kernel.name}({inner})
  %old = atomicrmw xchg ptr @{cache}, ptr %raw acq_rel
  %spare = icmp ne ptr %old, null
  br i1 %spare, label %drop, label %end
drop:
  call void @free(ptr %old)
  br label %end
end:
  ret i32 %r
"""
    return module.function("main", "internal i32", f"({arguments}) nounwind {{\nentry:\n{body}}}")


class Mixed:
    """A program of which NumPy takes some steps: native parts and single steps, one after the other."""

    def __init__(self, program: Program, sorts: list[str | None]) -> None:
        self.program = program
        self.hosted = sorted({
            name for s, sort in zip(program.steps, sorts, strict=True) if sort is None for name in _hosted(s)
        })  # fmt: skip
        self._parts = [_part(program, steps, needed) for steps, needed in _segments(program, sorts)]

    def run(self, inputs: Sequence[Any]) -> list[Any] | None:
        """The outputs, or None if a guard does not hold."""
        program = self.program
        values: dict[int, Any] = dict(program.constants)
        values.update(zip(program.inputs, inputs, strict=True))
        for part, takes, gives in self._parts:
            found = part.run([values[n] for n in takes])
            if found is None:
                return None
            values.update(zip(gives, found, strict=True))

        return own([values[o] for o in program.outputs], [*inputs, *program.constants.values()])

    def assembly(self) -> str:
        """The machine's instructions of the native parts."""
        return "\n".join([part.assembly() for part, _, _ in self._parts if isinstance(part, Native)])

    def parts(self) -> list[Part]:
        """What is done together, in the order of execution; NumPy takes one step at a time."""
        found: list[Part] = []
        for part, _, _ in self._parts:
            if isinstance(part, Native):
                found += part.parts()
            else:
                found += [("NumPy", (), [step], part.program) for step in part.program.steps]
        return found


def _hosted(step: Step) -> list[str]:
    """What NumPy is called for by a step: itself, or the steps inside a loop that have no machine code."""
    if step.primitive.name != "rolled":
        return [step.primitive.name]
    body = expanded(step.params["body"])
    return [name for s in body.steps if sort_of(body, s) is None for name in _hosted(s)]


def _part(program: Program, steps: list[Step], needed: set[int]) -> tuple[Any, list[int], list[int]]:
    made = {o for s in steps for o in s.outs}
    used = {a for s in steps for a in s.args}
    constants = {n: program.constants[n] for n in used if n in program.constants}
    takes = sorted(used - made - set(constants))
    gives = sorted(made & needed)
    part = Program(program.types, takes, constants, steps, gives)
    if sort_of(program, steps[0]) is None:
        return Interpreter(part), takes, gives
    return Native(expanded(part)).finish(), takes, gives


def _segments(program: Program, sorts: list[str | None]) -> list[tuple[list[Step], set[int]]]:
    """The steps in runs of native and of other ones, with as few changes as their dependencies allow.

    Guards stay before every step that comes after them and is not native: it might fail on a path not to be taken.
    """
    late: dict[int, int] = {}
    runs: dict[int, list[Step]] = {}
    barrier = 0
    for step, sort in zip(program.steps, sorts, strict=True):
        turn = max([late.get(a, 0) for a in step.args], default=0)
        native = sort is not None
        if step.primitive is GUARD or not native:
            turn = max(turn, barrier) if not native else turn
        if turn % 2 == (0 if not native else 1):  # even turns are native
            turn += 1
        if decides(step):
            barrier = max(barrier, turn)
        runs.setdefault(turn, []).append(step)
        for o in step.outs:
            late[o] = turn
    found = []
    turns = sorted(runs)
    for k, turn in enumerate(turns):
        later = {a for t in turns[k + 1 :] for s in runs[t] for a in s.args} | set(program.outputs)
        found.append((runs[turn], later))
    return found


def build(program: Program, inputs: Sequence[Any] | None = None) -> Any:
    """The quickest thing that runs a program."""
    program = expanded(program)
    sorts = [sort_of(program, step) for step in program.steps]
    if all([sort is not None for sort in sorts]) and _fits_registers(program):
        return Native(program, inputs, {id(s): sort for s, sort in zip(program.steps, sorts, strict=True)})
    if not any([sort is not None for sort in sorts]):
        return Interpreter(program)
    return Mixed(program, sorts)


def _fits_registers(program: Program) -> bool:
    return all([is_known(program.types[n].dtype) for n in (*program.inputs, *program.outputs)])
