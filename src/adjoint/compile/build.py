"""From a program to something that runs: machine code, with NumPy in between for the steps that have none."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ..core.entry.moves import identity
from ..core.values import unshared
from ..ir.fold import made_by, read_by
from ..ir.interpret import Interpreter
from ..ir.passes import without_dead
from ..ir.program import GUARD, Program, Step, Type, decides, inner_programs
from ..ir.progress_line import look
from .assembly.kinds import is_known
from .assembly.module import Module
from .assembly.values import Function
from .call.callable import NativeCallable
from .call.entry import Entry, entry_text
from .call.signature import Array, NumpyScalar, Output, PythonBool, PythonFloat, PythonInt, Result, Signature, Tuple
from .kernel import STACK, kernel_of, with_workspace
from .lanes.nodes import EXAMPLES, ExampleWork
from .program.calls import CALL
from .program.classify import Sort, sort_of
from .program.expand import expanded
from .program.factors import ROUTINES
from .program.loop_checks import is_number
from .program.moving import is_view, reads_of
from .program.pairs import as_pairs
from .program.plan import Fused, Plan, Whole
from .runtime.engine import Code, assembly
from .runtime.tiers import CURRENT, QUICKER, Tiers, are_wanted, good_text
from .steps.factors import MIDDLE
from .steps.gemm import is_for_blas
from .steps.product_axes import product_of

LONG = 30_000
"""Work, in additions, from which on the GIL is given up: some ten microseconds."""
STRAIGHT = 8_000
"""Lines of code above which LLVM is asked for less; in one function, which takes longest, for next to nothing.

Those that run for each of many examples do not count.
"""
ENDLESS = 40_000
"""Lines of code above which it is asked for next to nothing."""
WORTHWHILE = 1_000_000
"""Work, in additions, from which on LLVM is to make vectors of loops, which takes it a tenth of a second."""
PER_LINE = 20e-6
"""Seconds that LLVM takes for a line, about."""
Part = tuple[str, tuple[int, ...], list[Step], Program]
"""Steps that are done together: how, over which shape, which ones, and the program that they belong to."""


class Native:
    """A program whose every step has machine code."""

    hosted: tuple[str, ...] = ()

    def __init__(
        self,
        program: Program,
        strides: dict[int, tuple[int, ...]] | None = None,
        sorts: dict[int, Sort] | None = None,
        outside: Program | None = None,
        donated: Collection[int] = (),
    ) -> None:
        """`outside` is the program before its complex numbers became pairs: what it takes and gives."""
        self.program = program
        self._outside, self._donated = outside or program, donated
        outside = self._outside
        program, turned = _unturned(program)
        self.module = Module()
        self._strides = strides = strides if strides is not None else _strides(program, ())
        self.kernel = kernel_of(self.module, program, strides, sorts, donated=[program.inputs[k] for k in donated])
        self.main = with_workspace(self.module, self.kernel)
        self.captured = tuple([outside.constants.get(n, program.constants[n]) for n in self.kernel.captured])
        leaves = tuple([_leaf(outside.types[n], strides.get(n)) for n in program.inputs])
        given = [outside.types[o] for o in outside.outputs]
        places, over = {n: k for k, n in enumerate(program.inputs)}, self.kernel.plan.over
        self.over = {
            k: places[over[o]]
            for k, o in enumerate(program.outputs)
            if o in over and k not in turned and outside.types[over[o]] == given[k]
        }
        """By number, results that may be written over an input."""
        self.outputs = tuple([
            _output(program.types[n] if k in turned else given[k], k in turned) for k, n in enumerate(program.outputs)
        ])  # fmt: skip
        self.release_gil = self.kernel.work > LONG
        result = Tuple(tuple([Result(k) for k in range(len(self.outputs))]))
        self.signature = Signature(leaves, self.outputs, result, (), self.captured, (), self.release_gil)
        self.has_entry = False
        """Whether calls have an entry of their own; the one for flat arguments is then made only when it is needed."""
        self._level, self._lines = self._effort()
        self._apart = Module() if are_wanted(self.module, self._level, self._lines, self.kernel.work) else None
        """Where the entry is written, if it is compiled apart from the kernel."""
        self.code: Code | Tiers | None = None
        self._call: NativeCallable | None = None
        self.bytes = 0
        """What its code takes in memory, about, with what it keeps from one call to the next."""

    def _effort(self) -> tuple[int, int]:
        """How hard LLVM should try, and for how many lines."""
        sizes = [f.count("\n") for f in self.module.functions]
        lines, longest = sum(sizes), max(sizes) - self.module.repeated
        straight = lines - self.module.repeated
        is_endless = longest > STRAIGHT or straight > ENDLESS
        wants_vectors = self.module.wants_vectors and self.kernel.work > WORTHWHILE
        return 0 if is_endless else 2 if wants_vectors and straight <= STRAIGHT else 1, lines

    def enter(self, name: str, signature: Signature, main: Function) -> list[Any]:
        """Add the entry of this name, for calls of this kind, which calls `main`; the objects that it wants."""
        self.main = main
        if self._apart is None:
            return entry_text(self.module, name, signature, main.symbol)
        return entry_text(self._apart, name, signature, CURRENT, is_variable=True)

    def finish(self) -> Native:
        """Translate to machine code; an entry may be added before."""
        if not self.has_entry:
            self._wanted = self.enter("flat", self.signature, self.main)
        look(len(self.program.steps), expected=PER_LINE * self._lines / (1 if self._apart is None else QUICKER))
        if self._apart is None:
            self.code = Code(self.module.text(), self._level, carries=self.module.carries)
        else:
            at_once = self.module.is_unbounded or self.kernel.work > WORTHWHILE
            self.code = Tiers(self._apart, self.module, self.main, self._level, at_once=at_once)
        self.bytes = self.code.bytes + (self.kernel.space if self.kernel.space > STACK else 0)
        del self.module, self.kernel, self.main, self._apart  # plans and text: many times what runs
        if not self.has_entry:
            self._call = NativeCallable(_not_taken)
            Entry(self.code, "flat", self._wanted).install(self._call)
        return self

    def _again(self) -> Native:
        """The same before it is finished, to be read."""
        return Native(self.program, self._strides, outside=self._outside, donated=self._donated)

    def run(self, inputs: Sequence[object]) -> list[Any] | None:
        """The outputs, or None if a guard does not hold."""
        if self._call is None:
            self._call = Native(self.program, self._strides, outside=self._outside).finish()._call
        assert self._call is not None
        given = [_fitted(x, leaf) for x, leaf in zip(inputs, self.signature.arguments, strict=True)]
        found = self._call(*given)
        return None if found is None else list(found)

    def assembly(self) -> str:
        """The machine's instructions, of code that stays."""
        made = self._again()
        if isinstance(self.code, Tiers):
            text = good_text(made.module, made.main)
        else:
            entry_text(made.module, "flat", made.signature, made.main.symbol)
            text = made.module.text()
        return assembly(text, made._level, carries=made.module.carries)

    def parts(self) -> list[Part]:
        """What is done together, in the order of execution; steps in registers that follow each other are one part."""
        plan = self._again().kernel.plan
        found: list[Part] = []
        for unit in plan.units:
            steps = plan.computed_in(unit)
            if isinstance(unit, Fused):
                found.append(("loop", unit.shape, steps, plan.program))
            elif isinstance(unit, Whole) and unit.step.primitive is EXAMPLES:
                examples: ExampleWork = unit.step.params["examples"]
                found.append(("loop", (examples.length,), [*steps[:-1], *examples.inside], plan.program))
            elif isinstance(unit, Whole):
                found.append((_how(plan, steps[-1]), (), steps, plan.program))
            elif found and found[-1][0] == "registers":
                found[-1][2].extend(steps)
            else:
                found.append(("registers", (), steps, plan.program))
        return found


