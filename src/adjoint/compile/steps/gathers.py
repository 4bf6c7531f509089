"""Reading, writing and adding at places that are known only when the program runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from ...ir.program import Step
from ..assembly.kinds import I1, I8, I64, POINTER, VOID
from ..assembly.values import FALSE, Parameter, Value, number
from ..code.elements import Elements
from ..code.kernel_function import KernelFunction
from ..code.loops import LoopFunction
from ..program.indices import ZERO, Index, Loaded, Place, broadcast, identity, row_major, through
from ..program.moving import addressed_of, addresses_of
from ..program.placement import Memory
from ..scalar.casting import cast

MOVE = "llvm.memcpy.p0.p0.i64"
Inside = Callable[[LoopFunction, Place, Value], Value]
"""Writes the inside of a loop at a place, given whether an index was out of bounds so far; whether one is now."""


def gather(kernel: KernelFunction, step: Step) -> None:
    """`index` with arrays of places, `take_along`."""
    plan = kernel.plan
    (v,), x = step.outs, step.args[0]
    shape, source = plan.types[v].shape, plan.types[x].shape

    rows = _rows(kernel, step)

    def body(f: LoopFunction, place: Place, bad: Value) -> Value:
        e = f.elements
        place = (*place, *[ZERO] * rows)
        spot, bad = _spot(kernel, step, e, place, source, bad)
        if rows:
            size = plan.types[v].dtype.itemsize * math.prod(shape[-rows:])
            f.e.call(
                f.e.module.declare(MOVE, VOID, POINTER, POINTER, I64, I1),
                e.address(v, place),
                e.address(x, spot),
                number(size, I64),
                FALSE,
            )
        else:
            e.store(v, place, e.at(x, spot))
        return bad

    _checked(kernel, shape[: len(shape) - rows], v, body)


def _rows(kernel: KernelFunction, step: Step) -> int:
    """How many of the last axes are read as they lie, at one place for all of them: these rows are moved as a whole."""
    plan = kernel.plan
    (v,), x = step.outs, step.args[0]
    addresses = addresses_of(plan.types, step)
    assert addresses is not None
    shape, source = plan.types[v].shape, plan.types[x].shape
    if 0 in (*shape, *source) or any([type(plan.placement[a]) is not Memory for a in (v, x)]):
        return 0
    lies = [plan.strides.get(a) or row_major(plan.types[a].shape) for a in (v, x)]
    rows = 0
    for back in range(1, min(len(shape), len(source)) + 1):
        where = addresses.whole[-back]
        axis = len(shape) - back
        same = where == Index(axis, 1, 0) and axis not in addresses.axes and shape[-back] == source[-back]
        if not same or any([s[-back] != row_major(t)[-back] for s, t in zip(lies, (shape, source), strict=True)]):
            break
        rows = back
    return rows


def scatter(kernel: KernelFunction, step: Step) -> None:
    """`unindex` with arrays of places, `put_along`: values are added up."""
    plan = kernel.plan
    (v,), g = step.outs, step.args[0]
    t = plan.types[v]
    add = "fadd" if t.dtype.kind == "f" else "add"
    kernel.fill(v, 0)

    def body(f: LoopFunction, place: Place, bad: Value) -> Value:
        e = f.elements
        spot, bad = _spot(kernel, step, e, place, t.shape, bad)
        e.store(v, spot, e.e.op(add, e.load(v, spot), e.at(g, place)))
        return bad

    _checked(kernel, plan.types[g].shape, v, body)


def write(kernel: KernelFunction, step: Step) -> None:
    """`assign` with arrays of places, into what is there already: one after the other, so that the last one stays."""
    plan = kernel.plan
    (v,), value = step.outs, step.args[1]
    t, have = plan.types[v], plan.types[value]
    found = addresses_of(plan.types, step)
    assert found is not None

    def body(f: LoopFunction, place: Place, bad: Value) -> Value:
        e = f.elements
        spot, bad = _spot(kernel, step, e, place, t.shape, bad)
        e.store(v, spot, cast(e.e, e.at(value, broadcast(place, have.shape)), have.dtype, t.dtype))
        return bad

    _checked(kernel, found.part, v, body)


def last_writes(kernel: KernelFunction, step: Step) -> None:
    """Which of several writes to one place stays: each writes its number on a board, and looks whether it is there."""
    (v,) = step.outs
    whole = tuple(step.params["shape"])
    read = kernel.plan.types[v].shape
    board = kernel.scratch(8 * math.prod(whole))
    on_board = Parameter("%board", POINTER)

    def cell(f: LoopFunction, place: Place, bad: Value) -> tuple[Value, Value, Value]:
        e = f.elements
        spot, bad = _spot(kernel, step, e, place, whole, bad)
        there = e.e.address(I64, on_board, e.offset(spot, row_major(whole)))
        return there, number(e.offset(place, row_major(read)), I64), bad

    def put(f: LoopFunction, place: Place, bad: Value) -> Value:
        there, turn, bad = cell(f, place, bad)
        f.e.store(turn, there)
        return bad

    def look(f: LoopFunction, place: Place, bad: Value) -> Value:
        there, turn, bad = cell(f, place, bad)
        found = f.e.load(I64, there)
        f.elements.store(v, place, f.e.compare("eq", found, turn))
        return bad

    for body in (put, look):
        _checked(kernel, read, v, body, {on_board: board})


def _spot(
    kernel: KernelFunction, step: Step, e: Elements, place: Place, shape: tuple[int, ...], bad: Value
) -> tuple[Place, Value]:
    """Where in the whole array an element of the part is."""
    types = kernel.plan.types
    addresses = addresses_of(types, step)
    assert addresses is not None
    arrays = step.args[addressed_of(step).first :]
    here = tuple([place[k] for k in addresses.axes])
    found: list[Index | Loaded] = []
    for n, where in zip(shape, addresses.whole, strict=True):
        if isinstance(where, Index):
            found += through((where,), place)
        else:
            array = arrays[where]
            index, bad = _inside(e, e.at(array, broadcast(here, types[array].shape)), n, bad)
            found.append(index)
    return tuple(found), bad


def _inside(e: Elements, index: Value, length: int, bad: Value) -> tuple[Loaded, Value]:
    """An index counted from the end made one from the start; one that is out of bounds is noted and set to 0."""
    e.scattered += 1  # no vectors
    negative = e.e.compare("slt", index, 0)
    wrapped = e.e.op("add", index, length)
    found = e.e.select(negative, wrapped, index)
    outside = e.e.compare("uge", found, length)
    safe = e.e.select(outside, 0, found)
    return Loaded(safe), e.e.op("or", bad, outside)


def _checked(
    kernel: KernelFunction, shape: tuple[int, ...], written: int, body: Inside, extra: Mapping[Parameter, Value] = {}
) -> None:
    """A loop that says in the end whether an index was out of bounds; `extra` is what it is given besides."""
    if 0 in shape:
        return
    f = LoopFunction(kernel.module, kernel.plan, kernel.elements.level)
    f.resources.written = {written}
    e = f.e
    flag = e.allocate(I8)
    e.store(number(0, I8), flag)
    ranges = [(0, n) for n in shape] or [(0, 1)]

    def inside(place: Place) -> None:
        spot = identity(len(shape)) if shape else ()
        found = body(f, spot, FALSE)
        had = e.load(I8, flag)
        new = e.convert("zext", found, I8)
        e.store(e.op("or", had, new), flag)

    f.nest(ranges, inside)
    found = e.load(I8, flag)
    bad = e.compare("ne", found, 0)
    loop = f.end("gather", tuple(extra), bad)
    kernel.check(kernel.call(loop, f.resources, *extra.values()), 2)
