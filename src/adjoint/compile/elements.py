"""Reading one element of a value: from memory, from registers, or by computing it on the spot."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.program import Step
from .classify import ELEMENTWISE, PAD, is_number
from .emit import Emitter, literal, memory_type
from .indices import ZERO, Index, Loaded, Place, broadcast, constant, cuts, row_major, squeezed, unpadded
from .plan import Plan
from .scalar.casting import cast
from .scalar.table import SCALARS


class Elements:
    """A piece of code in which elements are read: the straight code of a kernel, or the body of a loop.

    `variables` are the loops' registers, `ranges` what they run over. What was computed once is found again.
    """

    def __init__(self, plan: Plan, e: Emitter, level: int, resources: Any) -> None:
        self.plan = plan
        self.e = e
        self.level = level
        self.resources = resources
        """Gives the pointers and numbers of what is outside: `pointer(v)`, `register(v, k)`."""
        self.variables: list[str] = []
        self.ranges: list[tuple[int, int]] = []
        self.home: set[int] = set()
        """Stored values that are being computed here, not read."""
        self.innermost: int | None = None
        self.scattered = 0
        """How often neighbours in the innermost loop are not neighbours in memory."""
        self.is_dear = False
        """Whether something expensive is computed."""
        self._known: dict[Any, str] = {}

    def forget(self) -> None:
        """Begin a block in which nothing has been computed yet."""
        self._known = {}

    def at(self, v: int, place: Place) -> str:
        """The register with an element of a value."""
        key = (v, place)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._read(v, place)
        return found

    def _read(self, v: int, place: Place) -> str:
        plan = self.plan
        value = plan.program.constants.get(v)
        if value is not None and is_number(value):
            return literal(value, plan.types[v].dtype)
        if v in plan.tiny:
            k = None if place is FLAT else self._linear(place, plan.types[v].shape)
            return self.resources.register(v, k) if k is not None else self.load(v, place)
        if v not in plan.lazy or (v in plan.stored and v not in self.home and plan.level[v] < self.level):
            return self.load(v, place)
        step = plan.maker[v]
        sort = plan.sorts[id(step)]
        if sort == ELEMENTWISE:
            return self.compute(step, [self.at(a, operand(place, plan.types[a].shape)) for a in step.args])
        if sort == PAD:
            inside = padded(step, place, plan.types[v].shape, plan.types[step.args[0]].shape, self.ranges)
            return literal(0, plan.types[v].dtype) if inside is None else self.at(step.args[0], inside)
        return self.at(step.args[0], self._seen_through(step, place))

    def compute(self, step: Step, args: list[str]) -> str:
        """The code of an elementwise step for one element."""
        plan = self.plan
        loop = plan.loop(step)
        operands = []
        for a, register, want in zip(step.args, args, loop.operands, strict=True):
            value = plan.program.constants.get(a)
            if value is not None and is_number(value) and plan.types[a].shape == ():
                operands.append(literal(value, want))
            else:
                operands.append(cast(self.e, register, plan.types[a].dtype, want))
        self.is_dear = self.is_dear or SCALARS[step.primitive.name].cost == "dear"
        return SCALARS[step.primitive.name](self.e, operands, loop.dtype, **step.params)

    def _seen_through(self, step: Step, place: Place) -> Place:
        """Where a view reads its source."""
        types = self.plan.types
        have, want = types[step.args[0]].shape, types[step.outs[0]].shape
        name = step.primitive.name
        if name == "transpose":
            new: list[Any] = [None] * len(have)
            for k, a in enumerate(step.params["axes"]):
                new[a] = place[k]
            return tuple(new)
        if name == "broadcast_to":
            return broadcast(place, have)
        if name == "flip":
            axes = {a % len(have) for a in step.params["axis"]}
            return tuple([self._moved(i, -1, have[a] - 1) if a in axes else i for a, i in enumerate(place)])
        if name == "reshape":
            kept = squeezed(have, want)
            if kept is not None:
                return tuple([ZERO if k is None else place[k] for k in kept])
            return self._unravelled(self.offset(place, row_major(want)), have)
        found = cuts(step.params["template"], have)
        assert found is not None
        seen: list[Any] = [constant(c.start) for c in found[0]]
        for k, a in enumerate(found[1]):
            if a is not None:
                cut = found[0][a]
                seen[a] = self._moved(place[k], cut.step, cut.start)
        return tuple(seen)

    def _moved(self, i: Any, scale: int, shift: int) -> Any:
        if isinstance(i, Index):
            return i.moved(scale, shift)
        return Loaded(self._times_plus(i.name, scale, str(shift)))

    def _times_plus(self, name: str, scale: int, shift: str) -> str:
        scaled = name if scale == 1 else self.e.op(f"mul nsw i64 {name}, {scale}")
        return scaled if shift == "0" else self.e.op(f"add nsw i64 {scaled}, {shift}")

    def _unravelled(self, linear: str, shape: tuple[int, ...]) -> Place:
        """Indices from a position; the slow way, for reshapes of what is not row by row in memory."""
        place: list[Any] = []
        for n, s in zip(shape, row_major(shape), strict=True):
            q = linear if s == 1 else self.e.op(f"udiv i64 {linear}, {s}")
            place.append(Loaded(self.e.op(f"urem i64 {q}, {n}")))
        return tuple(place)

    def number(self, i: Any) -> str:
        """An index as a register or literal."""
        if isinstance(i, Loaded):
            return i.name
        if i.axis is None:
            return str(i.shift)
        return self._times_plus(self.variables[i.axis], i.scale, str(i.shift))

    def offset(self, place: Place, strides: tuple[int, ...], start: int = 0) -> str:
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
                    terms.append(self._times_plus(self.variables[i.axis], i.scale * s, "0"))
            else:
                terms.append(self._times_plus(i.name, s, "0"))
        if not terms:
            return str(total)
        found = terms[0]
        for t in terms[1:]:
            found = self.e.op(f"add nsw i64 {found}, {t}")
        return found if total == 0 else self.e.op(f"add nsw i64 {found}, {total}")

    def _linear(self, place: Place, shape: tuple[int, ...]) -> int | None:
        total = 0
        for i, s in zip(place, row_major(shape), strict=True):
            if not isinstance(i, Index) or i.axis is not None:
                return None
            total += i.shift * s
        return total

    def address(self, v: int, place: Place) -> str:
        """Where an element is in memory."""
        strides = self.plan.strides.get(v) or row_major(self.plan.types[v].shape)
        offset = self.offset(place, strides)
        kind = memory_type(self.plan.types[v].dtype)
        base = self.resources.pointer(v)
        return base if offset == "0" else self.e.op(f"getelementptr inbounds {kind}, ptr {base}, i64 {offset}")

    def load(self, v: int, place: Place) -> str:
        """An element from memory."""
        dtype = self.plan.types[v].dtype
        return load(self.e, self.address(v, place), dtype)

    def store(self, v: int, place: Place, register: str) -> None:
        """An element to memory."""
        store(self.e, self.address(v, place), register, self.plan.types[v].dtype)


FLAT: Place = ("flat",)
"""The place in a loop that runs over all elements of every array, row by row, whatever their shape."""


def operand(place: Place, shape: tuple[int, ...]) -> Place:
    """Where an operand of this shape is read."""
    if place is FLAT:
        return (ZERO,) * len(shape) if all([n == 1 for n in shape]) else FLAT
    return broadcast(place, shape)


def load(e: Emitter, address: str, dtype: np.dtype) -> str:
    """Read a number."""
    found = e.op(f"load {memory_type(dtype)}, ptr {address}")
    return e.op(f"icmp ne i8 {found}, 0") if dtype.kind == "b" else found


def store(e: Emitter, address: str, register: str, dtype: np.dtype) -> None:
    """Write a number."""
    if dtype.kind == "b":
        register = e.op(f"zext i1 {register} to i8")
    e.do(f"store {memory_type(dtype)} {register}, ptr {address}")


def padded(
    step: Step, place: Place, shape: tuple[int, ...], inner: tuple[int, ...], ranges: list[tuple[int, int]]
) -> Place | None:
    """Where an element of a pad comes from; None outside. The ranges of the loops lie wholly inside or outside."""
    pairs, source = unpadded(step.params["template"], shape, place, inner)
    for cut, i in pairs:
        low, high = extent(i, ranges)
        if high < cut.start or low >= cut.start + cut.length:
            return None
    return source


def extent(i: Index, ranges: list[tuple[int, int]]) -> tuple[int, int]:
    """The smallest and the largest number that an index takes."""
    if i.axis is None:
        return i.shift, i.shift
    low, high = ranges[i.axis]
    ends = (i.scale * low + i.shift, i.scale * (high - 1) + i.shift)
    return min(ends), max(ends)
