"""Loops that several threads share: ranges of the first axis, and sums put together in a fixed order."""

from __future__ import annotations

from collections.abc import Mapping

from ...core.entry.algebra import Monoid
from ..assembly.counted_loop import counted
from ..assembly.emit import Emitter
from ..assembly.kinds import I8, I64, POINTER, VOID, memory_kind
from ..assembly.values import Function, Parameter, Value, literal, number
from .elements import load, store
from .filling import fill_memory
from .kernel_function import KernelFunction
from .loops import Asked, Resources
from .reductions import combined


def call_parallel(
    kernel: KernelFunction,
    loop: Function,
    resources: Resources,
    span: tuple[int, int],
    rows: int,
    reduced: Mapping[int, Monoid],
) -> None:
    """Call a loop function for ranges of its first axis, by several threads; sums are put together in order."""
    e, (low, high), types = kernel.e, span, kernel.plan.types
    chunks = -(-(high - low) // rows)
    asked = list(resources.asked)
    context = kernel.scratch(8 * len(asked))
    partial = {v: kernel.scratch(chunks * types[v].size * types[v].dtype.itemsize) for v in reduced}
    for place, (v, k) in enumerate(asked):
        spot = e.address(I8, context, 8 * place, flags="")
        if k is None:
            e.store(partial.get(v) or kernel.pointer(v), spot)
        else:
            store(e, spot, kernel.register(v, k), types[v].dtype)
    body = _chunk_body(kernel, loop, asked, low, high, rows, reduced)
    run = kernel.module.declare("adjoint_parallel", VOID, POINTER, POINTER, I64)
    e.call(run, body, context, number(chunks, I64))
    for v, address in partial.items():
        _combine_chunks(kernel, v, reduced[v], address, chunks)


def _combine_chunks(kernel: KernelFunction, v: int, monoid: Monoid, address: Value, chunks: int) -> None:
    """Put the chunks' shares of a reduction together, in order."""
    e = Emitter(kernel.module)
    t = kernel.plan.types[v]
    kind = memory_kind(t.dtype)
    to, source = Parameter("%to", POINTER, "noalias"), Parameter("%from", POINTER, "noalias")

    def chunk(c: Value) -> None:
        first = e.op("mul", c, t.size, "nsw")

        def element(k: Value) -> None:
            place = e.op("add", first, k, "nsw")
            share = e.address(kind, source, place)
            target = e.address(kind, to, k)
            new = combined(e, monoid, t.dtype, load(e, target, t.dtype), load(e, share, t.dtype))
            store(e, target, new, t.dtype)

        counted(e, 0, t.size, element)

    counted(e, 0, chunks, chunk)
    e.give()
    kernel.e.call(e.define("combine", (to, source)), kernel.pointer(v), address)


def _chunk_body(
    kernel: KernelFunction,
    loop: Function,
    asked: list[Asked],
    low: int,
    high: int,
    rows: int,
    reduced: Mapping[int, Monoid],
) -> Function:
    """`void body(ptr context, i64 chunk)`: reads the pointers, finds the range, starts its own sums."""
    e = Emitter(kernel.module)
    types = kernel.plan.types
    context, chunk = Parameter("%context", POINTER), Parameter("%chunk", I64)
    first = e.op("mul", chunk, rows, "nsw")
    first = first if low == 0 else e.op("add", first, low, "nsw")
    end = e.op("add", first, rows, "nsw")
    short = e.compare("slt", end, high)
    end = e.select(short, end, high)
    args = [first, end]
    for place, (v, k) in enumerate(asked):
        spot = e.address(I8, context, 8 * place, flags="")
        t = types[v]
        if k is not None:
            args.append(load(e, spot, t.dtype))
            continue
        address = e.load(POINTER, spot)
        if v in reduced:
            shift = e.op("mul", chunk, t.size, "nsw")
            address = e.address(memory_kind(t.dtype), address, shift, flags="")
            fill_memory(e, address, literal(reduced[v].identity(t.dtype), t.dtype), t.dtype, t.size)
        args.append(address)
    e.call(loop, *args)
    e.give()
    return e.define("chunk", (context, chunk))
