"""Elimination of small matrices in registers: rows are vectors, pivots are chosen as LAPACK does, the code is straight.

Where a pivot is small beside the largest one, the matrix is given to LAPACK after all: there the last digits decide
whether it is singular, and it has to be so if it is for NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ..assembly.counted_loop import counted
from ..assembly.emit import Emitter
from ..assembly.kinds import I64, Kind, register_kind
from ..assembly.values import FALSE, TRUE, Operand, Value, first_lanes, lanes_of, literal, number, zero
from ..code.vectorise import masked_load, masked_store

LANES = 8
"""Columns that are worked on together."""


class Rows:
    """Rows of a matrix in memory as vectors, of which some first lanes are there."""

    def __init__(self, e: Emitter, dtype: np.dtype, columns: int, width: int) -> None:
        self.e, self.kind, self.columns, self.width = e, register_kind(dtype), columns, width
        self.lanes = 1 << (width - 1).bit_length()
        self.vector = self.kind.wide(self.lanes)

    def read(self, base: Value, row: Operand) -> Value:
        """A row; the lanes that are not there are 0."""
        place = self._place(base, row)
        if self.width == self.lanes:
            return self.e.load(self.vector, place, self.kind.bytes)
        return masked_load(self.e, self.vector, place, first_lanes(self.width, self.lanes))

    def write(self, base: Value, row: Operand, value: Value) -> None:
        """Write a row."""
        place = self._place(base, row)
        if self.width == self.lanes:
            self.e.store(value, place, self.kind.bytes)
        else:
            masked_store(self.e, value, place, first_lanes(self.width, self.lanes))

    def _place(self, base: Value, row: Operand) -> Value:
        at = row * self.columns if isinstance(row, int) else self.e.op("mul", row, self.columns, "nsw")
        return self.e.address(self.kind, base, at)

    def less(self, x: Value, factor: Value, y: Value) -> Value:
        """x - factor * y, rounded once."""
        e = self.e
        return e.intrinsic("fma", e.spread(e.negative(factor), self.lanes), y, x)


def eliminated(
    e: Emitter,
    dtype: np.dtype,
    n: int,
    places: tuple[Value, Value, Value],
    whole: Kind,
    by_lapack: Callable[[Value], None],
) -> None:
    """Write the factors of a matrix and its pivots, given the addresses of the matrix and of both."""
    given, to, chosen = places
    rows = Rows(e, dtype, n, n)
    found, pivots, is_good = _factors(e, dtype, [rows.read(given, i) for i in range(n)], rows)
    for i in range(n):
        rows.write(to, i, found[i])
        pivot = e.op("add", pivots[i], 1)
        e.store(pivot if whole is I64 else e.convert("trunc", pivot, whole), e.address(whole, chosen, i))
    again, done = e.label("again"), e.label("eliminated")
    e.branch(is_good, done, again)
    e.start(again)
    _exchanged(e, rows.kind, n, given, to)
    by_lapack(to)
    _exchanged(e, rows.kind, n, to, to)
    e.jump(done)
    e.start(done)


def _factors(e: Emitter, dtype: np.dtype, found: list[Value], rows: Rows) -> tuple[list[Value], list[Value], Value]:
    """The rows after elimination, the pivots, and whether none of these is small."""
    n = len(found)
    pivots: list[Value] = []
    sizes: list[Value] = []
    for k in range(n):
        best, at = e.intrinsic("fabs", e.extract(found[k], k)), number(k, I64)
        for i in range(k + 1, n):
            size = e.intrinsic("fabs", e.extract(found[i], k))
            is_larger = e.compare("ogt", size, best)
            best, at = e.select(is_larger, size, best), e.select(is_larger, number(i, I64), at)
        pivots.append(at)
        sizes.append(best)
        for i in range(k + 1, n):
            is_it = e.compare("eq", at, i)
            found[k], found[i] = e.select(is_it, found[i], found[k]), e.select(is_it, found[k], found[i])
        inverse = e.op("fdiv", literal(1, dtype), e.extract(found[k], k))
        behind = e.select(lanes_of([FALSE] * (k + 1) + [TRUE] * (rows.lanes - k - 1)), found[k], zero(rows.vector))
        for i in range(k + 1, n):
            factor = e.op("fmul", e.extract(found[i], k), inverse)
            found[i] = e.insert(rows.less(found[i], factor, behind), factor, k)
    least = most = sizes[0]
    for size in sizes[1:]:
        least = e.select(e.compare("olt", size, least), size, least)
        most = e.select(e.compare("ogt", size, most), size, most)
    limit = literal(float(np.finfo(dtype).eps) ** 0.5, dtype)
    is_good = e.compare("ogt", least, e.op("fmul", most, limit))
    for size in sizes:  # a nan may have been passed over
        is_good = e.op("and", is_good, e.compare("olt", size, literal(np.inf, dtype)))
    return found, pivots, is_good


def _exchanged(e: Emitter, kind: Kind, n: int, given: Value, to: Value) -> None:
    """Write the transposed matrix, perhaps in its own place."""
    for i in range(n):
        for j in range(i + 1):
            one, other = (e.address(kind, given, at) for at in (i * n + j, j * n + i))
            x, y = e.load(kind, one), e.load(kind, other)
            e.store(x, e.address(kind, to, j * n + i))
            e.store(y, e.address(kind, to, i * n + j))


def substituted(
    e: Emitter,
    dtype: np.dtype,
    shape: tuple[int, int],
    places: tuple[Value, Value, Value],
    whole: Kind,
    is_turned: bool,
) -> None:
    """Solve in place, given the addresses of factors, pivots and right-hand sides, some columns at a time."""
    n, columns = shape
    factors, chosen, to = places
    kind = register_kind(dtype)

    def tile(first: Operand, width: int) -> None:
        rows = Rows(e, dtype, columns, width)
        base = to if isinstance(first, int) and first == 0 else e.address(kind, to, first)
        if not is_turned:
            _exchange(e, rows, base, chosen, whole, range(n))
        found = [rows.read(base, i) for i in range(n)]
        for i, row in enumerate(_solved(e, rows, factors, found, is_turned)):
            rows.write(base, i, row)
        if is_turned:
            _exchange(e, rows, base, chosen, whole, reversed(range(n)))

    full, rest = divmod(columns, LANES)
    if full == 1:
        tile(0, LANES)
    elif full:
        counted(e, 0, full, lambda i: tile(e.op("mul", i, LANES, "nsw"), LANES))
    if rest:
        tile(full * LANES, rest)


def _exchange(e: Emitter, rows: Rows, base: Value, chosen: Value, whole: Kind, order: Iterable[int]) -> None:
    """Exchange rows as the elimination did."""
    for k in order:
        pivot = e.load(whole, e.address(whole, chosen, k))
        at = e.op("sub", pivot if whole is I64 else e.convert("sext", pivot, I64), 1, "nsw")
        one, other = rows.read(base, k), rows.read(base, at)
        rows.write(base, at, one)
        rows.write(base, k, other)


def _solved(e: Emitter, rows: Rows, factors: Value, found: list[Value], is_turned: bool) -> list[Value]:
    """The rows of the solution: down with one triangle, up with the other."""
    n, kind = len(found), rows.kind

    def factor(i: int, k: int) -> Value:
        """An element of the matrix that is solved with."""
        return e.load(kind, e.address(kind, factors, k * n + i if is_turned else i * n + k))

    for up in (False, True):
        has_ones = up == is_turned  # the first of the two factors has ones on its diagonal
        for i in reversed(range(n)) if up else range(n):
            for k in range(i + 1, n) if up else range(i):
                found[i] = rows.less(found[i], factor(i, k), found[k])
            if not has_ones:
                found[i] = e.op("fdiv", found[i], e.spread(factor(i, i), rows.lanes))
    return found
