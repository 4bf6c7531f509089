"""Reading, writing and adding at places that are known only when the program runs."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..ir.program import Program, Step
from .elements import Elements
from .emit import llvm_type
from .indices import Loaded, Place, broadcast, constant, identity, row_major
from .loops import LoopFunction
from .scalar.casting import cast


class Holes(NamedTuple):
    """A key of full slices and neighbouring arrays of integers: where those stand, which they are, their shape."""

    axis: int
    arrays: tuple[int, ...]
    shape: tuple[int, ...]

    def read(self, whole: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of what the key reads from an array of this shape."""
        return (*whole[: self.axis], *self.shape, *whole[self.axis + len(self.arrays) :])


BEFORE = {"index": 1, "unindex": 1, "assign": 2, "last_writes": 0}
"""Arguments before the index arrays."""


def holes_of(program: Program, step: Step) -> Holes | None:
    """The index arrays of a step; None for a key that has anything else in it."""
    arrays = step.args[BEFORE[step.primitive.name] :]
    template, types = step.params["template"], [program.types[a] for a in arrays]
    places = [k for k, entry in enumerate(template) if repr(entry) == "<array>"]
    if not places or len(places) != len(arrays) or places[-1] - places[0] + 1 != len(places):
        return None
    if any([t.dtype.name != "int64" for t in types]):
        return None
    rest = [entry for k, entry in enumerate(template) if k not in places]
    if not all([isinstance(entry, slice) and entry == slice(None) for entry in rest]):
        return None
    found = Holes(places[0], arrays, np.broadcast_shapes(*[t.shape for t in types]))
    return found if 0 not in whole_shape(program, step) else None


def whole_shape(program: Program, step: Step) -> tuple[int, ...]:
    """The shape of the array that is read from or written to."""
    if step.primitive.name == "last_writes":
        return tuple(step.params["shape"])
    return program.types[step.args[0] if step.primitive.name == "index" else step.outs[0]].shape


def gather(kernel: Any, step: Step) -> None:
    """`index` with arrays of places, `take_along`."""
    plan = kernel.plan
    (v,), x = step.outs, step.args[0]
    shape, source = plan.types[v].shape, plan.types[x].shape

    def body(f: LoopFunction, place: Place, bad: str) -> str:
        e = f.elements
        spot, bad = _spot(kernel, step, e, place, source, bad)
        e.store(v, place, e.at(x, spot))
        return bad

    _checked(kernel, shape, v, body)


def scatter(kernel: Any, step: Step) -> None:
    """`unindex` with arrays of places, `put_along`: values are added up."""
    plan = kernel.plan
    (v,), g = step.outs, step.args[0]
    t = plan.types[v]
    add = f"{'fadd' if t.dtype.kind == 'f' else 'add'} {llvm_type(t.dtype)}"
    kernel.fill(v, 0)

    def body(f: LoopFunction, place: Place, bad: str) -> str:
        e = f.elements
        spot, bad = _spot(kernel, step, e, place, t.shape, bad)
        e.store(v, spot, e.e.op(f"{add} {e.load(v, spot)}, {e.at(g, place)}"))
        return bad

    _checked(kernel, plan.types[g].shape, v, body)


def write(kernel: Any, step: Step) -> None:
    """`assign` with arrays of places, into what is there already: one after the other, so that the last one stays."""
    plan = kernel.plan
    (v,), value = step.outs, step.args[1]
    t, have = plan.types[v], plan.types[value]
    holes = holes_of(kernel.program, step)
    assert holes is not None

    def body(f: LoopFunction, place: Place, bad: str) -> str:
        e = f.elements
        spot, bad = _spot(kernel, step, e, place, t.shape, bad)
        e.store(v, spot, cast(e.e, e.at(value, broadcast(place, have.shape)), have.dtype, t.dtype))
        return bad

    _checked(kernel, holes.read(t.shape), v, body)


