"""Elimination of matrices of middle size: four columns at a time, in vectors, without the cost of a call of LAPACK.

A matrix lies column by column. What four columns of the factors do to a column is one pass over it: the four numbers
that belong to them are found first, then each vector of the column is read and written once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..assembly.counted_loop import counted
from ..assembly.emit import Emitter
from ..assembly.kinds import I64, Kind, register_kind
from ..assembly.values import Constant, Operand, Value, literal, number, zero
from ..code.vectorise import masked_load, masked_store, vector_bytes

WIDTH = 4
"""Columns of the factors that are applied together."""
TOGETHER = 4
"""Columns that they are applied to at the same time."""


class Blocks:
    """Code for matrices with n rows, column by column."""

    def __init__(self, e: Emitter, dtype: np.dtype, n: int, whole: Kind) -> None:
        self.e, self.dtype, self.n, self.whole = e, dtype, n, whole
        self.kind = register_kind(dtype)
        self.lanes = vector_bytes() // dtype.itemsize
        self.vector = self.kind.wide(self.lanes)

    # Single numbers

    def place(self, base: Value, row: Operand, column: Operand = 0) -> Value:
        """The address of an element."""
        e, at = self.e, number(row, I64)
        if isinstance(column, Value):
            at = e.op("add", at, e.op("mul", column, self.n, "nsw"), "nsw")
        elif column:
            at = e.op("add", at, column * self.n, "nsw")
        return e.address(self.kind, base, at)

    def read(self, base: Value, row: Operand, column: Operand = 0) -> Value:
        """An element."""
        return self.e.load(self.kind, self.place(base, row, column))

    def exchange(self, one: Value, other: Value) -> None:
        """Let two elements change places."""
        e = self.e
        x, y = e.load(self.kind, one), e.load(self.kind, other)
        e.store(y, one)
        e.store(x, other)

    def less(self, x: Value, y: Value, z: Value) -> Value:
        """x - y * z, rounded once."""
        return self.e.intrinsic("fma", self.e.negative(y), z, x)

    def moved(self, k: Operand, by: int) -> Value:
        """An index some places further on."""
        return self.e.op("add", number(k, I64), by, "nsw")

    def times(self, low: Operand, high: Operand, body: Callable[[Value], None], step: int = 1) -> None:
        """A loop that may be empty."""
        e = self.e
        go, done = e.label("some"), e.label("none")
        e.branch(e.compare("slt", number(low, I64), number(high, I64)), go, done)
        e.start(go)
        counted(e, low, high, body, step=step, is_scalar=lambda: True)
        e.jump(done)
        e.start(done)

    # Vectors

    def span(self, low: Operand, high: Operand, body: Callable[[Value, Value | None], None]) -> None:
        """Rows from low to high, a vector at a time; the mask of the last one, which may not be full, is given."""
        e = self.e
        length = e.op("sub", number(high, I64), number(low, I64), "nsw")
        rest = e.op("and", length, self.lanes - 1)
        end = e.op("sub", number(high, I64), rest, "nsw")
        self.times(low, end, lambda i: body(i, None), step=self.lanes)
        tail, done = e.label("tail"), e.label("done")
        e.branch(e.compare("sgt", rest, 0), tail, done)
        e.start(tail)
        lanes = Constant(f"<{', '.join([f'i64 {k}' for k in range(self.lanes)])}>", I64.wide(self.lanes))
        body(end, e.compare("ult", lanes, e.spread(rest, self.lanes)))
        e.jump(done)
        e.start(done)

    def load(self, base: Value, row: Value, mask: Value | None) -> Value:
        """A vector of a column."""
        e, place = self.e, self.place(base, row)
        return e.load(self.vector, place, self.kind.bytes) if mask is None else masked_load(e, self.vector, place, mask)

    def store(self, value: Value, base: Value, row: Value, mask: Value | None) -> None:
        """Write a vector of a column."""
        place = self.place(base, row)
        if mask is None:
            self.e.store(value, place, self.kind.bytes)
        else:
            masked_store(self.e, value, place, mask)

    # Columns

    def apply(
        self,
        factors: Sequence[Value],
        found: Callable[[Value], list[Value]],
        columns: Sequence[Value],
        low: Operand,
        high: Operand,
    ) -> None:
        """Take columns of the factors, times the numbers that `found` gives, from rows of other columns."""
        e = self.e
        numbers = [[e.spread(e.negative(x), self.lanes) for x in found(column)] for column in columns]

        def inside(row: Value, mask: Value | None) -> None:
            read = [self.load(f, row, mask) for f in factors]
            for column, scales in zip(columns, numbers, strict=True):
                now = self.load(column, row, mask)
                for x, scale in zip(read, scales, strict=True):
                    now = e.intrinsic("fma", scale, x, now)
                self.store(now, column, row, mask)

        self.span(low, high, inside)

    def each(self, base: Value, low: Operand, high: Operand, body: Callable[[list[Value]], None]) -> None:
        """Columns from low to high, some at a time."""
        e = self.e
        length = e.op("sub", number(high, I64), number(low, I64), "nsw")
        end = e.op("sub", number(high, I64), e.op("and", length, TOGETHER - 1), "nsw")

        def several(j: Value) -> None:
            body([self.place(base, 0, self.moved(j, k)) for k in range(TOGETHER)])

        self.times(low, end, several, step=TOGETHER)
        self.times(end, high, lambda j: body([self.place(base, 0, j)]))

    def down(self, matrix: Value, k: Operand, width: int) -> Callable[[Value], list[Value]]:
        """Finds the numbers of a column that belong to columns k, k + 1, ... of the lower factor, and writes them."""
        below = {(p, r): self.read(matrix, self.moved(k, p), self.moved(k, r)) for p in range(width) for r in range(p)}

        def found(column: Value) -> list[Value]:
            x = [self.read(column, self.moved(k, p)) for p in range(width)]
            for p in range(width):
                for r in range(p):
                    x[p] = self.less(x[p], below[p, r], x[r])
                self.e.store(x[p], self.place(column, self.moved(k, p)))
            return x

        return found

    def up(self, matrix: Value, k: Operand, width: int) -> Callable[[Value], list[Value]]:
        """The same for the upper factor, from the last column to the first."""
        above = {
            (p, r): self.read(matrix, self.moved(k, p), self.moved(k, r)) for p in range(width) for r in range(p, width)
        }

        def found(column: Value) -> list[Value]:
            x = [self.read(column, self.moved(k, p)) for p in range(width)]
            for p in reversed(range(width)):
                for r in range(p + 1, width):
                    x[p] = self.less(x[p], above[p, r], x[r])
                x[p] = self.e.op("fdiv", x[p], above[p, p])
                self.e.store(x[p], self.place(column, self.moved(k, p)))
            return x

        return found


def eliminate_blocks(b: Blocks, matrix: Value, chosen: Value) -> None:
    """Replace a matrix by its factors, and write the pivots."""
    full, rest = divmod(b.n, WIDTH)
    room = b.e.allocate(b.vector, align=64)

    def block(k: Operand, width: int) -> None:
        factors = [b.place(matrix, 0, b.moved(k, c)) for c in range(width)]
        pivots: list[Value] = []
        for c in range(width):
            if c:
                b.apply(factors[:c], b.down(matrix, k, c), [factors[c]], b.moved(k, c), b.n)
            pivots.append(_pivot(b, factors, c, b.moved(k, c), room))
            _put(b, chosen, b.moved(k, c), pivots[c])

        def exchange(column: Value) -> None:
            for c, pivot in enumerate(pivots):
                b.exchange(b.place(column, b.moved(k, c)), b.place(column, pivot))

        found = b.down(matrix, k, width)

        def inside(columns: list[Value]) -> None:
            for column in columns:
                exchange(column)
            b.apply(factors, found, columns, b.moved(k, width), b.n)

        b.times(0, k, lambda j: exchange(b.place(matrix, 0, j)))
        b.each(matrix, b.moved(k, width), b.n, inside)

    counted(b.e, 0, full * WIDTH, lambda k: block(k, WIDTH), step=WIDTH, is_scalar=lambda: True)
    if rest:
        block(full * WIDTH, rest)


def _put(b: Blocks, chosen: Value, k: Value, pivot: Value) -> None:
    """Write a pivot as LAPACK does, which counts from 1."""
    e, found = b.e, b.moved(pivot, 1)
    e.store(found if b.whole is I64 else e.convert("trunc", found, b.whole), e.address(b.whole, chosen, k))


def _taken(b: Blocks, chosen: Value, k: Operand) -> Value:
    """A pivot that was written."""
    e = b.e
    found = e.load(b.whole, e.address(b.whole, chosen, k))
    return e.op("sub", found if b.whole is I64 else e.convert("sext", found, I64), 1, "nsw")


def _pivot(b: Blocks, columns: list[Value], c: int, k: Value, room: Value) -> Value:
    """Bring the largest number of a column from row k on to that row, and divide what is below by it; where it was."""
    e, column = b.e, columns[c]
    e.store(zero(b.vector), room)

    def larger(i: Value, mask: Value | None) -> None:
        size, best = e.intrinsic("fabs", b.load(column, i, mask)), e.load(b.vector, room)
        e.store(e.select(e.compare("ogt", size, best), size, best), room)

    b.span(k, b.n, larger)
    best = e.load(b.vector, room)
    sizes = [e.extract(best, lane) for lane in range(b.lanes)]
    while len(sizes) > 1:
        halves = zip(sizes[::2], sizes[1::2], strict=True)
        sizes = [e.select(e.compare("ogt", x, y), x, y) for x, y in halves]
    at = _first(b, column, k, sizes[0])
    for other in columns:
        b.exchange(b.place(other, k), b.place(other, at))
    scale = e.spread(e.op("fdiv", literal(1, b.dtype), b.read(column, k)), b.lanes)
    b.span(b.moved(k, 1), b.n, lambda i, mask: b.store(e.op("fmul", b.load(column, i, mask), scale), column, i, mask))
    return at


def _first(b: Blocks, column: Value, k: Value, size: Value) -> Value:
    """The first row from k on with a number of this size, or the last one."""
    e = b.e
    head, on, done = e.label("look"), e.label("further"), e.label("there")
    before = e.block
    e.jump(head)
    e.start(head)
    i = e.phi((k, before))
    is_it = e.compare("oeq", e.intrinsic("fabs", b.read(column, i)), size)
    e.branch(e.op("or", is_it, e.compare("sge", i, b.n - 1)), done, on)
    e.start(on)
    i.arrive(b.moved(i, 1), on)
    e.jump(head)
    e.start(done)
    return i


def substitute_blocks(b: Blocks, matrix: Value, chosen: Value, to: Value, columns: int) -> None:
    """Solve in place, given factors and pivots."""

    def exchange(j: Value) -> None:
        column = b.place(to, 0, j)
        counted(b.e, 0, b.n, lambda k: b.exchange(b.place(column, k), b.place(column, _taken(b, chosen, k))))

    counted(b.e, 0, columns, exchange, is_scalar=lambda: True)
    _both_ways(b, matrix, to, lambda k, width: columns, columns)


def invert_blocks(b: Blocks, matrix: Value, chosen: Value, to: Value) -> None:
    """Write the inverse where the identity is: of the lower factor it is triangular, and columns change places last."""
    e = b.e
    _both_ways(b, matrix, to, b.moved, b.n)

    def exchange(k: Value) -> None:
        k = e.op("sub", b.n - 1, k, "nsw")
        one, other = b.place(to, 0, k), b.place(to, 0, _taken(b, chosen, k))

        def inside(i: Value, mask: Value | None) -> None:
            x, y = b.load(one, i, mask), b.load(other, i, mask)
            b.store(y, one, i, mask)
            b.store(x, other, i, mask)

        b.span(0, b.n, inside)

    counted(e, 0, b.n, exchange, is_scalar=lambda: True)


def _both_ways(b: Blocks, matrix: Value, to: Value, reached: Callable[[Operand, int], Operand], columns: int) -> None:
    """Down with the lower factor, up with the upper one; on the way down, a block has work in the columns `reached`."""
    full, rest = divmod(b.n, WIDTH)

    def down(k: Operand, width: int) -> None:
        factors, found = [b.place(matrix, 0, b.moved(k, c)) for c in range(width)], b.down(matrix, k, width)
        b.each(to, 0, reached(k, width), lambda cs: b.apply(factors, found, cs, b.moved(k, width), b.n))

    def up(k: Operand, width: int) -> None:
        factors, found = [b.place(matrix, 0, b.moved(k, c)) for c in range(width)], b.up(matrix, k, width)
        b.each(to, 0, columns, lambda cs: b.apply(factors, found, cs, 0, k))

    def back(k: Value) -> None:
        up(b.e.op("sub", (full - 1) * WIDTH, k, "nsw"), WIDTH)

    counted(b.e, 0, full * WIDTH, lambda k: down(k, WIDTH), step=WIDTH, is_scalar=lambda: True)
    if rest:
        down(full * WIDTH, rest)
        up(full * WIDTH, rest)
    counted(b.e, 0, full * WIDTH, back, step=WIDTH, is_scalar=lambda: True)
