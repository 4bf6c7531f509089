"""The loop of a group: everything that is computed over one shape at one time, sums included."""

from __future__ import annotations

import itertools
import math

from ...core.entry.algebra import Monoid
from ..assembly.kinds import I64
from ..assembly.values import Operand, Parameter, Value, literal
from ..program.indices import ZERO, Place
from ..program.moving import monoid_of
from ..program.plan import Fused
from ..scalar.casting import cast
from .chunks import call_parallel
from .elements import FLAT, Elements
from .fused_reads import Reads, pieces_of
from .kernel_function import KernelFunction
from .loop_body import Accumulator
from .loop_keys import key_of
from .loops import BLOCK, Asked, LoopFunction, Resources
from .reductions import combined

CHUNK = 100_000
"""Work of one chunk; a fixed number, so that sums do not depend on the number of threads."""


class FusedLoop:
    """One group of a plan, written into a kernel."""

    def __init__(self, kernel: KernelFunction, unit: Fused) -> None:
        self.kernel = kernel
        self.plan = kernel.plan
        self.unit = unit
        self.reads = Reads(kernel.plan, unit)
        self.work = self.reads.work()
        self.key = key_of(kernel.plan, unit, self.reads.members)

    def emit(self) -> None:
        """Write the loops, one for each region in which every pad is either there or not."""
        shape = self.unit.shape
        flat = self._is_flat()
        edges = [] if flat else self.reads.edges()
        self._edges_on_last = bool(edges and pieces_of(0, shape[-1], edges[-1])[1:])
        for v in self.unit.reduced:
            if flat or not self._is_direct(v):
                self.kernel.fill(v, self._start(v))
        axes = [(0, math.prod(shape))] if flat else [(0, n) for n in shape]
        pieces = [pieces_of(low, high, edges[k] if edges else set()) for k, (low, high) in enumerate(axes)]
        for region in itertools.product(*pieces):
            self._region(list(region), flat)

    def _start(self, v: int) -> float:
        return self._monoid(v).identity(self.plan.types[v].dtype)

    def _monoid(self, v: int) -> Monoid:
        return monoid_of(self.plan.maker[v])

    def _region(self, region: list[tuple[int, int]], flat: bool) -> None:
        size = math.prod([high - low for low, high in region])
        chunks = self._chunks(region, size)
        key = self.key and ("loop", self.key.facts, tuple(region), flat, chunks > 1, self.kernel.module.straight)
        known = self.kernel.module.written.get(key) if chunks == 1 and key else None
        if self.key and known is not None:
            resources = Resources(self.plan)
            resources.asked = {Asked(self.key.values[n], k): p for (n, k), p in known[1].items()}
            self.kernel.call(known[0], resources)
            self._count(size)
            return
        f = LoopFunction(self.kernel.module, self.plan, self.unit.level)
        f.resources.written = {*self.unit.stored, *self.unit.reduced}
        bounds = Parameter("%low", I64), Parameter("%high", I64)
        ranges: list[tuple[Operand, Operand]] = list(region)
        if chunks > 1:
            ranges[0] = bounds
        inner = [v for v in self.unit.reduced if self._keeps_last(v) is False or flat]
        outer = [v for v in self.unit.reduced if v not in inner]
        starts = [self._accumulator(v) for v in inner]

        def body(place: Place) -> list[Value]:
            x = f.elements
            if chunks > 1:
                x.ranges[0] = region[0]
            for v in (*self.reads.members, *self.reads.roots):  # all reads come before the first write
                x.at(v, place)
            for v in self.unit.stored:
                x.store(v, place, x.at(v, place))
            for v in outer:
                spot = self._kept(v, place)
                x.store(v, spot, self._combined(x, v, x.load(v, spot), self._value(x, v, place)))
            return [self._combined(x, v, r, self._value(x, v, place)) for v, r in zip(inner, f.registers, strict=True)]

        def finish(place: Place, totals: list[Value]) -> None:
            x = f.elements
            for v, total in zip(inner, totals, strict=True):
                spot = self._kept(v, place)
                done = not flat and self._is_direct(v)
                x.store(v, spot, total if done else self._combined(x, v, x.load(v, spot), total))

        f.nest(ranges, body, starts, finish, flat)
        if chunks == 1:
            function = f.end("loop")
            if self.key and key:
                number = {v: n for n, v in enumerate(self.key.values)}
                asked = {Asked(number[v], k): p for (v, k), p in f.resources.asked.items()}
                self.kernel.module.written[key] = function, asked
            self.kernel.call(function, f.resources)
            self._count(size)
        else:
            rows = -(-(region[0][1] - region[0][0]) // chunks)
            rows = -(-rows // BLOCK) * BLOCK if len(region) == 1 else rows
            name = f.end("loop", bounds)
            shared = {v: self._monoid(v) for v in self._shared()}
            call_parallel(self.kernel, name, f.resources, region[0], rows, shared)
            self._count(size)

    def _count(self, size: int) -> None:
        self.kernel.work += size * self.work
        self.kernel.module.called += size * self.reads.called()

    def _chunks(self, region: list[tuple[int, int]], size: int) -> int:
        work = size * self.work
        rows = region[0][1] - region[0][0]
        kept = sum([self.plan.types[v].size for v in self._shared()])
        if work < self.kernel.parallel_from or rows < 2 or kept > 4096 or (len(region) == 1 and rows <= BLOCK):
            return 1
        return max(1, min(rows, work // CHUNK))

    def _shared(self) -> list[int]:
        """Reductions along the first axis: each chunk has its own share. The others write rows of their own."""
        return [v for v in self.unit.reduced if 0 in self._axes(v)]

    def _accumulator(self, v: int) -> Accumulator:
        dtype = self.plan.types[v].dtype
        return Accumulator(literal(self._start(v), dtype), self._monoid(v), dtype.kind == "i")

    def _axes(self, v: int) -> set[int]:
        step = self.plan.maker[v]
        rank = len(self.unit.shape)
        return {a % rank for a in step.params["axis"]}

    def _keeps_last(self, v: int) -> bool:
        return len(self.unit.shape) - 1 not in self._axes(v)

    def _is_direct(self, v: int) -> bool:
        """Whether one run of the innermost loop is the whole of a reduction: nothing has to be added up in memory."""
        last = len(self.unit.shape) - 1
        return self._axes(v) == {last} and self.unit.shape[last] <= BLOCK and not self._edges_on_last

    def _kept(self, v: int, place: Place) -> Place:
        """Where in its result a reduction puts an element."""
        if place is FLAT:
            return (ZERO,) * len(self.plan.types[v].shape)
        axes = self._axes(v)
        step = self.plan.maker[v]
        if step.params["keepdims"]:
            return tuple([ZERO if a in axes else i for a, i in enumerate(place)])
        return tuple([i for a, i in enumerate(place) if a not in axes])

    def _value(self, x: Elements, v: int, place: Place) -> Value:
        (source,) = self.plan.maker[v].args
        found = x.at(source, place)
        return cast(x.e, found, self.plan.types[source].dtype, self.plan.types[v].dtype)

    def _combined(self, x: Elements, v: int, total: Value, new: Value) -> Value:
        return combined(x.e, self._monoid(v), self.plan.types[v].dtype, total, new)

    def _is_flat(self) -> bool:
        """Whether every array is read row by row from end to end, so that the shape does not matter."""
        whole = all([len(self._axes(v)) == len(self.unit.shape) for v in self.unit.reduced])
        return (whole or len(self.unit.shape) == 1) and self.reads.are_in_order()
