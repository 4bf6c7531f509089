"""The function of a routine of linear algebra, for a stack of matrices: what all of them need."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ...ir.program import Step
from ..assembly.counted_loop import counted
from ..assembly.emit import Emitter
from ..assembly.kinds import I1, I8, I32, I64, POINTER, VOID, Kind, register_kind
from ..assembly.values import FALSE, Parameter, Value, literal, number
from ..code.kernel_function import KernelFunction
from ..program.factors import DETERMINANT, LOG_DETERMINANT
from .fortran import Fortran

Part = tuple[Value, int, Kind]
"""Something of each matrix: its address, how many elements from one to the next, their kind."""
Inside = Callable[..., None]
"""Writes what is done with one matrix, given the addresses of its parts."""


class Routines:
    """The function of a routine under construction, for a stack of matrices."""

    def __init__(self, kernel: KernelFunction, step: Step) -> None:
        self.kernel, self.step = kernel, step
        self.types = kernel.plan.types
        self.e = Emitter(kernel.module)
        self.matrix = self.types[step.args[0]]
        self.n = self.matrix.shape[-1]
        self.dtype = np.dtype(self.matrix.dtype)
        self.kind = register_kind(self.dtype)
        self.lead = self.types[step.outs[0]].shape[: self._depth()]
        self.f = Fortran(self.e, self.dtype)

    def _depth(self) -> int:
        """Leading axes of the stack."""
        out = self.types[self.step.outs[0]].shape
        return len(out) if self.step.primitive in (DETERMINANT, LOG_DETERMINANT) else len(out) - 2

    def sized(self, v: int, address: Value, depth: int = 2) -> Part:
        """A value of which each matrix has a part with so many axes; one that all matrices share does not move."""
        t = self.types[v]
        is_shared = len(t.shape) - depth < len(self.lead)
        return address, 0 if is_shared else math.prod(t.shape[len(t.shape) - depth :]), register_kind(t.dtype)

    def either(self, condition: Value, yes: Callable[[], None], no: Callable[[], None]) -> None:
        """One of two pieces of code."""
        e = self.e
        first, second, done = e.label("yes"), e.label("no"), e.label("done")
        e.branch(condition, first, second)
        for label, write in ((first, yes), (second, no)):
            e.start(label)
            write()
            e.jump(done)
        e.start(done)

    def fail_if(self, bad: Value) -> None:
        """Leave with the code of a failure."""
        e = self.e
        off, on = e.label("off"), e.label("on")
        e.branch(bad, off, on)
        e.start(off)
        e.give(number(2, I32))
        e.start(on)

    def diagonal(self, matrix: Value, k: Value) -> Value:
        """An element of the diagonal."""
        e = self.e
        return e.load(self.kind, e.address(self.kind, matrix, e.op("mul", k, self.n + 1, "nsw")))

    def require_pivots(self, matrix: Value) -> None:
        """Fail if there is a zero on the diagonal."""
        e = self.e

        def look(k: Value, bad: Value) -> list[Value]:
            return [e.op("or", bad, e.compare("oeq", self.diagonal(matrix, k), literal(0, self.dtype)))]

        (bad,) = counted(e, 0, self.n, look, carried=[FALSE])
        self.fail_if(bad)

    def copy(self, to: Value, given: Value, length: int) -> None:
        """Copy numbers."""
        e = self.e
        move = e.module.declare("llvm.memcpy.p0.p0.i64", VOID, POINTER, POINTER, I64, I1)
        e.call(move, to, given, number(length * self.dtype.itemsize, I64), FALSE)

    def identity(self, to: Value) -> None:
        """Write the identity."""
        e, n = self.e, self.n
        clear = e.module.declare("llvm.memset.p0.i64", VOID, POINTER, I8, I64, I1)
        e.call(clear, to, number(0, I8), number(n * n * self.dtype.itemsize, I64), FALSE)

        def one(k: Value) -> None:
            e.store(literal(1, self.dtype), e.address(self.kind, to, e.op("mul", k, n + 1, "nsw")))

        counted(e, 0, n, one)

    def finish(self, stem: str, parts: Sequence[Part], inside: Inside, work: int) -> None:
        """End the function, which does `inside` for each matrix, and call it."""
        e, kernel = self.e, self.kernel
        given = [Parameter(f"%p{k}", POINTER) for k in range(len(parts))]
        count = math.prod(self.lead)

        def each(i: Value) -> None:
            moved = []
            for p, (_, size, kind) in zip(given, parts, strict=True):
                moved.append(e.address(kind, p, e.op("mul", i, size, "nsw"), flags="") if size else p)
            inside(*moved)

        if count == 1:
            inside(*given)
        else:
            counted(e, 0, count, each)
        e.give(number(0, I32))
        code = kernel.e.call(e.define(stem, given, I32), *[address for address, _, _ in parts])
        kernel.check(kernel.e.compare("ne", code, 0), 2)
        kernel.work += count * work
