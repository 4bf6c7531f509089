"""Loops that several threads share: ranges of the first axis, and sums put together in a fixed order."""

from __future__ import annotations

from typing import Any

from .elements import load, store
from .emit import Emitter, Module, literal, llvm_type, memory_type
from .groups import combined
from .loops import by_vectors, counted


def fill_memory(e: Emitter, module: Module, address: str, number: str, dtype: Any, size: int) -> None:
    """Set `size` elements from an address on."""
    inside = Emitter(module)
    kind = llvm_type(dtype)

    def body(i: str) -> None:
        spot = inside.op(f"getelementptr inbounds {memory_type(dtype)}, ptr %p, i64 {i}")
        store(inside, spot, "%x", dtype)

    by_vectors(inside, 0, size, body)
    text = f"(ptr noalias %p, {kind} %x) nounwind {{\nentry:\n" + "\n".join(inside.lines) + "\n  ret void\n}"
    name = module.function("fill", "internal void", text)
    e.do(f"call void @{name}(ptr {address}, {kind} {number})")


def combine_chunks(kernel: Any, v: int, address: str, name: str, t: Any, chunks: int) -> None:
    """Put the chunks' shares of a reduction together, in order."""
    e = Emitter(kernel.module)
    kind = memory_type(t.dtype)

    def chunk(c: str) -> None:
        first = e.op(f"mul nsw i64 {c}, {t.size}")

        def element(k: str) -> None:
            place = e.op(f"add nsw i64 {first}, {k}")
            source = e.op(f"getelementptr inbounds {kind}, ptr %from, i64 {place}")
            target = e.op(f"getelementptr inbounds {kind}, ptr %to, i64 {k}")
            new = combined(e, name, t.dtype, load(e, target, t.dtype), load(e, source, t.dtype))
            store(e, target, new, t.dtype)

        counted(e, "0", str(t.size), element)

    counted(e, "0", str(chunks), chunk)
    text = "(ptr noalias %to, ptr noalias %from) nounwind {\nentry:\n" + "\n".join(e.lines) + "\n  ret void\n}"
    found = kernel.module.function("combine", "internal void", text)
    kernel.e.do(f"call void @{found}(ptr {kernel.pointer(v)}, ptr {address})")


def chunk_body(
    kernel: Any, name: str, keys: list[Any], low: int, high: int, rows: int, reduced: list[int], start: Any
) -> str:
    """`void body(ptr context, i64 chunk)`: reads the pointers, finds the range, starts its own sums."""
    e = Emitter(kernel.module)
    types = kernel.plan.types
    first = e.op(f"mul nsw i64 %chunk, {rows}")
    first = first if low == 0 else e.op(f"add nsw i64 {first}, {low}")
    end = e.op(f"add nsw i64 {first}, {rows}")
    short = e.op(f"icmp slt i64 {end}, {high}")
    end = e.op(f"select i1 {short}, i64 {end}, i64 {high}")
    args = [f"i64 {first}", f"i64 {end}"]
    for k, key in enumerate(keys):
        spot = e.op(f"getelementptr i8, ptr %context, i64 {8 * k}")
        t = types[key[1]]
        if key[0] != "pointer":
            args.append(f"{llvm_type(t.dtype)} {load(e, spot, t.dtype)}")
            continue
        address = e.op(f"load ptr, ptr {spot}")
        if key[1] in reduced:
            shift = e.op(f"mul nsw i64 %chunk, {t.size}")
            address = e.op(f"getelementptr {memory_type(t.dtype)}, ptr {address}, i64 {shift}")
            fill_memory(e, kernel.module, address, literal(start(key[1]), t.dtype), t.dtype, t.size)
        args.append(f"ptr {address}")
    e.do(f"call void @{name}({', '.join(args)})")
    text = "(ptr %context, i64 %chunk) nounwind {\nentry:\n" + "\n".join(e.lines) + "\n  ret void\n}"
    return kernel.module.function("chunk", "internal void", text)
