"""Determinants from the factors of matrices."""

from __future__ import annotations

import math

import numpy as np

from ..assembly.counted_loop import counted
from ..assembly.kinds import I64
from ..assembly.values import Function, Value, literal, number
from ..program.factors import LOG_DETERMINANT, is_small
from .bodies import in_rows
from .routines import Routines


def determinant(r: Routines) -> None:
    """As NumPy finds it, by logarithms of the diagonal; of a small matrix as a product, unless that is out of range."""
    lu, pivots = r.step.args
    kernel, e, n = r.kernel, r.e, r.n
    parts = [r.sized(lu, in_rows(kernel, lu)), r.sized(pivots, in_rows(kernel, pivots), 1)]
    outs = [r.sized(o, kernel.pointer(o), 0) for o in r.step.outs]
    outs = [(address, 1 if r.lead else 0, kind) for address, _, kind in outs]

    def inside(factors: Value, chosen: Value, *to: Value) -> None:
        if r.step.primitive is LOG_DETERMINANT:
            for value, place in zip(_by_logarithms(r, factors, chosen), to, strict=True):
                e.store(value, place)
            return
        done = e.label("found")
        if is_small(r.matrix):
            total, is_good = _by_product(r, factors, chosen)
            e.store(total, to[0])
            again = e.label("logarithms")
            e.branch(is_good, done, again)
            e.start(again)
        sign, log = _by_logarithms(r, factors, chosen)
        e.store(e.op("fmul", sign, e.call(_libm(r, "exp"), log)), to[0])
        e.jump(done)
        e.start(done)

    r.finish("determinant", [*parts, *outs], inside, 20 * n)


def _libm(r: Routines, name: str) -> Function:
    """A function of the C library, which NumPy calls too."""
    return r.e.module.declare(name if r.dtype.itemsize == 8 else f"{name}f", r.kind, r.kind)


def _swaps(r: Routines, chosen: Value, k: Value) -> Value:
    """Whether a row was exchanged at a step of the elimination."""
    e, whole = r.e, r.f.whole
    at = e.op("add", k, 1, "nsw")
    found = e.load(whole, e.address(whole, chosen, k))
    return e.compare("ne", found, at if whole is I64 else e.convert("trunc", at, whole))


def _by_product(r: Routines, factors: Value, chosen: Value) -> tuple[Value, Value]:
    """The product of the diagonal, and whether it was in range all the time."""
    e, range_of = r.e, np.finfo(r.dtype)
    low, high = (literal(float(x), r.dtype) for x in (range_of.tiny * 1e10, range_of.max * 1e-10))
    total, is_good = literal(1, r.dtype), e.compare("eq", number(0, I64), 0)
    for k in range(r.n):
        total = e.op("fmul", total, e.load(r.kind, e.address(r.kind, factors, k * (r.n + 1))))
        size = e.intrinsic("fabs", total)
        in_range = e.op("and", e.compare("ogt", size, low), e.compare("olt", size, high))
        is_good = e.op("and", is_good, in_range)
        total = e.select(_swaps(r, chosen, number(k, I64)), e.negative(total), total)
    return total, is_good


def _by_logarithms(r: Routines, factors: Value, chosen: Value) -> tuple[Value, Value]:
    """The sign of the determinant and the logarithm of its size: 0 and -inf if a pivot is 0."""
    e = r.e
    one, log = literal(1, r.dtype), _libm(r, "log")

    def term(k: Value, sign: Value, total: Value) -> list[Value]:
        x = r.diagonal(factors, k)
        sign = e.select(_swaps(r, chosen, k), e.negative(sign), sign)
        sign = e.select(e.compare("olt", x, literal(0, r.dtype)), e.negative(sign), sign)
        sign = e.select(e.compare("oeq", x, literal(0, r.dtype)), literal(0, r.dtype), sign)
        return [sign, e.op("fadd", total, e.call(log, e.intrinsic("fabs", x)))]

    sign, total = counted(e, 0, r.n, term, carried=[one, literal(0, r.dtype)])
    gone = e.compare("oeq", sign, literal(0, r.dtype))
    zero, lowest = literal(0, r.dtype), literal(-math.inf, r.dtype)
    return e.select(gone, zero, sign), e.select(gone, lowest, total)
