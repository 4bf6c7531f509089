"""The kernel of a program: one function that does all of its units, with memory laid out so that it is used again."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from ..ir.program import Program, Step
from .chunks import chunk_body, combine_chunks, fill_memory
from .classify import CHECK, ELEMENTWISE, PAD, REDUCE, VIEW, is_number
from .elements import Elements, store
from .emit import Emitter, Module, literal, llvm_type, memory_type
from .groups import Group, combined
from .loops import Resources
from .plan import Plan
from .products import uses_blas
from .registers import all_places, differs, whole_tiny
from .scalar.casting import cast
from .whole import whole

STACK = 1 << 15
"""Bytes of memory that are taken from the stack."""
ALIGNMENT = 64
PARALLEL = 400_000
"""Work, in additions, from which on a loop is shared among threads: waking them costs some microseconds."""
BESIDE_BLAS = 16
"""So much more it has to be beside products by BLAS, whose own threads keep looking out for work and get in the way."""
INLINE = 600
"""Lines up to which the body of a loop is written into it."""


class Kernel:
    """`i32 @name(ptr inputs..., ptr arrays among the constants..., ptr outputs..., ptr workspace)`.

    It returns 0, or 1 if a guard does not hold, or 2 if an index is out of bounds.
    """

    def __init__(
        self,
        module: Module,
        program: Program,
        strides: dict[int, tuple[int, ...]] | None = None,
        sorts: dict[int, str | None] | None = None,
        is_body: bool = False,
    ) -> None:
        self.module = module
        self.program = program
        self.plan = Plan(program, strides or {}, sorts)
        self.e = Emitter(module)
        self.parallel_from = PARALLEL * (BESIDE_BLAS if uses_blas(program) else 1)
        self.work = 0
        """About how much there is to do, in additions."""
        used = {a for step in program.steps for a in step.args} | set(program.outputs)
        # the form of an array may have decided something, though no step reads it; of a number nothing else can be seen
        watched = [n for n, c in program.constants.items() if n in used or isinstance(c, np.ndarray)]
        self.captured = [n for n in watched if _is_array(program.constants[n])]
        self.inner_space = 0
        """Bytes that kernels inside this one need for themselves."""
        self._has_inner = False
        self._parameters: dict[int, str] = {}
        self._now = 0
        self._lives: dict[int, list[int]] = {}
        self._slots: dict[int, str] = {}
        self._spare: list[tuple[str, int]] = []
        self._scratch: dict[str, int] = {}
        self._registers: dict[tuple[int, int], str] = {}
        self.shares: dict[int, int] = {}
        """Values that are written in place of another one."""
        self._is_body = is_body
        self.name, self.space = self._written()

    # What units ask for

    def pointer(self, v: int) -> str:
        """The address of a value; one that lives in registers is written to the stack first."""
        while v in self.shares:
            v = self.shares[v]
        if v in self._parameters:
            return self._parameters[v]
        if v in self.plan.tiny or v in self.plan.program.constants:
            return self._spilled(v)
        self._lives.setdefault(v, [self._now, self._now])[1] = self._now
        return f"%m{v}"

    def register(self, v: int, k: int) -> str:
        """Element `k` of a value that lives in registers."""
        return self._registers[v, k]

    def scratch(self, size: int) -> str:
        """Memory for the time of the unit under way."""
        name = f"%s{len(self._scratch)}"
        self._scratch[name] = size
        self._lives[-1 - len(self._scratch)] = [self._now, self._now]
        return name

    def call(self, name: str, resources: Resources, result: str = "void", extra: str = "") -> str:
        """Call a loop function."""
        text = f"call {result} @{name}({', '.join([p for p in (extra, self.arguments(resources)) if p])})"
        if result != "void":
            return self.e.op(text)
        self.e.do(text)
        return ""

    def arguments(self, resources: Resources) -> str:
        """What a loop function asked for, as arguments of a call."""
        parts = []
        for key in resources.names:
            if key[0] == "pointer":
                parts.append(f"ptr {self.pointer(key[1])}")
            else:
                kind = llvm_type(self.plan.types[key[1]].dtype)
                parts.append(f"{kind} {self.register(key[1], key[2])}")
        return ", ".join(parts)

    def call_parallel(
        self, name: str, resources: Resources, span: Any, rows: int, reduced: list[int], start: Any
    ) -> None:
        """Call a loop function for ranges of its first axis, by several threads; sums are put together in order."""
        e, (low, high) = self.e, span
        chunks = -(-(high - low) // rows)
        keys = list(resources.names)
        context = self.scratch(8 * len(keys))
        partial = {
            v: self.scratch(chunks * self.plan.types[v].size * self.plan.types[v].dtype.itemsize) for v in reduced
        }
        for k, key in enumerate(keys):
            spot = e.op(f"getelementptr i8, ptr {context}, i64 {8 * k}")
            if key[0] == "pointer":
                e.do(f"store ptr {partial.get(key[1]) or self.pointer(key[1])}, ptr {spot}")
            else:
                store(e, spot, self.register(key[1], key[2]), self.plan.types[key[1]].dtype)
        body = chunk_body(self, name, keys, low, high, rows, reduced, start)
        self.module.declare("adjoint_parallel", "void {}(ptr, ptr, i64)")
        e.do(f"call void @adjoint_parallel(ptr @{body}, ptr {context}, i64 {chunks})")
        for v, address in partial.items():
            t = self.plan.types[v]
            combine_chunks(self, v, address, self.plan.maker[v].primitive.name, t, chunks)

    def fill(self, v: int, value: Any) -> None:
        """Set all elements of a value in memory."""
        t = self.plan.types[v]
        number = literal(value, t.dtype)
        if t.size <= 2:
            for k in range(t.size):
                spot = self.e.op(f"getelementptr {memory_type(t.dtype)}, ptr {self.pointer(v)}, i64 {k}")
                store(self.e, spot, number, t.dtype)
            return
        fill_memory(self.e, self.module, self.pointer(v), number, t.dtype, t.size)

    def check(self, bad: str, code: int) -> None:
        """Leave the kernel if something does not hold."""
        on = self.e.label("on")
        self.e.branch(bad, f"fail{code}", on)
        self.e.start(on)

    # The function itself

    def _written(self) -> tuple[str, int]:
        program, e = self.program, self.e
        names = [f"%a{k}" for k in range(len(program.inputs) + len(self.captured))]
        outs = [f"%o{k}" for k in range(len(program.outputs))]
        for n, name in zip((*program.inputs, *self.captured, *program.outputs), (*names, *outs), strict=True):
            self._parameters[n] = name
        self.elements = Elements(self.plan, e, 0, self)
        outside = self.module.straight
        for unit in self.plan.units:
            self._now += 1
            self.elements.level = unit.level
            if unit.kind == "straight":
                assert unit.step is not None
                self.module.straight = True
                self._straight(unit.step)
                self.module.straight = outside
            elif unit.kind == "whole":
                assert unit.step is not None
                whole(self, unit.step)
            else:
                Group(self, unit).emit()
        e.do("ret i32 0")
        for code in (1, 2):
            e.start(f"fail{code}")
            e.do(f"ret i32 {code}")
        offsets, space = _laid_out(self._lives, self._sizes())
        head = [f"  {n} = alloca i8, i64 {size}, align 16" for n, size in self._spare]
        for v, offset in offsets.items():
            name = f"%m{v}" if v >= 0 else list(self._scratch)[-2 - v]
            head.append(f"  {name} = getelementptr inbounds i8, ptr %ws, i64 {offset}")
        if self._has_inner:
            head.append(f"  %inner = getelementptr inbounds i8, ptr %ws, i64 {space}")
        written = ["ptr noalias readonly " + n for n in names] + ["ptr noalias " + n for n in outs]
        body = "\n".join([*head, *e.lines])
        put_in_place = self._is_body and len(e.lines) < INLINE  # so that what a loop carries can stay in registers
        how = "nounwind alwaysinline" if put_in_place else "nounwind"
        text = f"({', '.join([*written, 'ptr noalias %ws'])}) {how} {{\nentry:\n{body}\n}}"
        return self.module.function("kernel", "internal i32", text), space + self.inner_space

    def inner_workspace(self, space: int) -> str:
        """The part of the workspace that kernels inside this one may use: behind everything else."""
        self.inner_space, self._has_inner = max(self.inner_space, space), True
        return "%inner"

    def _sizes(self) -> dict[int, int]:
        found = {v: self.plan.types[v].size * self.plan.types[v].dtype.itemsize for v in self._lives if v >= 0}
        for k, size in enumerate(self._scratch.values()):
            found[-2 - k] = size
        return found

    def _spilled(self, v: int) -> str:
        name = self._slots.get(v)
        if name is None:
            t = self.plan.types[v]
            name = self._slots[v] = f"%t{v}"
            self._spare.append((name, max(1, t.size) * t.dtype.itemsize))
            value = self.plan.program.constants.get(v)
            for k in range(t.size):
                spot = self.e.op(f"getelementptr {memory_type(t.dtype)}, ptr {name}, i64 {k}")
                register = self._registers[v, k] if value is None else literal(value, t.dtype)
                store(self.e, spot, register, t.dtype)
        return name

    def define(self, v: int, registers: list[str]) -> None:
        """Say in which registers the elements of a value are; an output goes to memory as well."""
        t = self.plan.types[v]
        for k, register in enumerate(registers):
            self._registers[v, k] = register
        if v in self._parameters:
            for k, register in enumerate(registers):
                spot = self.e.op(f"getelementptr {memory_type(t.dtype)}, ptr {self._parameters[v]}, i64 {k}")
                store(self.e, spot, register, t.dtype)

    def _straight(self, step: Step) -> None:
        """A step in registers, one element after the other."""
        plan, x = self.plan, self.elements
        sort = plan.sorts[id(step)]
        if sort == CHECK:
            self._guard(step)
            return
        (v,) = step.outs
        places = all_places(plan.types[v].shape)
        if sort in (ELEMENTWISE, VIEW, PAD):
            plan.lazy.add(v)
            plan.tiny.discard(v)
            found = [x.at(v, place) for place in places]
            plan.lazy.discard(v)
            plan.tiny.add(v)
        elif sort == REDUCE:
            found = self._reduced(step)
        else:
            found = whole_tiny(self, step)
        self.define(v, found)

    def _reduced(self, step: Step) -> list[str]:
        plan, x = self.plan, self.elements
        (v,), (source,) = step.outs, step.args
        have, t, name = plan.types[source], plan.types[v], step.primitive.name
        axes = {a % len(have.shape) for a in step.params["axis"]} if have.shape else set()
        totals: dict[Any, str] = {}
        for place in all_places(have.shape):
            kept = tuple([i.shift for a, i in enumerate(place) if a not in axes])
            new = cast(self.e, x.at(source, place), have.dtype, t.dtype)
            had = totals.get(kept)
            if had is None and name == "sum":  # as NumPy's sums do: a sum of negative zeros is zero
                had = literal(0, t.dtype)
            totals[kept] = new if had is None else combined(self.e, name, t.dtype, had, new)
        return list(totals.values())

    def _guard(self, step: Step) -> None:
        (v,) = step.args
        t = self.plan.types[v]
        expected = step.params["expected"]
        values = expected.ravel().tolist() if hasattr(expected, "ravel") else [expected]
        for place, value in zip(all_places(t.shape), values, strict=True):
            self.check(differs(self.e, self.elements.at(v, place), value, t.dtype), 1)


def _laid_out(lives: dict[int, list[int]], sizes: dict[int, int]) -> tuple[dict[int, int], int]:
    """Offsets into one piece of memory, in which values that never live at the same time may share a place."""
    offsets: dict[int, int] = {}
    space = 0
    free: list[tuple[int, int]] = []
    """Gaps below `space`: offset and size."""
    ends: list[tuple[int, int, int]] = []
    """Values alive: when they end, where they are, how large."""
    for v in sorted(lives, key=lambda v: (lives[v][0], -sizes[v], v)):
        first, last = lives[v]
        while ends and ends[0][0] < first:
            _, offset, size = heapq.heappop(ends)
            free = _with_gap(free, offset, size)
        size = -(-max(sizes[v], 1) // ALIGNMENT) * ALIGNMENT
        fitting = min([gap for gap in free if gap[1] >= size], key=lambda gap: gap[1], default=None)
        if fitting is None:
            offset, space = space, space + size
        else:
            offset = fitting[0]
            free.remove(fitting)
            if fitting[1] > size:
                free.append((offset + size, fitting[1] - size))
        offsets[v] = offset
        heapq.heappush(ends, (last, offset, size))
    return offsets, space


def _with_gap(free: list[tuple[int, int]], offset: int, size: int) -> list[tuple[int, int]]:
    """One more gap, made one with its neighbours."""
    rest = []
    for start, length in free:
        if start + length == offset:
            offset, size = start, size + length
        elif start == offset + size:
            size += length
        else:
            rest.append((start, length))
    return [*rest, (offset, size)]


def _is_array(value: Any) -> bool:
    return not is_number(value)
