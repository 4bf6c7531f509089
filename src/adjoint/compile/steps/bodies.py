"""Functions that call the bodies of loops: where operands are, memory for what is handed on, what a failure means."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.program import Program, Type
from ..assembly.emit import Emitter
from ..assembly.kinds import I1, I8, I32, I64, POINTER, VOID, block_of, memory_kind
from ..assembly.values import FALSE, Operand, Parameter, Value, number
from ..code.elements import store
from ..code.kernel_function import INNER, Kernel, KernelFunction
from ..code.loops import LoopFunction
from ..program.indices import Place, row_major

TINY_BYTES = 128
"""Carries up to this size are put on the stack, from where LLVM moves them into registers."""


def in_rows(kernel: KernelFunction, v: int) -> Value:
    """The address of a value that lies row by row in memory; a copy, if it does not."""
    plan = kernel.plan
    t = plan.types[v]
    place = plan.layout(v)
    if place is not None:
        base, offset, strides = place
        matters = [(s, r) for s, r, n in zip(strides, row_major(t.shape), t.shape, strict=True) if n != 1]
        if all([s == r for s, r in matters]):
            address = kernel.pointer(base)
            if offset:
                address = kernel.e.address(memory_kind(t.dtype), address, offset, flags="")
            return address
    address = kernel.scratch(t.size * t.dtype.itemsize)
    copy_rows(kernel, v, address)
    return address


def copy_rows(kernel: KernelFunction, v: int, address: Value) -> None:
    """Write a value to memory, row by row."""
    plan = kernel.plan
    t = plan.types[v]
    if t.size == 0:
        return
    f = LoopFunction(kernel.module, plan, kernel.elements.level)
    to = Parameter("%to", POINTER, "noalias")

    def body(spot: Place) -> None:
        target = f.elements.offset(spot, row_major(t.shape))
        there = f.e.address(memory_kind(t.dtype), to, target)
        store(f.e, there, f.elements.at(v, spot if t.shape else ()), t.dtype)

    f.nest([(0, n) for n in t.shape] or [(0, 1)], body)
    kernel.call(f.end("rows", (to,)), f.resources, address)


def size_of(t: Type) -> int:
    """The bytes of a value, one element at least."""
    return max(1, t.size) * t.dtype.itemsize


class BodyCaller:
    """A function under construction that is given some addresses and the workspace of its bodies."""

    def __init__(self, kernel: KernelFunction) -> None:
        self.kernel = kernel
        self.e = Emitter(kernel.module)
        self.given: dict[Parameter, Value] = {}
        self.workspace = Parameter("%ws", POINTER)

    def take(self, address: Value) -> Value:
        """A parameter for an address of the caller."""
        parameter = Parameter(f"%g{len(self.given)}", POINTER)
        self.given[parameter] = address
        return parameter

    def buffer(self, t: Type) -> Value:
        """Memory for one value: on the stack of this function if it is small."""
        if size_of(t) <= TINY_BYTES:
            self.e.module.carries = True
            return self.e.allocate(block_of(size_of(t), I8), align=16)
        return self.take(self.kernel.scratch(size_of(t)))

    def copy(self, target: Value, source: Value, t: Type) -> None:
        """Move a value."""
        if t.size == 0:
            return
        if t.size == 1:
            kind = memory_kind(t.dtype)
            self.e.store(self.e.load(kind, source), target)
            return
        move = self.e.module.declare("llvm.memcpy.p0.p0.i64", VOID, POINTER, POINTER, I64, I1)
        self.e.call(move, target, source, number(size_of(t), I64), FALSE)

    def copy_all(self, types: Sequence[Type], targets: Sequence[Value], sources: Sequence[Value]) -> None:
        """Move several values."""
        for t, target, source in zip(types, targets, sources, strict=True):
            self.copy(target, source, t)

    def run(self, body: Kernel, pointers: list[Value], cleanup: Callable[[], object] | None = None) -> None:
        """Call a body's kernel; leave if it fails."""
        code = self.e.call(self.e.module.body(body.function), *pointers, self.workspace)
        bad = self.e.compare("ne", code, 0)
        on, off = self.e.label("on"), self.e.label("off")
        self.e.branch(bad, off, on)
        self.e.start(off)
        if cleanup is not None:
            cleanup()
        self.e.give(code)
        self.e.start(on)

    def finish(self, stem: str, has_guards: bool = False) -> None:
        """End the function and call it."""
        self.e.give(number(0, I32))
        function = self.e.define(stem, (*self.given, self.workspace), I32)
        code = self.kernel.e.call(function, *self.given.values(), INNER)
        if has_guards:
            self.kernel.check(self.kernel.e.compare("eq", code, 1), 1)
        self.kernel.check(self.kernel.e.compare("ne", code, 0), 2)


def without(body: Program, kept: dict[int, int]) -> Program:
    """A body without some of its results."""
    return body.having(outputs=[o for k, o in enumerate(body.outputs) if k not in kept]) if kept else body


def row(e: Emitter, base: Value, t: Type, i: Operand) -> Value:
    """Where the i-th slice of a stack is."""
    place = i if t.size == 1 else e.op("mul", number(i, I64), t.size, "nsw")
    return e.address(memory_kind(t.dtype), base, place)