def last_writes(kernel: Any, step: Step) -> None:
    """Which of several writes to one place stays: each writes its number on a board, and looks whether it is there."""
    (v,) = step.outs
    whole = tuple(step.params["shape"])
    read = kernel.plan.types[v].shape
    board = kernel.scratch(8 * math.prod(whole))

    def cell(f: LoopFunction, place: Place, bad: str) -> tuple[str, str, str]:
        e = f.elements
        spot, bad = _spot(kernel, step, e, place, whole, bad)
        there = e.e.op(f"getelementptr inbounds i64, ptr %board, i64 {e.offset(spot, row_major(whole))}")
        return there, e.offset(place, row_major(read)), bad

    def put(f: LoopFunction, place: Place, bad: str) -> str:
        there, number, bad = cell(f, place, bad)
        f.e.do(f"store i64 {number}, ptr {there}")
        return bad

    def look(f: LoopFunction, place: Place, bad: str) -> str:
        there, number, bad = cell(f, place, bad)
        found = f.e.op(f"load i64, ptr {there}")
        f.elements.store(v, place, f.e.op(f"icmp eq i64 {found}, {number}"))
        return bad

    for body in (put, look):
        _checked(kernel, read, v, body, "ptr %board", f"ptr {board}")


def _spot(kernel: Any, step: Step, e: Elements, place: Place, shape: tuple[int, ...], bad: str) -> tuple[Place, str]:
    """Where in the whole array an element of the part is."""
    plan = kernel.plan
    if step.primitive.name in ("take_along", "put_along"):
        places = step.args[1]
        axis = step.params["axis"] % len(shape)
        where = tuple([constant(0) if n == 1 else i for n, i in zip(plan.types[places].shape, place, strict=True)])
        index, bad = _inside(e, e.at(places, where), shape[axis], bad)
        return (*place[:axis], index, *place[axis + 1 :]), bad
    holes = holes_of(kernel.program, step)
    assert holes is not None
    axis, rank = holes.axis, len(holes.shape)
    found: list[Any] = []
    for k, places in enumerate(holes.arrays):
        where = broadcast(place[axis : axis + rank], plan.types[places].shape)
        index, bad = _inside(e, e.at(places, where), shape[axis + k], bad)
        found.append(index)
    return (*place[:axis], *found, *place[axis + rank :]), bad


def _inside(e: Elements, index: str, length: int, bad: str) -> tuple[Loaded, str]:
    """An index counted from the end made one from the start; one that is out of bounds is noted and set to 0."""
    op = e.e.op
    e.scattered += 1  # no vectors
    negative = op(f"icmp slt i64 {index}, 0")
    wrapped = op(f"add i64 {index}, {length}")
    found = op(f"select i1 {negative}, i64 {wrapped}, i64 {index}")
    outside = op(f"icmp uge i64 {found}, {length}")
    safe = op(f"select i1 {outside}, i64 0, i64 {found}")
    return Loaded(safe), op(f"or i1 {bad}, {outside}")


def _checked(kernel: Any, shape: tuple[int, ...], written: int, body: Any, extra: str = "", given: str = "") -> None:
    """A loop that says in the end whether an index was out of bounds."""
    if 0 in shape:
        return
    f = LoopFunction(kernel.module, kernel.plan, kernel.elements.level)
    f.resources.written = {written}
    e = f.e
    flag = e.op("alloca i8")
    e.do(f"store i8 0, ptr {flag}")
    ranges = [(0, n) for n in shape] or [(0, 1)]

    def inside(place: Place) -> None:
        spot = identity(len(shape)) if shape else ()
        found = body(f, spot, "false")
        had = e.op(f"load i8, ptr {flag}")
        new = e.op(f"zext i1 {found} to i8")
        e.do(f"store i8 {e.op(f'or i8 {had}, {new}')}, ptr {flag}")

    f.nest(ranges, inside)
    found = e.op(f"load i8, ptr {flag}")
    bad = e.op(f"icmp ne i8 {found}, 0")
    name = f.end("gather", extra, result="i1", value=bad)
    kernel.check(kernel.call(name, f.resources, "i1", given), 2)
