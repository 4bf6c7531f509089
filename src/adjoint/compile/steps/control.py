"""Loops and choices whose bodies are programs: each body becomes a kernel, called from machine code."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...ir.loops import CondOperands, Operands, PullOperands, ScanOperands, WhileOperands
from ...ir.program import Program, Step, Type, decides
from ..assembly.counted_loop import counted
from ..assembly.kinds import I8, I64, memory_kind
from ..assembly.values import NULL, Value, number
from ..code.kernel_function import KernelFunction
from ..program.loop_checks import record_of, sliced
from .bodies import TINY_BYTES, BodyCaller, in_rows, row, size_of, without
from .sweeps import pull


def loop(kernel: KernelFunction, step: Step) -> None:
    """Write the code of a loop or a choice."""
    WRITERS[record_of(step)](kernel, step)


def _scan(kernel: KernelFunction, step: Step) -> None:
    params, length, operands = step.params, step.params["length"], ScanOperands.of(step)
    types = operands.map(lambda a: kernel.plan.types[a], stacked=lambda a: sliced(kernel.plan.types[a]))
    carries, n_carry = types.carry, len(types.carry)
    kept = {} if params.get("reverse") else _kept(params["body"], carries)
    body = kernel.body(without(params["body"], kept))
    f = BodyCaller(kernel)
    given = operands.map(lambda a: f.take(in_rows(kernel, a)))
    ends = [f.take(kernel.pointer(o)) for o in step.outs]
    large = [size_of(t) > TINY_BYTES for t in carries]
    now = [NULL if k in kept else f.buffer(t) for k, t in enumerate(carries)]
    new = [NULL if k in kept else f.buffer(t) for k, t in enumerate(carries)]
    for k, t in enumerate(carries):
        if k not in kept:
            f.copy(now[k], given.carry[k], t)
    pieces = [sliced(kernel.plan.types[o]) for o in step.outs[n_carry:]]

    def inside(i: Value) -> None:
        e = f.e
        odd = e.compare("ne", e.op("and", i, 1), 0)
        begins = e.compare("eq", i, 0)
        before = e.op("sub", i, 1, "nsw")
        if params.get("reverse"):
            i = e.op("sub", length - 1, i, "nsw")
        here, there = list(now), list(new)
        for k, t in enumerate(carries):
            if k in kept:  # what was kept of it last time
                last = row(e, ends[n_carry + kept[k]], t, before)
                here[k] = e.select(begins, given.carry[k], last)
            elif large[k]:  # two pieces of memory take turns
                here[k] = e.select(odd, new[k], now[k])
                there[k] = e.select(odd, now[k], new[k])
        rows = [row(e, p, t, i) for p, t in zip(given.xs, types.xs, strict=True)]
        outs = [row(e, p, t, i) for p, t in zip(ends[n_carry:], pieces, strict=True)]
        f.run(body, [*given.consts, *here, *rows, *[p for k, p in enumerate(there) if k not in kept], *outs])
        for k, t in enumerate(carries):
            if k not in kept and not large[k]:
                f.copy(now[k], new[k], t)

    counted(f.e, 0, length, inside)
    for k, t in enumerate(carries):
        source = new[k] if large[k] and length % 2 else now[k]
        f.copy(ends[k], row(f.e, ends[n_carry + kept[k]], t, length - 1) if k in kept else source, t)
    f.finish("scan", has_guards=decides(step))
    kernel.work += length * (body.work + 5 + len(body.program.steps))


def _kept(body: Program, carries: Sequence[Type]) -> dict[int, int]:
    """Large carries that are kept in a stack as well, and in which one: the next step reads them there."""
    stacks = {o: k for k, o in enumerate(body.outputs[len(carries) :])}
    return {k: stacks[o] for k, (o, t) in enumerate(zip(body.outputs, carries, strict=False))
            if o in stacks and size_of(t) > TINY_BYTES}  # fmt: skip


def _while(kernel: KernelFunction, step: Step) -> None:
    params, operands = step.params, WhileOperands.of(step)
    asks, body = kernel.body(params["cond"]), kernel.body(params["body"])
    f = BodyCaller(kernel)
    given = operands.map(lambda a: f.take(in_rows(kernel, a)))
    carries = [kernel.plan.types[a] for a in operands.carry]
    ends = [f.take(kernel.pointer(o)) for o in step.outs]
    now = [f.buffer(t) for t in carries]
    new = [f.buffer(t) for t in carries]
    e = f.e
    flag = e.allocate(I8)
    f.copy_all(carries, now, given.carry)
    e.store(number(0, I64), ends[-1])
    head, inside, done = e.label("while"), e.label("do"), e.label("end")
    e.jump(head)
    e.start(head)
    f.run(asks, [*given.cond_consts, *now, flag])
    goes_on = e.compare("ne", e.load(I8, flag), 0)
    e.branch(goes_on, inside, done)
    e.start(inside)
    f.run(body, [*given.body_consts, *now, *new])
    f.copy_all(carries, now, new)
    count = e.op("add", e.load(I64, ends[-1]), 1, "nuw nsw")
    e.store(count, ends[-1])
    e.jump(head)
    e.start(done)
    f.copy_all(carries, ends[: len(carries)], now)
    f.finish("while")
    kernel.module.is_unbounded = True
    kernel.work += 100_000 + 100 * body.work  # nobody knows


def _cond(kernel: KernelFunction, step: Step) -> None:
    branches = [kernel.body(b) for b in step.params["branches"]]
    f = BodyCaller(kernel)
    given = CondOperands.of(step).map(lambda a: f.take(in_rows(kernel, a)))
    ends = [f.take(kernel.pointer(o)) for o in step.outs]
    e = f.e
    kind = memory_kind(kernel.plan.types[step.args[0]].dtype)
    index = e.load(kind, given.choice[0])
    done = e.label("end")
    last = len(branches) - 1
    for k, body in enumerate(branches):
        after = e.label("next")
        if k < last:
            here = e.label("take")
            e.branch(e.compare("eq", index, k), here, after)
            e.start(here)
        f.run(body, [*given.given, *ends])
        e.jump(done)
        if k < last:
            e.start(after)
    e.start(done)
    f.finish("cond")
    kernel.work += max([b.work for b in branches])


WRITERS: dict[type[Operands], Callable[[KernelFunction, Step], None]] = {
    ScanOperands: _scan,
    WhileOperands: _while,
    PullOperands: pull,
    CondOperands: _cond,
}
