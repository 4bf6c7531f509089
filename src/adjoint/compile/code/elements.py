"""Reading one element of a value: from memory, from registers, or by computing it on the spot."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ...core.entry.facts import DEAR
from ...core.entry.moves import Region
from ...ir.program import Step
from ..assembly.emit import Emitter
from ..assembly.kinds import I8, I64, memory_kind
from ..assembly.values import Operand, Value, literal, number
from ..program.classify import Sort
from ..program.indices import ZERO, Index, Loaded, Place, broadcast, constant, row_major, unpadded
from ..program.loop_checks import is_number
from ..program.moving import padded_part, reads_of
from ..program.plan import Plan
from ..scalar.casting import cast
from ..scalar.kernels import scalar_of


class Outside(Protocol):
    """What a piece of code gets from the function it is in: addresses of values, and elements in registers."""

    def pointer(self, v: int) -> Value:
        """The address of a value."""

    def register(self, v: int, k: int) -> Value:
        """Element `k` of a value that lives in registers."""


class Elements:
    """A piece of code in which elements are read: the straight code of a kernel, or the body of a loop.

    `variables` are the loops' registers, `ranges` what they run over. What was computed once is found again.
    """

    def __init__(self, plan: Plan, e: Emitter, level: int, resources: Outside) -> None:
        self.plan = plan
        self.e = e
        self.level = level
        self.resources = resources
        self.variables: list[Operand] = []
        self.ranges: list[tuple[int, int]] = []
        self.innermost: int | None = None
        self.scattered = 0
        """How often neighbours in the innermost loop are not neighbours in memory."""
        self.is_dear = False
        """Whether something expensive is computed."""
        self._known: dict[tuple[int, Place], Value] = {}

    def forget(self) -> None:
        """Begin a block in which nothing has been computed yet."""
        self._known = {}

    def at(self, v: int, place: Place, *, compute: bool = False) -> Value:
        """The register with an element of a value; `compute` it, wherever the plan has put the value."""
        key = (v, place)
        found = self._known.get(key)
        if found is None:
            is_computed = compute or self.plan.is_computed(v, self.level)
            found = self._known[key] = self._computed(v, place) if is_computed else self._read(v, place)
        return found

    def _read(self, v: int, place: Place) -> Value:
        plan = self.plan
        value = plan.program.constants.get(v)
        if value is not None and is_number(value):
            return literal(value, plan.types[v].dtype)
        if plan.in_registers(v) and place is not FLAT:
            k = self._linear(place, plan.types[v].shape)
            if k is not None:
                return self.resources.register(v, k)
        return self.load(v, place)

    def _computed(self, v: int, place: Place) -> Value:
        plan = self.plan
        step = plan.maker[v]
        sort = plan.sorts[id(step)]
        if sort is Sort.ELEMENTWISE:
            return self._applied(step, [self.at(a, operand(place, plan.types[a].shape)) for a in step.args])
        if sort is Sort.PAD:
            inside = padded(padded_part(plan.types, step), place, plan.types[step.args[0]].shape, self.ranges)
            return literal(0, plan.types[v].dtype) if inside is None else self.at(step.args[0], inside)
        return self.at(step.args[0], self._seen_through(step, place))

    def _applied(self, step: Step, args: list[Value]) -> Value:
        """The code of an elementwise step for one element."""
        plan = self.plan
        loop = plan.loop(step)
        operands: list[Value] = []
        for a, register, want in zip(step.args, args, loop.operands, strict=True):
            value = plan.program.constants.get(a)
            if value is not None and is_number(value) and plan.types[a].shape == ():
                operands.append(literal(value, want))
            else:
                operands.append(cast(self.e, register, plan.types[a].dtype, want))
        code = scalar_of(step.primitive)
        self.is_dear = self.is_dear or code.cost == DEAR
        return code(self.e, operands, loop.dtype, **step.params)

    def _seen_through(self, step: Step, place: Place) -> Place:
        """Where a view reads its source."""
        types = self.plan.types
        have, want = types[step.args[0]].shape, types[step.outs[0]].shape
        reads = reads_of(types, step)
        if reads is None:
            return self._unravelled(number(self.offset(place, row_major(want)), I64), have)
        return tuple(
            [constant(i.shift) if i.axis is None else self._moved(place[i.axis], i.scale, i.shift) for i in reads]
        )

    def _moved(self, i: Index | Loaded, scale: int, shift: int) -> Index | Loaded:
        if isinstance(i, Index):
            return i.moved(scale, shift)
        return Loaded(number(self._times_plus(i.value, scale, shift), I64))

    def _times_plus(self, i: Operand, scale: int, shift: int) -> Operand:
        scaled = i if scale == 1 else self.e.op("mul", i, scale, "nsw")
        return scaled if shift == 0 else self.e.op("add", scaled, shift, "nsw")

    def _unravelled(self, linear: Value, shape: tuple[int, ...]) -> Place:
        """Indices from a position; the slow way, for reshapes of what is not row by row in memory."""
        place: list[Loaded] = []
        for n, s in zip(shape, row_major(shape), strict=True):
            q = linear if s == 1 else self.e.op("udiv", linear, s)
            place.append(Loaded(self.e.op("urem", q, n)))
        return tuple(place)

    def offset(self, place: Place, strides: tuple[int, ...], start: int = 0) -> Operand:
        """The position of an element, counted in elements."""
        if place is FLAT:
            return self.variables[0]
        total, terms = start, []
        for i, s in zip(place, strides, strict=True):
            if s == 0:
                continue
            if isinstance(i, Index):
                total += i.shift * s
                if i.axis is not None:
                    self.scattered += i.axis == self.innermost and abs(i.scale * s) != 1
                    terms.append(self._times_plus(self.variables[i.axis], i.scale * s, 0))
            else:
                terms.append(self._times_plus(i.value, s, 0))
        if not terms:
            return total
        found = terms[0]
        for t in terms[1:]:
            found = self.e.op("add", found, t, "nsw")
        return found if total == 0 else self.e.op("add", found, total, "nsw")

    def _linear(self, place: Place, shape: tuple[int, ...]) -> int | None:
        total = 0
        for i, s in zip(place, row_major(shape), strict=True):
            if not isinstance(i, Index) or i.axis is not None:
                return None
            total += i.shift * s
        return total

    def address(self, v: int, place: Place) -> Value:
        """Where an element is in memory."""
        strides = self.plan.strides.get(v) or row_major(self.plan.types[v].shape)
        offset = self.offset(place, strides)
        kind = memory_kind(self.plan.types[v].dtype)
        base = self.resources.pointer(v)
        return base if offset == 0 else self.e.address(kind, base, offset)

    def load(self, v: int, place: Place) -> Value:
        """An element from memory."""
        dtype = self.plan.types[v].dtype
        return load(self.e, self.address(v, place), dtype)

    def store(self, v: int, place: Place, register: Value) -> None:
        """An element to memory."""
        store(self.e, self.address(v, place), register, self.plan.types[v].dtype)


FLAT: Place = ("flat",)
"""The place in a loop that runs over all elements of every array, row by row, whatever their shape."""


def operand(place: Place, shape: tuple[int, ...]) -> Place:
    """Where an operand of this shape is read."""
    if place is FLAT:
        return (ZERO,) * len(shape) if all([n == 1 for n in shape]) else FLAT
    return broadcast(place, shape)


def load(e: Emitter, address: Value, dtype: np.dtype) -> Value:
    """Read a number."""
    found = e.load(memory_kind(dtype), address)
    return e.compare("ne", found, 0) if dtype.kind == "b" else found


def store(e: Emitter, address: Value, register: Value, dtype: np.dtype) -> None:
    """Write a number."""
    if dtype.kind == "b":
        register = e.convert("zext", register, I8)
    e.store(register, address)


def padded(part: Region, place: Place, inner: tuple[int, ...], ranges: list[tuple[int, int]]) -> Place | None:
    """Where an element of a pad comes from; None outside. The ranges of the loops lie wholly inside or outside."""
    bounds, source = unpadded(part, place, inner)
    for start, end, i in bounds:
        low, high = extent(i, ranges)
        if high < start or low >= end:
            return None
    return source


def extent(i: Index, ranges: list[tuple[int, int]]) -> tuple[int, int]:
    """The smallest and the largest number that an index takes."""
    if i.axis is None:
        return i.shift, i.shift
    low, high = ranges[i.axis]
    ends = (i.scale * low + i.shift, i.scale * (high - 1) + i.shift)
    return min(ends), max(ends)
