"""The inner parts of a matrix product: a block of rows times vectors of columns, and the call of BLAS."""

from __future__ import annotations

from typing import Any

from .blas import blas
from .emit import Emitter, llvm_type
from .loops import counted

LARGEST = 2**31
"""Distances up to which BLAS can count."""


def at(e: Emitter, kind: str, pointer: str, *steps: tuple[str, int]) -> str:
    """A pointer moved by indices times strides."""
    total = ""
    for i, s in steps:
        if s == 0 or i == "0":
            continue
        term = i if s == 1 else str(int(i) * s) if i.isdigit() else e.op(f"mul nsw i64 {i}, {s}")
        total = term if not total else e.op(f"add nsw i64 {total}, {term}")
    return pointer if not total else e.op(f"getelementptr inbounds {kind}, ptr {pointer}, i64 {total}")


def tile(e: Emitter, p: Any, a: str, b: str, c: str, row: str, rows: int, column: str, w: int, width: int) -> None:
    """`rows` x `w` elements of the result."""
    kind = llvm_type(p.dtype)
    step = min(width, 1 << (w - 1).bit_length())
    parts = -(-w // step)
    vector = f"<{step} x {kind}>"
    suffix = f"v{step}f{8 * p.dtype.itemsize}"
    fma = e.module.declare(f"llvm.fma.{suffix}", f"{vector} {{}}({vector}, {vector}, {vector})")
    rest = w - (parts - 1) * step

    def read(place: str, part: int) -> str:
        """A vector; of the last one perhaps only the first lanes are there."""
        if part < parts - 1 or rest == step:
            return e.op(f"load {vector}, ptr {place}, align {p.dtype.itemsize}")
        load = e.module.declare(f"llvm.masked.load.{suffix}.p0", f"{vector} {{}}(ptr, i32, <{step} x i1>, {vector})")
        return e.op(f"call {vector} {load}(ptr {place}, i32 {p.dtype.itemsize}, {mask}, {vector} zeroinitializer)")

    def write(value: str, place: str, part: int) -> None:
        if part < parts - 1 or rest == step:
            e.do(f"store {vector} {value}, ptr {place}, align {p.dtype.itemsize}")
            return
        store = e.module.declare(f"llvm.masked.store.{suffix}.p0", f"void {{}}({vector}, ptr, i32, <{step} x i1>)")
        e.do(f"call void {store}({vector} {value}, ptr {place}, i32 {p.dtype.itemsize}, {mask})")

    mask = f"<{step} x i1> <{', '.join([f'i1 {str(k < rest).lower()}' for k in range(step)])}>"

    def term(k: str, *sums: str) -> list[str]:
        row_of_b = at(e, kind, b, (k, p.inner.strides[1]), (column, p.columns.strides[1]))
        vectors = []
        for part in range(parts):
            place = at(e, kind, row_of_b, (str(part * step), 1))
            vectors.append(read(place, part))
        new = []
        for r in range(rows):
            place = at(e, kind, a, (row, p.rows.strides[0]), (str(r), p.rows.strides[0]), (k, p.inner.strides[0]))
            one = e.op(f"load {kind}, ptr {place}")
            first = e.op(f"insertelement {vector} poison, {kind} {one}, i64 0")
            spread = e.op(f"shufflevector {vector} {first}, {vector} poison, <{step} x i32> zeroinitializer")
            for part in range(parts):
                total = sums[r * parts + part]
                new.append(e.op(f"call {vector} {fma}({vector} {spread}, {vector} {vectors[part]}, {vector} {total})"))
        return new

    def spot(r: int, part: int) -> str:
        return at(
            e, kind, c,
            (row, p.rows.strides[2]), (str(r), p.rows.strides[2]), (column, p.columns.strides[2]),
            (str(part * step), 1),
        )  # fmt: skip

    zero = "zeroinitializer"
    starts = [read(spot(r, part), part) if p.adds else zero for r in range(rows) for part in range(parts)]
    sums = counted(e, "0", str(p.inner.length), term, carried=[(vector, s) for s in starts])
    for r in range(rows):
        for part in range(parts):
            write(sums[r * parts + part], spot(r, part), part)


def by_blas(e: Emitter, p: Any) -> Any:
    """BLAS counts columns first, so it is asked for the transposed product of the transposed operands."""
    kind = llvm_type(p.dtype)
    found = blas("dgemm" if kind == "double" else "sgemm")
    assert found is not None
    name, whole = found
    e.module.declare(name, "void {}(" + ", ".join(["ptr"] * 13) + ")")

    def of(text: str, value: Any) -> str:
        slot = e.op(f"alloca {text}")
        e.do(f"store {text} {value}, ptr {slot}")
        return f"ptr {slot}"

    m, n, k = p.rows.length, p.columns.length, p.inner.length
    leading_a, leading_b = leading(p)
    assert leading_a is not None
    assert leading_b is not None
    sizes = [of("i8", ord(leading_b[0])), of("i8", ord(leading_a[0])), of(whole, n), of(whole, m), of(whole, k)]
    scale, kept = of(kind, "1.0"), of(kind, "1.0" if p.adds else "0.0")
    lda, ldb, ldc = of(whole, leading_a[1]), of(whole, leading_b[1]), of(whole, max(p.rows.strides[2], n))

    def call(a: str, b: str, c: str) -> None:
        args = [*sizes, scale, f"ptr {b}", ldb, f"ptr {a}", lda, kept, f"ptr {c}", ldc]
        e.do(f"call void @{name}({', '.join(args)})")

    return call


def leading(p: Any) -> list[tuple[str, int] | None]:
    """For both operands whether they lie the other way round, and the distance of their rows; None: not for BLAS."""

    def of(down: int, across: int, rows: int, columns: int) -> tuple[str, int] | None:
        if (across == 1 or columns == 1) and (rows == 1 or columns <= down < LARGEST):
            return "N", max(down, columns)
        if (down == 1 or rows == 1) and (columns == 1 or rows <= across < LARGEST):
            return "T", max(across, rows)
        return None

    first = of(p.rows.strides[0], p.inner.strides[0], p.rows.length, p.inner.length)
    second = of(p.inner.strides[1], p.columns.strides[1], p.inner.length, p.columns.length)
    return [first, second]
