"""Linear algebra by LAPACK: elimination, substitution, inverses, Cholesky's factor, triangular systems.

Matrices come and go transposed, as LAPACK counts columns first (`program/factors.py` sees to it); small ones are
eliminated in registers (`elimination.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.program import Step
from ..assembly.counted_loop import counted
from ..assembly.kinds import I8
from ..assembly.values import Value, literal
from ..code.kernel_function import KernelFunction
from ..program.factors import (
    CHOLESKY,
    DETERMINANT,
    ELIMINATE,
    INVERT,
    LOG_DETERMINANT,
    SUBSTITUTE,
    TRIANGULAR,
    is_small,
)
from .blocks import Blocks, eliminate_blocks, invert_blocks, substitute_blocks
from .bodies import copy_rows, in_rows
from .determinants import determinant
from .elimination import eliminated, substituted
from .routines import Inside, Part, Routines

MIDDLE = 128
"""Rows up to which the elimination is done here: LAPACK gains on it by threads only."""
BLOCK = 64
"""Columns that LAPACK has room for when it inverts."""


def routine(kernel: KernelFunction, step: Step) -> None:
    """Write the code of a routine."""
    WRITERS[step.primitive](Routines(kernel, step))


def _eliminate(r: Routines) -> None:
    (a,), (lu, pivots) = r.step.args, r.step.outs
    parts = [r.sized(lu, r.kernel.pointer(lu)), r.sized(pivots, r.kernel.pointer(pivots), 1)]
    eliminate = _elimination(r)
    if r.n <= MIDDLE:
        given = r.sized(a, in_rows(r.kernel, a))
        r.finish("eliminate", [*parts, given], lambda to, chosen, a: eliminate(a, to, chosen), r.n**3 // 3)
        return
    copy_rows(r.kernel, a, r.kernel.pointer(lu))
    r.finish("eliminate", parts, lambda to, chosen: eliminate(to, to, chosen), r.n**3 // 3 + 500)


def _elimination(r: Routines) -> Inside:
    """Writes the elimination of one matrix, given addresses of the matrix, the factors and the pivots."""
    size, info = r.f.size(r.n), r.f.size(0)
    blocks = Blocks(r.e, r.dtype, r.n, r.f.whole)

    def by_lapack(to: Value, chosen: Value) -> None:
        with r.f.alone(r.n**3 // 3):
            r.f.call("getrf", size, size, to, size, chosen, info)

    def inside(given: Value, to: Value, chosen: Value) -> None:
        if is_small(r.matrix):
            eliminated(r.e, r.dtype, r.n, (given, to, chosen), r.f.whole, lambda m: by_lapack(m, chosen))
            return
        if given is not to:
            r.copy(to, given, r.n**2)
        if r.n > MIDDLE:
            by_lapack(to, chosen)
            return

        def again() -> None:
            r.copy(to, given, r.n**2)
            by_lapack(to, chosen)

        eliminate_blocks(blocks, to, chosen)
        r.either(_is_good(r, to), lambda: None, again)

    return inside


def _substitute(r: Routines) -> None:
    b, (x,) = r.step.args[2], r.step.outs
    address = r.kernel.pointer(x)
    copy_rows(r.kernel, b, address)
    columns = r.types[x].size // math.prod(r.lead) // r.n
    sizes, info = [r.f.size(r.n), r.f.size(columns)], r.f.size(0)
    letters = {is_turned: r.f.letter("T" if is_turned else "N") for is_turned in (False, True)}

    def inside(factors: Value, chosen: Value, is_turned: bool, to: Value) -> None:
        if is_small(r.matrix):
            substituted(r.e, r.dtype, (r.n, columns), (factors, chosen, to), r.f.whole, is_turned)
            return
        with r.f.alone(r.n**2 * columns):
            r.f.call("getrs", letters[is_turned], *sizes, factors, sizes[0], chosen, to, sizes[0], info)

    def quick(factors: Value, chosen: Value, to: Value) -> None:
        substitute_blocks(Blocks(r.e, r.dtype, r.n, r.f.whole), factors, chosen, to, columns)

    has_blocks = not is_small(r.matrix) and r.n <= MIDDLE
    work = 2 * r.n**2 * columns
    _with_factors(r, "substitute", [r.sized(x, address)], inside, work, quick if has_blocks else None)


def _invert(r: Routines) -> None:
    (x,), n = r.step.outs, r.n
    room = r.kernel.scratch(BLOCK * n * r.dtype.itemsize)
    size, length, info = r.f.size(n), r.f.size(BLOCK * n), r.f.size(0)
    letters = {is_turned: r.f.letter("T" if is_turned else "N") for is_turned in (False, True)}

    def inside(factors: Value, chosen: Value, is_turned: bool, to: Value, work: Value) -> None:
        r.identity(to)
        if is_small(r.matrix):
            substituted(r.e, r.dtype, (n, n), (factors, chosen, to), r.f.whole, is_turned)
            return
        with r.f.alone(n**3):
            r.f.call("getrs", letters[is_turned], size, size, factors, size, chosen, to, size, info)

    def quick(factors: Value, chosen: Value, to: Value, work: Value) -> None:
        if n <= MIDDLE:
            r.identity(to)
            invert_blocks(Blocks(r.e, r.dtype, n, r.f.whole), factors, chosen, to)
            return
        r.copy(to, factors, n * n)
        with r.f.alone(2 * n**3 // 3):
            r.f.call("getri", size, to, size, chosen, work, length, info)

    parts = [r.sized(x, r.kernel.pointer(x)), (room, 0, I8)]
    _with_factors(r, "invert", parts, inside, 4 * n**3 // 3 + 500, None if is_small(r.matrix) else quick)


def _with_factors(
    r: Routines, stem: str, parts: list[Part], inside: Inside, work: int, quick: Inside | None = None
) -> None:
    """Do something with the factors of a matrix, which must have no zero among its pivots.

    What wants the transposed matrix has the factors of that made where these are not good enough, and what has a
    quicker way that NumPy does not take goes NumPy's way there.
    """
    lu, pivots, *rest = r.step.args
    kernel = r.kernel
    given = [r.sized(lu, in_rows(kernel, lu)), r.sized(pivots, in_rows(kernel, pivots), 1)]
    if not r.step.params["turned"]:

        def plain(factors: Value, chosen: Value, *others: Value) -> None:
            r.require_pivots(factors)
            if quick is None:
                inside(factors, chosen, False, *others)
                return
            r.either(
                _is_good(r, factors),
                lambda: quick(factors, chosen, *others),
                lambda: inside(factors, chosen, False, *others),
            )

        r.finish(stem, [*given, *parts], plain, work)
        return
    eliminate = _elimination(r)
    rooms = [(kernel.scratch(size), 0, I8) for size in (r.n**2 * r.dtype.itemsize, r.n * r.f.whole.bytes)]
    matrix = r.sized(rest[-1], in_rows(kernel, rest[-1]))

    def turned(factors: Value, chosen: Value, matrix: Value, room: Value, picked: Value, *others: Value) -> None:
        def again() -> None:
            eliminate(matrix, room, picked)
            r.require_pivots(room)
            inside(room, picked, False, *others)

        r.either(_is_good(r, factors), lambda: inside(factors, chosen, True, *others), again)

    r.finish(stem, [*given, matrix, *rooms, *parts], turned, work)


def _is_good(r: Routines, factors: Value) -> Value:
    """Whether no pivot is small beside the largest one, or not finite."""
    e = r.e

    def look(k: Value, least: Value, most: Value) -> list[Value]:
        size = e.intrinsic("fabs", r.diagonal(factors, k))
        least = e.select(e.compare("olt", least, size), least, size)  # a nan stays, at least until the next one
        return [least, e.op("fadd", most, size)]

    start = literal(math.inf, r.dtype), literal(0, r.dtype)
    least, most = counted(e, 0, r.n, look, carried=start)
    limit = literal(float(np.finfo(r.dtype).eps) ** 0.75, r.dtype)
    is_finite = e.compare("olt", most, literal(math.inf, r.dtype))
    return e.op("and", is_finite, e.compare("ogt", least, e.op("fmul", most, limit)))


def _cholesky(r: Routines) -> None:
    (a,), (out,) = r.step.args, r.step.outs
    kernel, n = r.kernel, r.n
    address = kernel.pointer(out)
    copy_rows(kernel, a, address)
    letter, size, info = r.f.letter("L"), r.f.size(n), r.f.size(0)

    def inside(to: Value) -> None:
        e = r.e
        with r.f.alone(n**3 // 6):
            r.f.call("potrf", letter, size, to, size, info)
        r.fail_if(e.compare("ne", e.load(r.f.whole, info), 0))
        if n > 1:
            counted(e, 1, n, lambda k: above(k, to))

    def above(k: Value, to: Value) -> None:
        """Clear what is above the diagonal in column k."""
        e = r.e
        column = e.address(r.kind, to, e.op("mul", k, n, "nsw"))

        def clear(i: Value) -> None:
            e.store(literal(0, r.dtype), e.address(r.kind, column, i))

        counted(e, 0, k, clear)

    r.finish("cholesky", [r.sized(out, address)], inside, n**3 // 6 + 500)


def _triangular(r: Routines) -> None:
    a, b = r.step.args
    (x,) = r.step.outs
    kernel, n, params = r.kernel, r.n, r.step.params
    address = kernel.pointer(x)
    copy_rows(kernel, b, address)
    columns = r.types[x].size // math.prod(r.lead) // n
    letters = [r.f.letter(c) for c in ("L", "L" if params["lower"] else "U", "T" if params["transposed"] else "N")]
    letters.append(r.f.letter("U" if params["unit"] else "N"))
    sizes, one = [r.f.size(n), r.f.size(columns)], r.f.real(1)

    def inside(matrix: Value, to: Value) -> None:
        if params["checks"]:
            _require_finite(r, matrix, n * n)
            _require_finite(r, to, n * columns)
            if not params["unit"]:
                r.require_pivots(matrix)
        with r.f.alone(n * n * columns // 2):
            r.f.call("trsm", *letters, *sizes, one, matrix, sizes[0], to, sizes[0])

    parts = [r.sized(a, in_rows(kernel, a)), r.sized(x, address)]
    r.finish("triangular", parts, inside, n * n * columns + 200)


def _require_finite(r: Routines, base: Value, length: int) -> None:
    """Fail if there is an infinity or nan: what is left of such a number without itself is nan."""
    e = r.e

    def look(k: Value, total: Value) -> list[Value]:
        x = e.load(r.kind, e.address(r.kind, base, k))
        return [e.op("fadd", total, e.op("fsub", x, x))]

    (total,) = counted(e, 0, length, look, carried=[literal(0, r.dtype)])
    r.fail_if(e.compare("uno", total, total))


WRITERS: dict[Any, Callable[[Routines], None]] = {
    ELIMINATE: _eliminate,
    SUBSTITUTE: _substitute,
    INVERT: _invert,
    CHOLESKY: _cholesky,
    TRIANGULAR: _triangular,
    DETERMINANT: determinant,
    LOG_DETERMINANT: determinant,
}
