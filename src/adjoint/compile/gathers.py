"""Reading and adding at places that are known only when the program runs."""

from __future__ import annotations

from typing import Any

from ..ir.program import Program, Step
from .elements import Elements
from .indices import Loaded, Place, constant, identity
from .loops import LoopFunction


def gathered_axis(program: Program, step: Step) -> int | None:
    """The axis along which a key of full slices and one array of integers reads; None for any other key."""
    template, shape = step.params["template"], _whole_shape(program, step)
    holes = [entry for entry in template if repr(entry) == "<array>"]
    if len(holes) != 1 or len(step.args) != 2 or program.types[step.args[1]].dtype.kind not in "i":
        return None
    if program.types[step.args[1]].dtype.name != "int64":
        return None
    axis = None
    for k, entry in enumerate(template):
        if entry is holes[0]:
            axis = k
        elif not (isinstance(entry, slice) and entry == slice(None)):
            return None
    return axis if axis is not None and shape[axis] > 0 else None


def _whole_shape(program: Program, step: Step) -> tuple[int, ...]:
    return program.types[step.args[0] if step.primitive.name == "index" else step.outs[0]].shape


def gather(kernel: Any, step: Step) -> None:
    """`index` with an array of places, `take_along`."""
    plan = kernel.plan
    (v,), (x, places) = step.outs, step.args
    shape, source = plan.types[v].shape, plan.types[x].shape

    def body(f: LoopFunction, place: Place, bad: str) -> str:
        e = f.elements
        spot, bad = _spot(kernel, step, e, place, source, bad)
        e.store(v, place, e.at(x, spot))
        return bad

    _checked(kernel, shape, v, body)


def scatter(kernel: Any, step: Step) -> None:
    """`unindex` with an array of places, `put_along`: values are added up."""
    plan = kernel.plan
    (v,), (g, _) = step.outs, step.args
    t = plan.types[v]
    kernel.fill(v, 0)

    def body(f: LoopFunction, place: Place, bad: str) -> str:
        e = f.elements
        spot, bad = _spot(kernel, step, e, place, t.shape, bad)
        kind = (
            "fadd double"
            if t.dtype.name == "float64"
            else "fadd float"
            if t.dtype.kind == "f"
            else f"add i{8 * t.dtype.itemsize}"
        )
        e.store(v, spot, e.e.op(f"{kind} {e.load(v, spot)}, {e.at(g, place)}"))
        return bad

    _checked(kernel, plan.types[g].shape, v, body)


def _spot(kernel: Any, step: Step, e: Elements, place: Place, shape: tuple[int, ...], bad: str) -> tuple[Place, str]:
    """Where in the whole array an element of the part is."""
    plan = kernel.plan
    places = step.args[1]
    rank = len(plan.types[places].shape)
    if step.primitive.name in ("take_along", "put_along"):
        axis = step.params["axis"] % len(shape)
        where = tuple([constant(0) if n == 1 else i for n, i in zip(plan.types[places].shape, place, strict=True)])
        index, bad = _inside(e, e.at(places, where), shape[axis], bad)
        return (*place[:axis], index, *place[axis + 1 :]), bad
    axis = gathered_axis(kernel.program, step)
    assert axis is not None
    index, bad = _inside(e, e.at(places, place[axis : axis + rank]), shape[axis], bad)
    return (*place[:axis], index, *place[axis + rank :]), bad


def _inside(e: Elements, index: str, length: int, bad: str) -> tuple[Loaded, str]:
    """An index counted from the end made one from the start; one that is out of bounds is noted and set to 0."""
    op = e.e.op
    negative = op(f"icmp slt i64 {index}, 0")
    wrapped = op(f"add i64 {index}, {length}")
    found = op(f"select i1 {negative}, i64 {wrapped}, i64 {index}")
    outside = op(f"icmp uge i64 {found}, {length}")
    safe = op(f"select i1 {outside}, i64 0, i64 {found}")
    return Loaded(safe), op(f"or i1 {bad}, {outside}")


def _checked(kernel: Any, shape: tuple[int, ...], written: int, body: Any) -> None:
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
    name = f.end("gather", result="i1", value=bad)
    kernel.check(kernel.call(name, f.resources, "i1"), 2)