def _not_taken(*args: object) -> None:
    return None


def _how(plan: Plan, step: Step) -> str:
    """How a whole operation is done: of products, how large they are and how their operands lie decides."""
    if step.primitive is CALL:
        return "a loop of NumPy's"
    if step.primitive in ROUTINES:
        return "elimination" if plan.types[step.args[0]].shape[-1] <= MIDDLE else "LAPACK"
    if step.primitive.facts.contracts is None:
        return "loops"
    strides = [place.strides for place in map(plan.layout, step.args) if place is not None]
    return "BLAS" if is_for_blas(product_of(plan.types, step, strides)) else "loops"


def _fitted(x: object, leaf: object) -> Any:
    """An argument as the entry wants it."""
    if type(leaf) is NumpyScalar:
        return x if type(x) is leaf.dtype.type else np.asarray(x, leaf.dtype)[()]
    if type(leaf) is not Array:
        return x
    if type(x) is np.ndarray and x.strides == leaf.strides and x.flags.aligned:
        return x
    return np.require(x, leaf.dtype, ("C", "A"))


def _strides(program: Program, inputs: Sequence[Any]) -> dict[int, tuple[int, ...]]:
    """How inputs and captured arrays lie in memory, in elements, where that is not row by row."""
    given = dict(zip(program.inputs, inputs, strict=False))
    given.update({n: c for n, c in program.constants.items() if not is_number(c)})
    found = {}
    for n, x in given.items():
        if isinstance(x, np.ndarray) and not x.flags.c_contiguous:
            x = as_pairs(x) if x.dtype.kind == "c" else x
            found[n] = tuple([s // x.itemsize for s in x.strides])
    return found


def _leaf(t: Type, strides: tuple[int, ...] | None) -> Any:
    if t.weak:
        return {"f": PythonFloat, "i": PythonInt, "b": PythonBool}[t.dtype.kind]()
    if t.shape == ():
        return NumpyScalar(t.dtype)
    size = t.dtype.itemsize // 2 if t.dtype.kind == "c" else t.dtype.itemsize
    steps = "C" if strides is None else tuple([s * size for s in strides[: len(t.shape)]])
    return Array(t.dtype, t.shape, steps)


def _unturned(program: Program) -> tuple[Program, set[int]]:
    """Outputs that are transposed give their source, column by column as NumPy's views do; which ones these are."""
    maker = {s.outs[0]: s for s in program.steps if is_view(program.types, s)}
    outputs, turned = list(program.outputs), set()
    for k, o in enumerate(outputs):
        step = maker.get(o)
        if step is None or reads_of(program.types, step) != identity(len(program.types[o].shape))[::-1]:
            continue
        source = step.args[0]
        if program.types[source].shape != program.types[o].shape[::-1]:  # the beginning of it only
            continue
        if source in program.inputs or source in program.constants or source in outputs or program.types[o].size < 2:
            continue
        outputs[k] = source
        turned.add(k)
    return without_dead(program.having(outputs=outputs)) if turned else program, turned


def _output(t: Type, turned: bool = False) -> Output:
    if turned:
        return Output(t.dtype, t.shape[::-1], "array", "F")
    if t.weak:
        return Output(t.dtype, (), {"f": "python float", "i": "python int", "b": "python bool"}[t.dtype.kind])
    return Output(t.dtype, t.shape, "array" if t.shape else "numpy scalar")


class Mixed:
    """A program of which NumPy takes some steps: native parts and single steps, one after the other."""

    def __init__(self, program: Program, sorts: list[Sort | None], outside: Program) -> None:
        self.program = program
        self._outside = outside
        self.hosted = sorted({
            name for s, sort in zip(program.steps, sorts, strict=True) if sort is None for name in _hosted(s)
        })  # fmt: skip
        self._parts = [_part(program, steps, needed) for steps, needed in _segments(program, sorts)]

    def run(self, inputs: Sequence[object]) -> list[Any] | None:
        """The outputs, or None if a guard does not hold."""
        program = self.program
        values: dict[int, Any] = dict(program.constants)
        for n, x in zip(program.inputs, inputs, strict=True):
            values[n] = x if program.types[n] == self._outside.types[n] else as_pairs(np.asarray(x))
        for part, takes, gives in self._parts:
            found = part.run([values[n] for n in takes])
            if found is None:
                return None
            values.update(zip(gives, found, strict=True))

        wanted = [self._outside.types[o] for o in self._outside.outputs]
        found = [_as_complex(values[o], t) for o, t in zip(program.outputs, wanted, strict=True)]
        return unshared(found, [*inputs, *program.constants.values()])

    @property
    def bytes(self) -> int:
        """What its code takes in memory, about."""
        return sum([part.bytes for part, _, _ in self._parts if isinstance(part, Native)])

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


def _as_complex(x: Any, t: Type) -> Any:
    """A result as its type says."""
    is_paired = t.dtype.kind == "c" and isinstance(x, np.ndarray) and x.dtype.kind == "f"
    return x.view(t.dtype)[..., 0] if is_paired else x


def _hosted(step: Step) -> list[str]:
    """What NumPy is called for by a step: itself, or the steps inside a loop that have no machine code."""
    if not step.primitive.facts.stands_for_steps:
        return [step.primitive.name]
    bodies = [expanded(inner) for inner in inner_programs(step)]
    return [name for body in bodies for s in body.steps if sort_of(body, s) is None for name in _hosted(s)]


def _part(program: Program, steps: list[Step], needed: set[int]) -> tuple[Any, list[int], list[int]]:
    made, used = made_by(steps), read_by(steps)
    constants = {n: program.constants[n] for n in used if n in program.constants}
    takes = sorted(used - made - set(constants))
    gives = sorted(made & needed)
    part = Program(program.types, takes, constants, steps, gives)
    if sort_of(program, steps[0]) is None:
        return Interpreter(part), takes, gives
    return Native(expanded(part)).finish(), takes, gives


def _segments(program: Program, sorts: list[Sort | None]) -> list[tuple[list[Step], set[int]]]:
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
        later = read_by([s for t in turns[k + 1 :] for s in runs[t]], program.outputs)
        found.append((runs[turn], later))
    return found


def build(program: Program, inputs: Sequence[Any] | None = None, donated: Collection[int] = ()) -> Any:
    """The quickest thing that runs a program; `donated` are the numbers of inputs that it may write over."""
    outside, program = program, expanded(program)
    sorts = [sort_of(program, step) for step in program.steps]
    if all([sort is not None for sort in sorts]) and _fits_registers(program):
        known = {id(s): t for s, t in zip(program.steps, sorts, strict=True) if t is not None}
        return Native(program, _strides(program, inputs or ()), known, outside, donated)
    if not any([sort is not None for sort in sorts]):
        return Interpreter(program)
    return Mixed(program, sorts, outside)


def _fits_registers(program: Program) -> bool:
    return all([is_known(program.types[n].dtype) for n in (*program.inputs, *program.outputs)])
