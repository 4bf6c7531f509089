"""Operations that are not elementwise: joins, assignments, running sums; products, gathers and loops elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...core.entry.moves import ADDS, MARKS, READS, WRITES, Overwrite, Pad, Piece, Pieces
from ...ir.program import Step
from ...ops import UFUNCS
from ...ops.words import random_words
from ..assembly.counted_loop import counted
from ..assembly.kinds import register_kind
from ..assembly.values import Constant, Value, literal
from ..code.elements import Elements
from ..code.kernel_function import KernelFunction
from ..code.loops import LoopFunction
from ..code.tiny_steps import all_places
from ..lanes.loop import across
from ..lanes.nodes import EXAMPLES
from ..program.calls import CALL
from ..program.factors import ROUTINES
from ..program.indices import Place, constant, identity, through
from ..program.moving import ACCUMULATE, ZEROS, addressed_of, is_addressed, monoid_of, pieces_of, region_of
from ..program.placement import Memory
from ..scalar.casting import cast
from ..scalar.kernels import scalar_of
from .calls import call
from .control import loop
from .factors import routine
from .gathers import gather, last_writes, scatter, write
from .products import product
from .words import words

FEW = 4
"""Elements that are written one by one, without a loop."""


def whole(kernel: KernelFunction, step: Step) -> None:
    """Write the code of a step that is not elementwise."""
    facts = step.primitive.facts
    if is_addressed(step):
        {READS: gather, ADDS: scatter, WRITES: _assign, MARKS: last_writes}[addressed_of(step).does](kernel, step)
    elif facts.contracts is not None:
        product(kernel, step)
    elif isinstance(facts.moves, Pieces):
        _join(kernel, step)
    elif isinstance(facts.moves, Overwrite):
        _assign(kernel, step)
    elif isinstance(facts.moves, Pad):
        kernel.fill(step.outs[0], 0)
        _write_region(kernel, step, step.args[0])
    elif step.primitive is ZEROS:
        kernel.fill(step.outs[0], 0)
    elif facts.accumulates is not None:
        _running(kernel, step)
    elif step.primitive is random_words:
        words(kernel, step)
    elif step.primitive is CALL:
        call(kernel, step)
    elif step.primitive is EXAMPLES:
        across(kernel, step)
    elif step.primitive in ROUTINES:
        routine(kernel, step)
    else:
        loop(kernel, step)


def loop_over(
    kernel: KernelFunction, shape: tuple[int, ...], written: int, body: Callable[[Elements, Place], None], stem: str
) -> None:
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


def _join(kernel: KernelFunction, step: Step) -> None:
    plan = kernel.plan
    (v,) = step.outs
    for piece in pieces_of(plan.types, step):

        def body(e: Elements, place: Place, piece: Piece = piece) -> None:
            e.store(v, through(piece.target, place), e.at(step.args[piece.operand], through(piece.source, place)))

        loop_over(kernel, piece.shape, v, body, "join")


def _assign(kernel: KernelFunction, step: Step) -> None:
    plan = kernel.plan
    (v,), x = step.outs, step.args[0]
    t, have = plan.types[v], plan.types[x]
    if _may_write_over(kernel, step):
        kernel.shares[v] = x
    else:
        loop_over(kernel, t.shape, v, lambda e, p: e.store(v, p, cast(e.e, e.at(x, p), have.dtype, t.dtype)), "copy")
    if is_addressed(step):
        write(kernel, step)
    else:
        _write_region(kernel, step, step.args[1])


def _may_write_over(kernel: KernelFunction, step: Step) -> bool:
    """Whether nobody reads the old array any more: then the new one takes its memory."""
    plan = kernel.plan
    (v,), x = step.outs, step.args[0]
    if x not in plan.maker or not isinstance(plan.placement[x], Memory) or {x, v} & set(plan.program.outputs):
        return False
    if plan.types[x].dtype != plan.types[v].dtype or x == step.args[1]:
        return False
    level = plan.level[v]
    if plan.is_computed(x, level):  # it is stored only later, for somebody else
        return False
    for reader in plan.readers.get(x, ()):
        if reader is not step:
            tiny = all([plan.in_registers(o) for o in reader.outs]) and bool(reader.outs)
            if not tiny or max([plan.level[o] for o in reader.outs]) > level:
                return False
    written = plan.layout(step.args[1])
    return written is None or written.base != x


def _write_region(kernel: KernelFunction, step: Step, value: int) -> None:
    """Write a value to the places a key of slices and numbers names."""
    plan = kernel.plan
    (v,) = step.outs
    t, have = plan.types[v], plan.types[value]
    region = region_of(plan.types, step)
    assert region is not None

    def body(e: Elements, place: Place) -> None:
        target = through(region.places, place)
        source = place[len(place) - len(have.shape) :] if len(have.shape) <= len(place) else place
        source = (constant(0),) * (len(have.shape) - len(source)) + source
        source = tuple([constant(0) if n == 1 else i for n, i in zip(have.shape, source, strict=True)])
        new = cast(e.e, e.at(value, source), have.dtype, t.dtype)
        if step.primitive is ACCUMULATE:
            new = e.e.op("fadd", e.load(v, target), new)
        e.store(v, target, new)

    if math.prod(region.shape) <= FEW:
        for place in all_places(region.shape):
            body(kernel.elements, place)
    else:
        loop_over(kernel, region.shape, v, body, "write")


def _running(kernel: KernelFunction, step: Step) -> None:
    """A running sum along one axis: the axis is the innermost loop, the sum stays in a register."""
    plan = kernel.plan
    (v,), (x,) = step.outs, step.args
    t = plan.types[v]
    axis = step.params["axis"] % len(t.shape)
    f = LoopFunction(kernel.module, plan, kernel.elements.level)
    f.resources.written = {v}
    if t.size == 0:
        return
    e, elements = f.e, f.elements
    elements.variables = [0] * len(t.shape)
    elements.ranges = [(0, n) for n in t.shape]
    order = [k for k in range(len(t.shape)) if k != axis]
    monoid = monoid_of(step)
    combine = scalar_of(UFUNCS[monoid.combines])
    is_sum = monoid.combines is np.add and t.dtype.kind == "f"
    start = (
        Constant("-0.0", register_kind(t.dtype)) if is_sum else literal(monoid.identity(t.dtype), t.dtype)
    )  # of negative zeros the sign stays

    def level(depth: int) -> None:
        if depth < len(order):
            counted(e, 0, t.shape[order[depth]], lambda i: enter(depth, i))
            return

        def term(i: Value, total: Value) -> list[Value]:
            elements.variables[axis] = i
            elements.forget()
            place = identity(len(t.shape))
            new = combine(e, [total, elements.at(x, place)], t.dtype)
            elements.store(v, place, new)
            return [new]

        counted(e, 0, t.shape[axis], term, carried=[start])

    def enter(depth: int, i: Value) -> None:
        elements.variables[order[depth]] = i
        level(depth + 1)

    level(0)
    kernel.call(f.end("running"), f.resources)
