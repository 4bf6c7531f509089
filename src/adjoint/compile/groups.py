"""The loop of a group: everything that is computed over one shape at one time, sums included."""

from __future__ import annotations

import itertools
import math
from typing import Any

from .classify import ELEMENTWISE, PAD, VIEW, cost_of, is_number
from .elements import FLAT, Elements, operand
from .emit import literal, llvm_type
from .indices import ZERO, Place, identity, squeezed, unpadded
from .loops import BLOCK, LoopFunction, identity_of
from .plan import Plan, Unit
from .scalar.casting import cast
from .scalar.table import SCALARS

CHUNK = 100_000
"""Work of one chunk; a fixed number, so that sums do not depend on the number of threads."""


class Group:
    """One group of a plan, written into a kernel."""

    def __init__(self, kernel: Any, unit: Unit) -> None:
        self.kernel = kernel
        self.plan: Plan = kernel.plan
        self.unit = unit
        self.stored = [v for v in unit.roots if v in self.plan.stored]
        self.reduced = [v for v in unit.roots if v not in self.plan.stored]
        self.members, self.work = _members(self.plan, unit, self.stored, self.reduced)

    def emit(self) -> None:
        """Write the loops, one for each region in which every pad is either there or not."""
        shape = self.unit.shape
        flat = self._is_flat()
        edges = [] if flat else _edges(self)
        self._edges_on_last = bool(edges and _pieces(0, shape[-1], edges[-1])[1:])
        for v in self.reduced:
            if flat or not self._is_direct(v):
                self.kernel.fill(v, self._start(v))
        axes = [(0, math.prod(shape))] if flat else [(0, n) for n in shape]
        pieces = [_pieces(low, high, edges[k] if edges else set()) for k, (low, high) in enumerate(axes)]
        for region in itertools.product(*pieces):
            self._region(list(region), flat)

    def _start(self, v: int) -> Any:
        return identity_of(self.plan.maker[v].primitive.name, self.plan.types[v].dtype)

    def _region(self, region: list[Any], flat: bool) -> None:
        size = math.prod([high - low for low, high in region])
        chunks = self._chunks(region, size)
        f = LoopFunction(self.kernel.module, self.plan, self.unit.level)
        f.elements.home = set(self.stored)
        f.resources.written = set(self.unit.roots)
        ranges: list[Any] = list(region)
        if chunks > 1:
            ranges[0] = ("%low", "%high")
        inner = [v for v in self.reduced if self._keeps_last(v) is False or flat]
        outer = [v for v in self.reduced if v not in inner]
        starts = [self._accumulator(v) for v in inner]

        def body(place: Place) -> list[str]:
            x = f.elements
            if chunks > 1:
                x.ranges[0] = region[0]
            for v in self.members:
                x.at(v, place)
            for v in self.stored:
                x.store(v, place, x.at(v, place))
            for v in outer:
                spot = self._kept(v, place)
                x.store(v, spot, self._combined(x, v, x.load(v, spot), self._value(x, v, place)))
            return [self._combined(x, v, r, self._value(x, v, place)) for v, r in zip(inner, f.registers, strict=True)]

        def finish(place: Place, totals: list[str]) -> None:
            x = f.elements
            for v, total in zip(inner, totals, strict=True):
                spot = self._kept(v, place)
                done = not flat and self._is_direct(v)
                x.store(v, spot, total if done else self._combined(x, v, x.load(v, spot), total))

        f.nest(ranges, body, starts or None, finish, flat)
        if chunks == 1:
            self.kernel.call(f.end("loop"), f.resources)
            self.kernel.work += size * self.work
        else:
            rows = -(-(region[0][1] - region[0][0]) // chunks)
            rows = -(-rows // BLOCK) * BLOCK if len(region) == 1 else rows
            name = f.end("loop", "i64 %low, i64 %high")
            self.kernel.call_parallel(name, f.resources, region[0], rows, self._shared(), self._start)
            self.kernel.work += size * self.work

    def _chunks(self, region: list[Any], size: int) -> int:
        work = size * self.work
        rows = region[0][1] - region[0][0]
        kept = sum([self.plan.types[v].size for v in self._shared()])
        if work < self.kernel.parallel_from or rows < 2 or kept > 4096 or (len(region) == 1 and rows <= BLOCK):
            return 1
        return max(1, min(rows, work // CHUNK))

    def _shared(self) -> list[int]:
        """Reductions along the first axis: each chunk has its own share. The others write rows of their own."""
        return [v for v in self.reduced if 0 in self._axes(v)]

    def _accumulator(self, v: int) -> tuple[str, str, str, bool]:
        dtype = self.plan.types[v].dtype
        name = self.plan.maker[v].primitive.name
        return llvm_type(dtype), literal(self._start(v), dtype), name, dtype.kind == "i"

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

    def _value(self, x: Elements, v: int, place: Place) -> str:
        (source,) = self.plan.maker[v].args
        found = x.at(source, place)
        return cast(x.e, found, self.plan.types[source].dtype, self.plan.types[v].dtype)

    def _combined(self, x: Elements, v: int, total: str, new: str) -> str:
        return combined(x.e, self.plan.maker[v].primitive.name, self.plan.types[v].dtype, total, new)

    def _is_flat(self) -> bool:
        """Whether every array is read row by row from end to end, so that the shape does not matter."""
        plan, shape = self.plan, self.unit.shape
        if len(shape) == 1:
            return all(
                [_is_plain(plan, self, v) for v in (*self.members, *[plan.maker[r].args[0] for r in self.reduced])]
            )
        for v in self.reduced:
            if len(self._axes(v)) < len(shape):
                return False
        return all([_is_plain(plan, self, v) for v in (*self.members, *[plan.maker[r].args[0] for r in self.reduced])])


def combined(e: Any, name: str, dtype: Any, total: str, new: str) -> str:
    """One more element of a reduction. Sums may be taken in any order, as NumPy's are; nothing else is loosened."""
    if name in ("max", "min") and dtype.kind == "f":  # nan wins; in this form LLVM makes vectors of it
        kind = llvm_type(dtype)
        which = e.module.declare(
            f"llvm.{'maximum' if name == 'max' else 'minimum'}.f{8 * dtype.itemsize}", f"{kind} {{}}({kind}, {kind})"
        )
        return str(e.op(f"call {kind} {which}({kind} {total}, {kind} {new})"))
    if name in ("sum", "prod") and dtype.kind == "f":
        return str(e.op(f"{'fadd' if name == 'sum' else 'fmul'} reassoc {llvm_type(dtype)} {total}, {new}"))
    ufunc = {
        "sum": "add",
        "prod": "multiply",
        "max": "maximum",
        "min": "minimum",
        "any": "logical_or",
        "all": "logical_and",
    }
    return SCALARS[ufunc[name]](e, [total, new], dtype)


def _is_plain(plan: Plan, group: Group, v: int) -> bool:
    """Whether a value, and all it is computed from here, is read at the loop's own place or is one number."""
    shape = group.unit.shape
    if plan.types[v].shape != shape:
        return plan.types[v].size == 1 and (v not in plan.lazy or v in plan.stored or v in plan.tiny)
    if v not in plan.lazy or (v in plan.stored and v not in group.stored):
        return not plan.strides.get(v) and v not in plan.tiny
    step = plan.maker[v]
    if plan.sorts[id(step)] != ELEMENTWISE:
        return False
    for a in step.args:
        if plan.types[a].shape == shape and a in plan.lazy and a not in plan.stored:
            continue  # a member itself
        if plan.types[a].shape == shape and a in group.stored:
            continue
        value = plan.program.constants.get(a)
        if not (value is not None and is_number(value)) and not _is_plain(plan, group, a):
            return False
    return True


def _members(plan: Plan, unit: Unit, stored: list[int], reduced: list[int]) -> tuple[list[int], int]:
    """The lazy values of the loop's own shape, in the order of the program, and the work for one element."""
    stack = [*stored, *[plan.maker[v].args[0] for v in reduced]]
    home = set(stored)
    found: set[int] = set()
    while stack:
        v = stack.pop()
        if v in found or v not in plan.lazy or v in plan.tiny or plan.types[v].shape != unit.shape:
            continue
        if v in plan.stored and v not in home and plan.level[v] < unit.level:
            continue
        found.add(v)
        step = plan.maker[v]
        if plan.sorts[id(step)] == ELEMENTWISE:
            stack += step.args
    work = 1 + len(reduced)
    for v in found:
        step = plan.maker[v]
        work += cost_of(step) if plan.sorts[id(step)] == ELEMENTWISE else 1 + plan.cost[v]
    return sorted(found), work


def _pieces(low: int, high: int, edges: set[int]) -> list[tuple[int, int]]:
    marks = sorted({low, high, *[k for k in edges if low < k < high]})
    return list(itertools.pairwise(marks))


def _edges(group: Group) -> list[set[int]]:
    """For each axis the numbers at which a pad begins or ends."""
    plan, unit = group.plan, group.unit
    edges: list[set[int]] = [set() for _ in unit.shape]
    guide = Elements(plan, None, unit.level, None)  # type: ignore[arg-type]
    seen: set[Any] = set()
    start = identity(len(unit.shape))
    stack: list[tuple[int, Place]] = [(v, start) for v in group.members]
    stack += [(plan.maker[v].args[0], start) for v in group.reduced]
    while stack:
        v, place = stack.pop()
        if (v, place) in seen or v not in plan.lazy or v in plan.tiny:
            continue
        if v in plan.stored and v not in group.stored and plan.level[v] < unit.level:
            continue
        seen.add((v, place))
        step = plan.maker[v]
        sort = plan.sorts[id(step)]
        if sort == ELEMENTWISE:
            stack += [(a, operand(place, plan.types[a].shape)) for a in step.args]
        elif sort == VIEW:
            source = step.args[0]
            moves = step.primitive.name == "reshape" and squeezed(plan.types[source].shape, plan.types[v].shape) is None
            if not moves:
                stack.append((source, guide._seen_through(step, place)))
        elif sort == PAD:
            stack.append((step.args[0], _note(step, place, plan.types[v].shape, plan.types[step.args[0]].shape, edges)))
    return edges


def _note(step: Any, place: Place, shape: tuple[int, ...], inner: tuple[int, ...], edges: list[set[int]]) -> Place:
    """Write down where a pad begins and ends; the place in what is padded."""
    pairs, source = unpadded(step.params["template"], shape, place, inner)
    for cut, i in pairs:
        if i.axis is not None:
            for mark in (cut.start, cut.start + cut.length):
                if i.scale > 0:  # the first counter with scale * counter + shift >= mark
                    edges[i.axis].add(-((i.shift - mark) // i.scale))
                else:  # the first counter with scale * counter + shift < mark
                    edges[i.axis].add((i.shift - mark) // -i.scale + 1)
    return source
