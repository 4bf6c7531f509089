"""The inner part of a small matrix product: a block of rows times vectors of columns."""

from __future__ import annotations

from ..assembly.counted_loop import counted
from ..assembly.emit import Emitter
from ..assembly.kinds import I64, Kind, register_kind
from ..assembly.values import Operand, Value, first_lanes, number, zero
from ..code.vectorise import masked_load, masked_store
from .product_axes import Product


def at(e: Emitter, kind: Kind, pointer: Value, *steps: tuple[Operand, int]) -> Value:
    """A pointer moved by indices times strides."""
    total: Operand = 0
    for i, s in steps:
        if s == 0 or i == 0:
            continue
        term = i if s == 1 else i * s if isinstance(i, int) else e.op("mul", i, s, "nsw")
        total = term if total == 0 else e.op("add", number(total, I64), term, "nsw")
    return pointer if total == 0 else e.address(kind, pointer, total)


def tile(
    e: Emitter, p: Product, a: Value, b: Value, c: Value, row: Operand, rows: int, column: Operand, w: int, width: int
) -> None:
    """`rows` x `w` elements of the result."""
    kind = register_kind(p.dtype)
    step = min(width, 1 << (w - 1).bit_length())
    parts = -(-w // step)
    vector = kind.wide(step)
    fma = e.module.intrinsic("llvm.fma", vector, 3)
    rest = w - (parts - 1) * step
    mask = first_lanes(rest, step)

    def read(place: Value, part: int) -> Value:
        """A vector; of the last one perhaps only the first lanes are there."""
        if part < parts - 1 or rest == step:
            return e.load(vector, place, kind.bytes)
        return masked_load(e, vector, place, mask)

    def write(value: Value, place: Value, part: int) -> None:
        if part < parts - 1 or rest == step:
            e.store(value, place, kind.bytes)
        else:
            masked_store(e, value, place, mask)

    def term(k: Value, *sums: Value) -> list[Value]:
        row_of_b = at(e, kind, b, (k, p.inner.strides[1]), (column, p.columns.strides[1]))
        vectors = [read(at(e, kind, row_of_b, (part * step, 1)), part) for part in range(parts)]
        new: list[Value] = []
        for r in range(rows):
            place = at(e, kind, a, (row, p.rows.strides[0]), (r, p.rows.strides[0]), (k, p.inner.strides[0]))
            one = e.spread(e.load(kind, place), step)
            for part in range(parts):
                new.append(e.call(fma, one, vectors[part], sums[r * parts + part]))
        return new

    def spot(r: int, part: int) -> Value:
        return at(
            e, kind, c,
            (row, p.rows.strides[2]), (r, p.rows.strides[2]), (column, p.columns.strides[2]), (part * step, 1),
        )  # fmt: skip

    starts = [read(spot(r, part), part) if p.adds else zero(vector) for r in range(rows) for part in range(parts)]
    sums = counted(e, 0, p.inner.length, term, carried=starts)
    for r in range(rows):
        for part in range(parts):
            write(sums[r * parts + part], spot(r, part), part)
