"""Matrix products: small ones as loops over vectors held in registers, large ones by BLAS."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..ir.program import Program, Step
from .blas import blas
from .emit import Emitter, llvm_type
from .indices import row_major
from .loops import by_vectors, counted
from .tiles import at, by_blas, leading, tile
from .widen import vector_bytes

SMALL = 48**3
"""Multiplications up to which no call of BLAS pays."""
ROWS = 4
"""Rows of the result that are held in registers together."""


def uses_blas(program: Program) -> bool:
    """Whether a program has products that are large enough for BLAS, and its threads."""
    for step in program.steps:
        if step.primitive.name in ("matmul", "contract"):
            sizes = [program.types[n].size for n in (*step.args, *step.outs)]
            if math.isqrt(math.prod(sizes)) > SMALL:  # m k, k n and m n: the root of their product is m n k
                return True
    return False


@dataclass(frozen=True)
class Axis:
    """A label of a contraction: its length, and its strides in the two operands and in the result."""

    length: int
    strides: tuple[int, int, int]


@dataclass(frozen=True)
class Product:
    """C[i, j] (+)= sum over k of A[i, k] B[k, j], for every combination of the outer axes."""

    rows: Axis
    columns: Axis
    inner: Axis
    outer: tuple[Axis, ...]
    adds: bool
    dtype: np.dtype

    @property
    def work(self) -> int:
        """Multiplications in one of the products."""
        return self.rows.length * self.columns.length * self.inner.length


ONE = Axis(1, (0, 0, 0))


def product(kernel: Any, step: Step) -> None:
    """`matmul` and `contract`."""
    plan = kernel.plan
    (v,) = step.outs
    places = [plan.layout(a) for a in step.args]
    labels = _labels(plan, step)
    pointers = [_moved(kernel, base, offset) for base, offset, _ in places]
    made = _product(plan.types, step, labels, [p[2] for p in places], plan.types[v])
    if made.adds:
        kernel.fill(v, 0)
    _emit(kernel, made, pointers[0], pointers[1], kernel.pointer(v))
    kernel.work += made.work * math.prod([a.length for a in made.outer])


def _moved(kernel: Any, base: int, offset: int) -> str:
    address = kernel.pointer(base)
    if offset == 0:
        return str(address)
    kind = llvm_type(kernel.plan.types[base].dtype)
    return str(kernel.e.op(f"getelementptr {kind}, ptr {address}, i64 {offset}"))


def _labels(plan: Any, step: Step) -> tuple[list[Any], list[Any], list[Any]]:
    """A name for each axis of the operands and of the result."""
    if step.primitive.name == "contract":
        return tuple([list(step.params[k]) for k in ("first", "second", "result")])  # type: ignore[return-value]
    a, b = (plan.types[n].shape for n in step.args)
    batch = max(len(a), len(b), 2) - 2
    first = [("b", batch - (len(a) - 2) + n) for n in range(len(a) - 2)] + (["i"] if len(a) > 1 else []) + ["k"]
    second = [("b", batch - (len(b) - 2) + n) for n in range(len(b) - 2)] + ["k"] + (["j"] if len(b) > 1 else [])
    result: list[Any] = [("b", n) for n in range(batch)]
    return first, second, result + (["i"] if len(a) > 1 else []) + (["j"] if len(b) > 1 else [])


def _product(types: Any, step: Step, labels: Any, strides: Any, out: Any) -> Product:
    shapes = [types[a].shape for a in step.args] + [out.shape]
    found: dict[Any, Axis] = {}
    for which, (names, shape, steps) in enumerate(zip(labels, shapes, [*strides, row_major(out.shape)], strict=True)):
        for name, n, s in zip(names, shape, steps, strict=True):
            axis = found.get(name, ONE)
            new = list(axis.strides)
            new[which] = 0 if n == 1 else s
            found[name] = Axis(max(axis.length, n), (new[0], new[1], new[2]))
    first, second, result = (set(names) for names in labels)
    groups: dict[str, list[Axis]] = {"rows": [], "columns": [], "inner": [], "outer": []}
    for name, axis in found.items():
        if axis.length == 1:
            continue
        kind = (
            "inner"
            if name not in result
            else "outer"
            if name in first and name in second
            else ("rows" if name in first else "columns")
        )
        groups[kind].append(axis)
    merged = {kind: _merged(axes) for kind, axes in groups.items()}
    chosen = {kind: merged[kind].pop() if merged[kind] else ONE for kind in ("rows", "columns", "inner")}
    outer = (*merged["outer"], *merged["rows"], *merged["columns"], *merged["inner"])
    made = Product(chosen["rows"], chosen["columns"], chosen["inner"], outer, bool(merged["inner"]), out.dtype)
    if (made.columns.strides[2] > 1 and made.rows.strides[2] == 1) or (
        made.columns.length == 1 and made.rows.length > 1
    ):
        made = replace(made, rows=_swapped(made.columns), columns=_swapped(made.rows), inner=_swapped(made.inner),
                       outer=tuple([_swapped(a) for a in made.outer]))  # fmt: skip
        object.__setattr__(made, "_is_swapped", True)
    return made


def _swapped(axis: Axis) -> Axis:
    a, b, c = axis.strides
    return Axis(axis.length, (b, a, c))


def _merged(axes: list[Axis]) -> list[Axis]:
    """Neighbours that are one axis in every operand, made one; the longest comes last."""
    found: list[Axis] = []
    for axis in sorted(axes, key=lambda a: [-s for s in a.strides]):
        if found and all([p == s * axis.length for p, s in zip(found[-1].strides, axis.strides, strict=True)]):
            found[-1] = Axis(found[-1].length * axis.length, axis.strides)
        else:
            found.append(axis)
    return sorted(found, key=lambda a: a.length)


def _emit(kernel: Any, p: Product, a: str, b: str, c: str) -> None:
    if getattr(p, "_is_swapped", False):
        a, b = b, a
    e = Emitter(kernel.module)
    kind = llvm_type(p.dtype)
    fits_blas = p.work > SMALL and p.rows.length > 1 and p.columns.length > 1 and blas("dgemm") is not None
    fits_blas = fits_blas and None not in leading(p)
    dot = not fits_blas and p.columns.strides[1] != 1 and p.inner.strides == (1, 1, 0) and p.rows.length < ROWS
    packs = not fits_blas and not dot and p.columns.length > 1 and p.columns.strides[1] != 1
    pack = p.inner.length * p.columns.length if packs else 0
    # vectors and BLAS write rows; a result that lies otherwise is put together elsewhere and then copied
    apart = not dot and p.columns.length > 1 and p.columns.strides[2] != 1
    room = p.rows.length * p.columns.length if apart else 0
    inner = _apart(p) if apart else p
    call = by_blas(e, inner) if fits_blas else None  # its numbers are written down once, before the loops

    def inside(pa: str, pb: str, pc: str) -> None:
        target = "%room" if apart else pc
        if call is not None:
            call(pa, pb, target)
        elif dot:
            _dots(e, p, pa, pb, pc)
        elif pack:
            _packed(e, p, pb)
            _blocks(e, _after_packing(inner), pa, "%pack", target)
        else:
            _blocks(e, inner, pa, pb, target)
        if apart:
            _copied(e, p, pc)

    _outer(e, kind, list(p.outer), ("%a", "%b", "%c"), inside)
    parameters = "ptr readonly %a, ptr readonly %b, ptr noalias %c, ptr noalias %pack, ptr noalias %room"
    text = f"({parameters}) nounwind {{\nentry:\n" + "\n".join(e.lines) + "\n  ret void\n}"
    name = kernel.module.function("product", "internal void", text)
    scratch = [kernel.scratch(n * p.dtype.itemsize) if n else "null" for n in (pack, room)]
    kernel.e.do(f"call void @{name}(ptr {a}, ptr {b}, ptr {c}, ptr {scratch[0]}, ptr {scratch[1]})")


def _apart(p: Product) -> Product:
    """The product into memory of its own, row by row."""
    rows = Axis(p.rows.length, (*p.rows.strides[:2], p.columns.length))
    return replace(p, rows=rows, columns=Axis(p.columns.length, (*p.columns.strides[:2], 1)), adds=False)


def _copied(e: Emitter, p: Product, c: str) -> None:
    """The result from its own memory to where it belongs."""
    kind = llvm_type(p.dtype)

    def element(i: str, j: str) -> str:
        return e.op(f"load {kind}, ptr {at(e, kind, '%room', (i, p.columns.length), (j, 1))}")

    _filled(e, p, c, element)


def _filled(e: Emitter, p: Product, c: str, element: Callable[[str, str], str]) -> None:
    """Every element of the result, from its row and its column."""
    kind = llvm_type(p.dtype)

    def row(i: str) -> None:
        def column(j: str) -> None:
            value = element(i, j)
            spot = at(e, kind, c, (i, p.rows.strides[2]), (j, p.columns.strides[2]))
            if p.adds:
                value = e.op(f"fadd {kind} {value}, {e.op(f'load {kind}, ptr {spot}')}")
            e.do(f"store {kind} {value}, ptr {spot}")

        counted(e, "0", str(p.columns.length), column)

    counted(e, "0", str(p.rows.length), row)


def _after_packing(p: Product) -> Product:
    n = p.columns.length
    columns = Axis(n, (p.columns.strides[0], 1, p.columns.strides[2]))
    inner = Axis(p.inner.length, (p.inner.strides[0], n, p.inner.strides[2]))
    return replace(p, columns=columns, inner=inner)


def _outer(e: Emitter, kind: str, axes: list[Axis], pointers: tuple[str, str, str], inside: Any) -> None:
    """Loops over the outer axes, each moving the three pointers."""
    if not axes:
        inside(*pointers)
        return

    def body(i: str) -> None:
        moved = [at(e, kind, p, (i, s)) for p, s in zip(pointers, axes[0].strides, strict=True)]
        _outer(e, kind, axes[1:], (moved[0], moved[1], moved[2]), inside)

    counted(e, "0", str(axes[0].length), body)


def _packed(e: Emitter, p: Product, b: str) -> None:
    """B copied row by row, so that its rows can be read as vectors."""
    kind, n = llvm_type(p.dtype), p.columns.length

    def column(j: str) -> None:
        def row(k: str) -> None:
            value = e.op(f"load {kind}, ptr {at(e, kind, b, (k, p.inner.strides[1]), (j, p.columns.strides[1]))}")
            e.do(f"store {kind} {value}, ptr {at(e, kind, '%pack', (k, n), (j, 1))}")

        counted(e, "0", str(p.inner.length), row)

    counted(e, "0", str(n), column)


def lanes(itemsize: int) -> int:
    """Numbers in one vector register."""
    return vector_bytes() // itemsize


def _blocks(e: Emitter, p: Product, a: str, b: str, c: str) -> None:
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

        def columns(j: str, first: int = first, w: int = w) -> None:
            column = str(first) if j == "0" else e.op(f"mul nsw i64 {j}, {w}")
            _columns(e, p, a, b, c, column, w, width)

        if count > 1:
            counted(e, "0", str(count), columns)
        else:
            columns("0")


def _columns(e: Emitter, p: Product, a: str, b: str, c: str, column: str, w: int, width: int) -> None:
    full, rest = divmod(p.rows.length, ROWS)
    if full:

        def rows(i: str) -> None:
            tile(e, p, a, b, c, e.op(f"mul nsw i64 {i}, {ROWS}") if full > 1 else "0", ROWS, column, w, width)

        if full > 1:
            counted(e, "0", str(full), rows)
        else:
            rows("0")
    if rest:
        tile(e, p, a, b, c, str(full * ROWS), rest, column, w, width)


def _dots(e: Emitter, p: Product, a: str, b: str, c: str) -> None:
    """Sums of products along rows of both operands."""
    kind = llvm_type(p.dtype)

    def element(i: str, j: str) -> str:
        def term(k: str, total: str) -> list[str]:
            x = e.op(f"load {kind}, ptr {at(e, kind, a, (i, p.rows.strides[0]), (k, 1))}")
            y = e.op(f"load {kind}, ptr {at(e, kind, b, (j, p.columns.strides[1]), (k, 1))}")
            return [e.op(f"fadd reassoc {kind} {total}, {e.op(f'fmul contract {kind} {x}, {y}')}")]

        return by_vectors(e, 0, p.inner.length, term, [(kind, "0.0", "sum", True)])[0]

    _filled(e, p, c, element)
