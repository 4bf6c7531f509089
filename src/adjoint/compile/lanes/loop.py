"""Steps on small blocks, for all examples of a batch: one loop, in which each number of a block is a register."""

from __future__ import annotations

import numpy as np

from ...ir.program import Step
from ..assembly.kinds import I64
from ..assembly.values import Parameter, Value, literal
from ..code.chunks import call_parallel
from ..code.kernel_function import KernelFunction
from ..code.loop_body import Accumulator
from ..code.loops import LoopFunction
from ..code.reductions import combined
from ..program.classify import loop_of
from ..program.indices import Index, Place, constant
from ..runtime.processor import has_feature
from ..scalar.casting import cast
from ..scalar.kernels import scalar_of
from .nodes import Applied, Cast, Combined, ExampleWork, Known, Node, Read, Term, block_shape

CHUNK = 100_000
"""Work of one chunk; a fixed number, so that sums do not depend on the number of threads."""
ALIGNED = 64
"""Chunks are multiples of this, so that each has whole vectors."""


def across(kernel: KernelFunction, step: Step) -> None:
    """Write the loop over the examples, and call it."""
    examples: ExampleWork = step.params["examples"]
    f = LoopFunction(kernel.module, kernel.plan, kernel.elements.level)
    f.resources.written = set(step.outs)
    writer = ExampleWriter(f, examples)
    work = examples.length * examples.rows.length * len(examples.nodes)
    chunks = work // CHUNK if work >= kernel.parallel_from and examples.length >= 2 * ALIGNED else 1
    bounds = Parameter("%low", I64), Parameter("%high", I64)
    before = len(f.e.body)
    span = bounds if chunks > 1 else (0, examples.length)
    f.across(examples.rows.length, examples.length, span, writer.body, writer.accumulators(), writer.finish)
    kernel.module.repeated += len(f.e.body) - before
    for v in examples.totals:
        kernel.fill(v, writer.start(v))
    if chunks > 1:
        rows = -(-examples.length // (chunks * ALIGNED)) * ALIGNED
        function = f.end("examples", bounds)
        monoids = {v: monoid for v, (monoid, _) in examples.totals.items()}
        call_parallel(kernel, function, f.resources, (0, examples.length), rows, monoids)
    else:
        kernel.call(f.end("examples"), f.resources)
    kernel.work += work


class ExampleWriter:
    """The inside of the loop: the numbers of one example, in their order."""

    def __init__(self, function: LoopFunction, examples: ExampleWork) -> None:
        self.function = function
        self.examples = examples
        self.plan = function.plan
        self.types = function.plan.types
        self._loops = [loop_of(self.plan.program, s) for s in examples.steps]
        self._codes = [scalar_of(s.primitive) for s in examples.steps]
        self._registers: list[Value] = []

    def accumulators(self) -> list[Accumulator]:
        """What is put together over the examples."""
        return [
            Accumulator(literal(self.start(v), self.types[v].dtype), monoid, self.types[v].dtype.kind == "i")
            for v, (monoid, numbers) in self.examples.totals.items()
            for _ in numbers
        ]

    def start(self, v: int) -> float:
        """Where a reduction over the examples begins."""
        return float(self.examples.totals[v][0].identity(self.types[v].dtype))

    def body(self, place: Place) -> list[Value]:
        """One example; what the totals become."""
        x, examples = self.function.elements, self.examples
        self._registers = []
        for node in examples.nodes:  # all reads come before the first write
            self._registers.append(self._computed(node))
        for v, numbers in examples.stored.items():
            for k, n in enumerate(numbers):
                x.store(v, self._place(v, k), self._typed(n, self.types[v].dtype))
        totals = [(v, monoid, n) for v, (monoid, numbers) in examples.totals.items() for n in numbers]
        return [
            combined(x.e, monoid, self.types[v].dtype, total, self._typed(n, self.types[v].dtype))
            for (v, monoid, n), total in zip(totals, self.function.registers, strict=True)
        ]

    def finish(self, place: Place, totals: list[Value]) -> None:
        """Put the totals where they belong."""
        x, rest = self.function.elements, iter(totals)
        for v, (monoid, numbers) in self.examples.totals.items():
            for k in range(len(numbers)):
                spot = self._place(v, k)
                x.store(v, spot, combined(x.e, monoid, self.types[v].dtype, x.load(v, spot), next(rest)))

    def _place(self, v: int, k: int) -> Place:
        """The place of an element of a block, counted row by row."""
        loops = self.examples.rows.axes.get(v), self.examples.axes.get(v)
        shape = block_shape(self.types[v].shape, loops)
        numbers = np.unravel_index(k, shape) if shape else ()
        return tuple([
            Index(loops.index(a), 1, 0) if a in loops else constant(int(n)) for a, n in enumerate(numbers)
        ])  # fmt: skip

    def _computed(self, node: Node) -> Value:
        x, e = self.function.elements, self.function.e
        match node:
            case Read(v, k):
                return x.at(v, self._place(v, k))
            case Known(_, dtype, _):
                return literal(self.examples.constants[node], _dtype(dtype))
            case Applied(like, args):
                return self._applied(like, args)
            case Combined(monoid, dtype, total, new):
                return combined(e, monoid, _dtype(dtype), self._registers[total], self._registers[new])
            case Cast(source, have, want):
                return cast(e, self._registers[source], _dtype(have), _dtype(want))
            case Term(a, b, total):
                first, second, third = (self._registers[n] for n in (a, b, total))
                if has_feature("fma"):
                    return e.intrinsic("fma", first, second, third)
                return e.op("fadd", e.op("fmul", first, second), third)

    def _applied(self, like: int, args: tuple[int, ...]) -> Value:
        step, loop = self.examples.steps[like], self._loops[like]
        assert loop is not None
        given = []
        for a, n, want in zip(step.args, args, loop.operands, strict=True):
            node = self.examples.nodes[n]
            if isinstance(node, Known) and node.is_number:
                given.append(literal(self.examples.constants[node], want))
            else:
                given.append(cast(self.function.e, self._registers[n], self._dtype_of(a, node), want))
        return self._codes[like](self.function.e, given, loop.dtype, **step.params)

    def _dtype_of(self, a: int, node: Node) -> np.dtype:
        """The type of an operand: that of the step's, of which all that are like it have the same."""
        return _dtype(node.dtype) if isinstance(node, Known) else self.types[a].dtype

    def _typed(self, n: int, dtype: np.dtype) -> Value:
        """A register; a constant in the type that is wanted."""
        node = self.examples.nodes[n]
        return literal(self.examples.constants[node], dtype) if isinstance(node, Known) else self._registers[n]


def _dtype(number: int) -> np.dtype:
    return DTYPES[number]


DTYPES: dict[int, np.dtype] = {np.dtype(kind).num: np.dtype(kind) for kind in "?bBhHiIlLqQefd"}
"""By NumPy's number."""
