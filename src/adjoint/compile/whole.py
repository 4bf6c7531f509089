"""Operations that are not elementwise: joins, assignments, running sums; products, gathers and loops elsewhere."""

from __future__ import annotations

import math
from typing import Any

from ..ir.program import Step
from .emit import llvm_type
from .gathers import gather, last_writes, scatter, write
from .indices import Place, constant, cuts, identity
from .loops import LoopFunction, counted
from .products import product
from .registers import all_places
from .scalar.casting import cast

FEW = 4
"""Elements that are written one by one, without a loop."""


def whole(kernel: Any, step: Step) -> None:
    """Write the code of a step that is not elementwise."""
    name = step.primitive.name
    if name in ("matmul", "contract"):
        product(kernel, step)
    elif name in ("concatenate", "stack"):
        _join(kernel, step)
    elif name in ("assign", "accumulate"):
        _assign(kernel, step)
    elif name == "zeros":
        kernel.fill(step.outs[0], 0)
    elif name == "unindex" and len(step.args) == 1:
        kernel.fill(step.outs[0], 0)
        _write_region(kernel, step, step.args[0])
    elif name == "last_writes":
        last_writes(kernel, step)
    elif name == "cumsum":
        _running_sum(kernel, step)
    elif name in ("unindex", "put_along"):
        scatter(kernel, step)
    elif name in ("index", "take_along"):
        gather(kernel, step)
    else:
        from .control import loop

        loop(kernel, step)


def loop_over(kernel: Any, shape: tuple[int, ...], written: int, body: Any, stem: str) -> None:
    """A loop over a shape, called at once; `body(elements, place)` writes its inside."""
    f = LoopFunction(kernel.module, kernel.plan, kernel.elements.level)
    f.resources.written = {written}
    if 0 in shape:
        return
    f.nest([(0, n) for n in shape] or [(0, 1)], lambda place: body(f.elements, place if shape else ()))
    kernel.call(f.end(stem), f.resources)
    size = 1
    for n in shape:
        size *= n
    kernel.work += 2 * size


def _join(kernel: Any, step: Step) -> None:
    plan = kernel.plan
    (v,) = step.outs
    rank = len(plan.types[v].shape)
    axis, start = step.params["axis"] % rank, 0
    for a in step.args:
        shape = plan.types[a].shape
        wide = (*shape[:axis], 1, *shape[axis:]) if step.primitive.name == "stack" else shape

        def body(e: Any, place: Place, a: int = a, start: int = start) -> None:
            target = tuple([i.moved(1, start) if k == axis else i for k, i in enumerate(place)])
            source = (*place[:axis], *place[axis + 1 :]) if step.primitive.name == "stack" else place
            e.store(v, target, e.at(a, source))

        loop_over(kernel, wide, v, body, "join")
        start += wide[axis]


def _assign(kernel: Any, step: Step) -> None:
    plan = kernel.plan
    (v,), x = step.outs, step.args[0]
    t, have = plan.types[v], plan.types[x]
    if _may_write_over(kernel, step):
        kernel.shares[v] = x
    else:
        loop_over(kernel, t.shape, v, lambda e, p: e.store(v, p, cast(e.e, e.at(x, p), have.dtype, t.dtype)), "copy")
    if len(step.args) > 2:
        write(kernel, step)
    else:
        _write_region(kernel, step, step.args[1])


def _may_write_over(kernel: Any, step: Step) -> bool:
    """Whether nobody reads the old array any more: then the new one takes its memory."""
    plan = kernel.plan
    (v,), x = step.outs, step.args[0]
    if x not in plan.maker or not plan.in_memory(x) or x in plan.program.outputs or v in plan.program.outputs:
        return False
    if plan.types[x].dtype != plan.types[v].dtype or x == step.args[1]:
        return False
    level = plan.level[v]
    if x in plan.lazy and plan.level[x] >= level:  # it is stored only later, for somebody else
        return False
    for reader in plan.readers.get(x, ()):
        if reader is not step:
            tiny = all([o in plan.tiny for o in reader.outs]) and bool(reader.outs)
            if not tiny or max([plan.level[o] for o in reader.outs]) > level:
                return False
    return plan.layout(step.args[1]) is None or plan.layout(step.args[1])[0] != x


def _write_region(kernel: Any, step: Step, value: int) -> None:
    """Write a value to the places a key of slices and numbers names."""
    plan = kernel.plan
    (v,) = step.outs
    t, have = plan.types[v], plan.types[value]
    found = cuts(step.params["template"], t.shape)
    assert found is not None
    region = tuple([1 if a is None else found[0][a].length for a in found[1]])

    def body(e: Any, place: Place) -> None:
        target: list[Any] = [constant(c.start) for c in found[0]]
        for i, a in zip(place, found[1], strict=True):
            if a is not None:
                target[a] = i.moved(found[0][a].step, found[0][a].start)
        source = place[len(place) - len(have.shape) :] if len(have.shape) <= len(place) else place
        source = (constant(0),) * (len(have.shape) - len(source)) + source
        source = tuple([constant(0) if n == 1 else i for n, i in zip(have.shape, source, strict=True)])
        new = cast(e.e, e.at(value, source), have.dtype, t.dtype)
        if step.primitive.name == "accumulate":
            new = e.e.op(f"fadd {llvm_type(t.dtype)} {e.load(v, tuple(target))}, {new}")
        e.store(v, tuple(target), new)

    if math.prod(region) <= FEW:
        for place in all_places(region):
            body(kernel.elements, place)
    else:
        loop_over(kernel, region, v, body, "write")


def _running_sum(kernel: Any, step: Step) -> None:
    """`cumsum` along one axis: the axis is the innermost loop, its sum stays in a register."""
    plan = kernel.plan
    (v,), (x,) = step.outs, step.args
    t = plan.types[v]
    axis = step.params["axis"] % len(t.shape)
    f = LoopFunction(kernel.module, plan, kernel.elements.level)
    f.resources.written = {v}
    if t.size == 0:
        return
    e, elements = f.e, f.elements
    elements.variables = [""] * len(t.shape)
    elements.ranges = [(0, n) for n in t.shape]
    order = [k for k in range(len(t.shape)) if k != axis]
    kind = llvm_type(t.dtype)
    add = "fadd" if t.dtype.kind == "f" else "add"

    def level(depth: int) -> None:
        if depth < len(order):
            counted(e, "0", str(t.shape[order[depth]]), lambda i: enter(depth, i))
            return

        def term(i: str, total: str) -> list[str]:
            elements.variables[axis] = i
            elements.forget()
            place = identity(len(t.shape))
            new = e.op(f"{add} {kind} {total}, {elements.at(x, place)}")
            elements.store(v, place, new)
            return [new]

        counted(e, "0", str(t.shape[axis]), term, carried=[(kind, "-0.0" if add == "fadd" else "0")])

    def enter(depth: int, i: str) -> None:
        elements.variables[order[depth]] = i
        level(depth + 1)

    level(0)
    kernel.call(f.end("running"), f.resources)
