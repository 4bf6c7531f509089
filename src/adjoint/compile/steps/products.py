"""Matrix products: small ones as loops over vectors held in registers, large ones by BLAS."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ...core.entry.algebra import Monoid
from ...ir.program import Step
from ..assembly.counted_loop import counted
from ..assembly.emit import Emitter
from ..assembly.kinds import POINTER, Kind, block_of, register_kind
from ..assembly.module import Module
from ..assembly.values import NULL, Function, Operand, Parameter, Value, literal
from ..code.kernel_function import KernelFunction
from ..code.loop_body import Accumulator
from ..code.loops import by_vectors
from ..code.vectorise import vector_bytes
from .fortran import SHARED
from .gemm import by_blas, is_for_blas
from .pieces import bounds, in_pieces
from .product_axes import Axis, Product, product_of
from .tiles import at, tile

ROWS = 4
"""Rows of the result that are held in registers together."""

FIRST, SECOND = Parameter("%a", POINTER, "readonly"), Parameter("%b", POINTER, "readonly")
RESULT, PACK, ROOM = (Parameter(f"%{name}", POINTER, "noalias") for name in ("c", "pack", "room"))
"""What the function of a product is given: its operands, its result, memory for packed rows and for a result apart."""

STACK = 1 << 15
"""Bytes of memory that a piece takes from the stack, at most."""
PIECE = SHARED // 4
"""Multiplications in a piece of many products, about."""

Pointers = tuple[Value, Value, Value]
"""The addresses of both operands and of the result."""
Inside = Callable[[Value, Value, Value], None]
"""Writes one product, given the addresses of its operands and of its result."""


def product(kernel: KernelFunction, step: Step) -> None:
    """`matmul` and `contract`."""
    plan = kernel.plan
    (v,) = step.outs
    places = [place for place in map(plan.layout, step.args) if place is not None]  # the plan has seen to it
    assert len(places) == 2
    pointers = [_moved(kernel, base, offset) for base, offset, _ in places]
    made = product_of(plan.types, step, [p[2] for p in places])
    if made.adds:
        kernel.fill(v, 0)
    _emit(kernel, made, pointers[0], pointers[1], kernel.pointer(v))
    work = made.work * math.prod([a.length for a in made.outer])
    kernel.work += work
    kernel.module.called += work if is_for_blas(made) else 0


def _moved(kernel: KernelFunction, base: int, offset: int) -> Value:
    address = kernel.pointer(base)
    if offset == 0:
        return address
    kind = register_kind(kernel.plan.types[base].dtype)
    return kernel.e.address(kind, address, offset, flags="")


def _emit(kernel: KernelFunction, p: Product, a: Value, b: Value, c: Value) -> None:
    if p.is_swapped:
        a, b = b, a
    key = ("product", p, p.dtype.num, kernel.module.straight)
    found = kernel.module.written.get(key)
    if found is None:
        found = kernel.module.written[key] = _written(kernel.module, p)
    function, pack, room = found
    scratch = [kernel.scratch(n * p.dtype.itemsize) if n else NULL for n in (pack, room)]
    kernel.e.call(function, a, b, c, *scratch)


def _written(module: Module, p: Product) -> tuple[Function, int, int]:
    """The function of a product, and how many numbers it needs room for: for packed rows, and for a result apart."""
    e, kind = Emitter(module), register_kind(p.dtype)
    pack, room = _rooms(p)
    length = _length(p, pack + room)
    if length is None:
        _outer(e, kind, p.outer, (FIRST, SECOND, RESULT), _one(e, p, PACK, ROOM))
    else:
        _in_pieces(e, p, length, pack, room)
        pack = room = 0  # each piece has its own
    e.give()
    return e.define("product", (FIRST, SECOND, RESULT, PACK, ROOM)), pack, room


def _in_pieces(e: Emitter, p: Product, length: int, pack: int, room: int) -> None:
    """The products along the first of the outer axes, shared among threads."""
    kind, axis = register_kind(p.dtype), p.outer[0]

    def piece(e: Emitter, which: Value, a: Value, b: Value, c: Value) -> None:
        own = [e.allocate(block_of(n, kind), align=64) if n else NULL for n in (pack, room)]
        one = _one(e, p, *own)
        first, now = bounds(e, which, length, axis.length)

        def each(i: Value) -> None:
            _outer(e, kind, p.outer[1:], _along(e, kind, (a, b, c), axis, i), one)

        counted(e, first, e.op("add", first, now, "nsw"), each)

    in_pieces(e, -(-axis.length // length), piece)(FIRST, SECOND, RESULT)


def _rooms(p: Product) -> tuple[int, int]:
    """How many numbers are copied for one of the products: of packed rows, and of a result apart.

    Vectors and BLAS write rows; a result that lies otherwise is put together elsewhere and then copied.
    """
    packs = not is_for_blas(p) and not _is_dot(p) and p.columns.length > 1 and p.columns.strides[1] != 1
    apart = not _is_dot(p) and p.columns.length > 1 and p.columns.strides[2] != 1
    return p.inner.length * p.columns.length * packs, p.rows.length * p.columns.length * apart


def _is_dot(p: Product) -> bool:
    """Whether both operands are read along rows that are summed."""
    return not is_for_blas(p) and p.columns.strides[1] != 1 and p.inner.strides == (1, 1, 0) and p.rows.length < ROWS


def _length(p: Product, copied: int) -> int | None:
    """How many of the products along the first of the outer axes are a piece for one thread; None: all are one."""
    each = p.work * math.prod([a.length for a in p.outer[1:]])
    if not p.outer or p.work >= SHARED or p.outer[0].strides[2] == 0 or copied * p.dtype.itemsize > STACK:
        return None
    length = max(1, PIECE // each)
    return length if each * p.outer[0].length >= SHARED and length < p.outer[0].length else None


def _one(e: Emitter, p: Product, pack: Value, room: Value) -> Inside:
    """What writes one of the products, with memory for what is copied."""
    packs, apart = [n > 0 for n in _rooms(p)]
    inner = _apart(p) if apart else p
    call = by_blas(e, inner) if is_for_blas(p) else None  # its numbers are written down once, before the loops

    def inside(pa: Value, pb: Value, pc: Value) -> None:
        target = room if apart else pc
        if call is not None:
            call(pa, pb, target)
        elif _is_dot(p):
            _dots(e, p, pa, pb, pc)
        elif packs:
            _packed(e, p, pb, pack)
            _blocks(e, _after_packing(inner), pa, pack, target)
        else:
            _blocks(e, inner, pa, pb, target)
        if apart:
            _copied(e, p, pc, room)

    return inside


def _apart(p: Product) -> Product:
    """The product into memory of its own, row by row."""
    rows = Axis(p.rows.length, (*p.rows.strides[:2], p.columns.length))
    return replace(p, rows=rows, columns=Axis(p.columns.length, (*p.columns.strides[:2], 1)), adds=False)


def _copied(e: Emitter, p: Product, c: Value, room: Value) -> None:
    """The result from its own memory to where it belongs."""
    kind = register_kind(p.dtype)

    def element(i: Value, j: Value) -> Value:
        return e.load(kind, at(e, kind, room, (i, p.columns.length), (j, 1)))

    _filled(e, p, c, element)


def _filled(e: Emitter, p: Product, c: Value, element: Callable[[Value, Value], Value]) -> None:
    """Every element of the result, from its row and its column."""
    kind = register_kind(p.dtype)

    def row(i: Value) -> None:
        def column(j: Value) -> None:
            value = element(i, j)
            spot = at(e, kind, c, (i, p.rows.strides[2]), (j, p.columns.strides[2]))
            if p.adds:
                value = e.op("fadd", value, e.load(kind, spot))
            e.store(value, spot)

        counted(e, 0, p.columns.length, column)

    counted(e, 0, p.rows.length, row)


def _after_packing(p: Product) -> Product:
    n = p.columns.length
    columns = Axis(n, (p.columns.strides[0], 1, p.columns.strides[2]))
    inner = Axis(p.inner.length, (p.inner.strides[0], n, p.inner.strides[2]))
    return replace(p, columns=columns, inner=inner)


def _outer(e: Emitter, kind: Kind, axes: Sequence[Axis], pointers: Pointers, inside: Inside) -> None:
    """Loops over the outer axes, each moving the three pointers."""
    if not axes:
        inside(*pointers)
        return

    def body(i: Value) -> None:
        _outer(e, kind, axes[1:], _along(e, kind, pointers, axes[0], i), inside)

    counted(e, 0, axes[0].length, body)


def _along(e: Emitter, kind: Kind, pointers: Pointers, axis: Axis, i: Value) -> Pointers:
    """The pointers at some place of an axis."""
    a, b, c = [at(e, kind, p, (i, s)) for p, s in zip(pointers, axis.strides, strict=True)]
    return a, b, c


def _packed(e: Emitter, p: Product, b: Value, pack: Value) -> None:
    """B copied row by row, so that its rows can be read as vectors."""
    kind, n = register_kind(p.dtype), p.columns.length

    def column(j: Value) -> None:
        def row(k: Value) -> None:
            value = e.load(kind, at(e, kind, b, (k, p.inner.strides[1]), (j, p.columns.strides[1])))
            e.store(value, at(e, kind, pack, (k, n), (j, 1)))

        counted(e, 0, p.inner.length, row)

    counted(e, 0, n, column)


def lanes(itemsize: int) -> int:
    """Numbers in one vector register."""
    return vector_bytes() // itemsize


def _blocks(e: Emitter, p: Product, a: Value, b: Value, c: Value) -> None:
    """Blocks of rows times one vector of columns, summed in registers."""
    width = lanes(p.dtype.itemsize)
    start = 0
    n = p.columns.length
    pieces: list[tuple[int, int, int]] = []
    if n >= 2 * width:
        count = n // (2 * width)
        pieces.append((0, count, 2 * width))
        start = count * 2 * width
    if start < n:
        pieces.append((start, 1, n - start))
    for first, count, w in pieces:

        def columns(j: Operand, first: int = first, w: int = w) -> None:
            column = first if j == 0 else e.op("mul", j, w, "nsw")
            _columns(e, p, a, b, c, column, w, width)

        if count > 1:
            counted(e, 0, count, columns)
        else:
            columns(0)


def _columns(e: Emitter, p: Product, a: Value, b: Value, c: Value, column: Operand, w: int, width: int) -> None:
    full, rest = divmod(p.rows.length, ROWS)
    if full:

        def rows(i: Operand) -> None:
            tile(e, p, a, b, c, e.op("mul", i, ROWS, "nsw") if full > 1 else 0, ROWS, column, w, width)

        if full > 1:
            counted(e, 0, full, rows)
        else:
            rows(0)
    if rest:
        tile(e, p, a, b, c, full * ROWS, rest, column, w, width)


def _dots(e: Emitter, p: Product, a: Value, b: Value, c: Value) -> None:
    """Sums of products along rows of both operands."""
    kind = register_kind(p.dtype)

    def element(i: Value, j: Value) -> Value:
        def term(k: Value, total: Value) -> list[Value]:
            x = e.load(kind, at(e, kind, a, (i, p.rows.strides[0]), (k, 1)))
            y = e.load(kind, at(e, kind, b, (j, p.columns.strides[1]), (k, 1)))
            return [e.op("fadd", total, e.op("fmul", x, y, "contract"), "reassoc")]

        return by_vectors(e, 0, p.inner.length, term, [Accumulator(literal(0, p.dtype), Monoid(np.add), True)])[0]

    _filled(e, p, c, element)
