"""Products by BLAS: one call, or one for each piece of the result if threads are to share it.

The threads are our own, of which there is one pool for loops and products: those of OpenBLAS keep looking out for work
between two products, on the processors that the loops in between want, and the caller waits for each of them.
"""

from __future__ import annotations

from collections.abc import Callable

from ..assembly.emit import Emitter
from ..assembly.kinds import I64, register_kind
from ..assembly.values import Value
from ..runtime.blas import blas
from ..runtime.blas_threads import alone_symbols
from .fortran import SHARED, Fortran
from .pieces import bounds, in_pieces
from .product_axes import SMALL, Product
from .tiles import at

LARGEST = 2**31
"""Distances up to which BLAS can count."""
PIECE = 192
"""About how many rows or columns a piece has; which ones, does not depend on the number of threads, nor do the bits."""
GRAIN = 16
"""The length of a piece is a multiple of it, as of the blocks that BLAS computes."""

Call = Callable[[Value, Value, Value], None]
"""Writes a product, given the addresses of its operands and of its result."""


def by_blas(e: Emitter, p: Product) -> Call:
    """What writes the product; all numbers are written down here, before any loop."""
    length = _length(p)
    return _whole(e, p) if length is None else _shared(e, p, length)


def _whole(e: Emitter, p: Product) -> Call:
    f = Fortran(e, p.dtype)
    gemm = _Gemm(f, p)
    sizes = f.size(p.columns.length), f.size(p.rows.length)

    def call(a: Value, b: Value, c: Value) -> None:
        with f.alone(p.work):
            gemm.call(*sizes, a, b, c)

    return call


class _Gemm:
    """BLAS counts columns first, so it is asked for the transposed product of the transposed operands."""

    def __init__(self, f: Fortran, p: Product) -> None:
        self._f = f
        leading_a, leading_b = leading(p)
        assert leading_a is not None
        assert leading_b is not None
        self._turned = [f.letter(way) for way, _ in (leading_b, leading_a)]
        self._inner = f.size(p.inner.length)
        self._scale, self._kept = f.real(1), f.real(1 if p.adds else 0)
        of_c = max(p.rows.strides[2], p.columns.length)
        self._lda, self._ldb, self._ldc = f.size(leading_a[1]), f.size(leading_b[1]), f.size(of_c)

    def call(self, columns: Value, rows: Value, a: Value, b: Value, c: Value) -> None:
        """The call, given the addresses of all numbers."""
        sizes = (columns, rows, self._inner)
        self._f.call("gemm", *self._turned, *sizes, self._scale, b, self._ldb, a, self._lda, self._kept, c, self._ldc)


def _length(p: Product) -> int | None:
    """How many rows, or columns if these are more, each piece has; None if it is better done as a whole."""
    if p.work < SHARED or alone_symbols() is None:
        return None
    whole = max(p.rows.length, p.columns.length)
    pieces = 2 * max(1, round(whole / (2 * PIECE)))
    return -(-whole // (pieces * GRAIN)) * GRAIN


def _shared(e: Emitter, p: Product, length: int) -> Call:
    """Pieces of rows or of columns, whichever are more: the other operand is then the smaller one, which all read."""
    f, kind = Fortran(e, p.dtype), register_kind(p.dtype)
    by_rows = p.rows.length >= p.columns.length
    axis, other = (p.rows, p.columns) if by_rows else (p.columns, p.rows)

    def piece(e: Emitter, which: Value, *given: Value) -> None:
        f = Fortran(e, p.dtype)
        gemm, of_other, of_axis = _Gemm(f, p), f.size(other.length), f.size(length)
        first, now = bounds(e, which, length, axis.length)
        e.store(now if f.whole is I64 else e.convert("trunc", now, f.whole), of_axis)
        moved = [at(e, kind, x, (first, s)) for x, s in zip(given, axis.strides, strict=True)]
        sizes = (of_other, of_axis) if by_rows else (of_axis, of_other)
        gemm.call(*sizes, *moved)

    run = in_pieces(e, -(-axis.length // length), piece)

    def call(a: Value, b: Value, c: Value) -> None:
        with f.alone(0):  # for all that help: the limit is the same in every thread
            run(a, b, c)

    return call


def is_for_blas(p: Product) -> bool:
    """Whether a product is large enough for a call of BLAS, and lies so that BLAS can read it."""
    large = p.work > SMALL and p.rows.length > 1 and p.columns.length > 1
    return large and blas("dgemm") is not None and None not in leading(p)


def leading(p: Product) -> list[tuple[str, int] | None]:
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
