"""The function of a kernel under construction: what its units ask for, which is addresses, registers, memory, calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...ir.fold import read_by
from ...ir.program import Program
from ..assembly.emit import Emitter
from ..assembly.instructions import Address, Allocation, Instruction
from ..assembly.kinds import I8, I32, I64, POINTER, memory_kind
from ..assembly.module import Module
from ..assembly.values import Function, Parameter, Value, literal, number
from ..program.loop_checks import is_number
from ..program.plan import Plan
from .elements import Elements, store
from .filling import fill_memory
from .loops import Resources
from .workspace import laid_out

INLINE = 600
"""Instructions up to which the body of a loop is written into it."""


@dataclass(frozen=True)
class Kernel:
    """`i32 @name(ptr inputs..., ptr arrays among the constants..., ptr outputs..., ptr workspace)`.

    It returns 0, or 1 if a guard does not hold, or 2 if an index is out of bounds.
    """

    function: Function
    program: Program
    plan: Plan
    captured: tuple[int, ...]
    """The arrays among the constants."""
    space: int
    """Bytes of workspace."""
    work: int
    """About how much there is to do, in additions."""

    @property
    def name(self) -> str:
        """The name of its function."""
        return self.function.symbol


class KernelFunction:
    """The function that does all units of a plan, one after the other."""

    def __init__(
        self, module: Module, plan: Plan, *, body_of: Callable[[Module, Program], Kernel], parallel_from: int
    ) -> None:
        self.module = module
        self.program = program = plan.program
        self.plan = plan
        self.e = Emitter(module)
        self.elements = Elements(plan, self.e, 0, self)
        self.parallel_from = parallel_from
        """Work from which on a loop is shared among threads."""
        self.work = 0
        self.shares: dict[int, int] = {}
        """Values that are written in place of another one."""
        self._body_of = body_of
        self._inner_space: int | None = None
        """Bytes that kernels inside this one need for themselves."""
        self._now = 0
        self._lives: dict[int, list[int]] = {}
        self._slots: dict[int, Allocation] = {}
        self._places: dict[int, Value] = {}
        """Addresses in the workspace, whose offsets are known in the end; pieces of scratch have negative numbers."""
        self._scratch: list[int] = []
        """Sizes."""
        self._registers: dict[tuple[int, int], Value] = {}
        self.captured = _captured(program)
        inputs = (*program.inputs, *self.captured)
        shared = {*plan.over, *plan.over.values()}
        given = [
            Parameter(f"%a{k}", POINTER, "readonly" if v in shared else "noalias readonly")
            for k, v in enumerate(inputs)
        ]
        results = [
            Parameter(f"%o{k}", POINTER, "" if v in shared else "noalias") for k, v in enumerate(program.outputs)
        ]
        self._given = (*given, *results)
        self._parameters = dict(zip((*inputs, *program.outputs), self._given, strict=True))

    def begin(self, level: int) -> None:
        """Begin the next unit, at this level."""
        self._now += 1
        self.elements.level = level

    # Where values are

    def pointer(self, v: int) -> Value:
        """The address of a value; one that lives in registers is written to the stack first."""
        while v in self.shares:
            v = self.shares[v]
        if v in self._parameters:
            return self._parameters[v]
        if self.plan.in_registers(v) or v in self.program.constants:
            return self._spilled(v)
        self._lives.setdefault(v, [self._now, self._now])[1] = self._now
        return self._place(v, f"%m{v}")

    def _place(self, v: int, name: str) -> Value:
        found = self._places.get(v)
        if found is None:
            found = self._places[v] = Value(name, POINTER)
        return found

    def register(self, v: int, k: int) -> Value:
        """Element `k` of a value that lives in registers."""
        return self._registers[v, k]

    def define(self, v: int, registers: list[Value]) -> None:
        """Say in which registers the elements of a value are; an output goes to memory as well."""
        for k, register in enumerate(registers):
            self._registers[v, k] = register
        if v in self._parameters:
            for k, register in enumerate(registers):
                self._put(v, self._parameters[v], k, register)

    def scratch(self, size: int) -> Value:
        """Memory for the time of the unit under way."""
        self._scratch.append(size)
        v = -1 - len(self._scratch)
        self._lives[v] = [self._now, self._now]
        return self._place(v, f"%s{len(self._scratch) - 1}")

    def _spilled(self, v: int) -> Value:
        slot = self._slots.get(v)
        if slot is None:
            t = self.plan.types[v]
            size = number(max(1, t.size) * t.dtype.itemsize, I64)
            slot = self._slots[v] = Allocation(f"%t{v}", POINTER, I8, (size,), "align 16")
            value = self.program.constants.get(v)
            for k in range(t.size):
                self._put(v, slot, k, literal(value, t.dtype) if value is not None else self._registers[v, k])
        return slot

    def _put(self, v: int, address: Value, k: int, register: Value) -> None:
        """Write element `k` of a value."""
        dtype = self.plan.types[v].dtype
        spot = self.e.address(memory_kind(dtype), address, k, flags="")
        store(self.e, spot, register, dtype)

    # What is done

    def call(self, loop: Function, resources: Resources, *extra: Value) -> Value:
        """Call a loop function with what it asked for; `extra` arguments come first."""
        given = [self.pointer(v) if k is None else self.register(v, k) for v, k in resources.asked]
        return self.e.call(loop, *extra, *given)

    def fill(self, v: int, value: float) -> None:
        """Set all elements of a value in memory."""
        t = self.plan.types[v]
        constant = literal(value, t.dtype)
        if t.size <= 2:
            for k in range(t.size):
                self._put(v, self.pointer(v), k, constant)
            return
        fill_memory(self.e, self.pointer(v), constant, t.dtype, t.size)

    def check(self, bad: Value, code: int) -> None:
        """Leave the kernel if something does not hold."""
        on = self.e.label("on")
        self.e.branch(bad, f"fail{code}", on)
        self.e.start(on)

    def body(self, program: Program) -> Kernel:
        """The kernel of a loop's body, in the same module, which uses the part of the workspace behind all else."""
        made = self._body_of(self.module, program)
        self._inner_space = max(self._inner_space or 0, made.space)
        return made

    # The end

    def finish(self, is_body: bool) -> Kernel:
        """End the function."""
        e = self.e
        for code in (0, 1, 2):
            if code:
                e.start(f"fail{code}")
            e.give(number(code, I32))
        offsets, space = laid_out(self._lives, self._sizes())
        workspace = Parameter("%ws", POINTER, "noalias")
        places = {self._places[v].name: offset for v, offset in offsets.items()}
        if self._inner_space is not None:
            places[INNER.name] = space
        head: list[Instruction] = list(self._slots.values())
        for name, offset in places.items():
            head.append(Address(name, POINTER, I8, (workspace, number(offset, I64)), "inbounds"))
        put_in_place = is_body and len(e.body) < INLINE  # so that what a loop carries can stay in registers
        how = "nounwind alwaysinline" if put_in_place else "nounwind"
        function = self.module.define("kernel", I32, (*self._given, workspace), [*head, *e.body], how)
        return Kernel(function, self.program, self.plan, self.captured, space + (self._inner_space or 0), self.work)

    def _sizes(self) -> dict[int, int]:
        found = {v: self.plan.types[v].size * self.plan.types[v].dtype.itemsize for v in self._lives if v >= 0}
        for k, size in enumerate(self._scratch):
            found[-2 - k] = size
        return found


INNER = Value("%inner", POINTER)
"""The workspace of kernels inside a kernel."""


def _captured(program: Program) -> tuple[int, ...]:
    """Arrays among the constants, also if no step reads them: their form may have decided something."""
    used = read_by(program.steps, program.outputs)
    watched = [n for n, c in program.constants.items() if n in used or isinstance(c, np.ndarray)]
    return tuple([n for n in watched if not is_number(program.constants[n])])
