"""Machine code for one element of quotients, remainders and powers, whose corner cases NumPy defines."""

from __future__ import annotations

import numpy as np

from ..assembly.emit import Emitter
from ..assembly.instructions import Arithmetic, Conversion, Instruction, Listed
from ..assembly.kinds import I1, VOID, Kind, register_kind
from ..assembly.values import Constant, Function, Parameter, Value, Vectors, literal, number
from .basic import DIVIDE, MULTIPLY, compare
from .vector import call

SMALL_POWERS = {3: (2, 1), 4: (2, 2), 5: (4, 1), 6: (3, 3)}
"""Exponents done by multiplication, with the two factors: at most three roundings deep, within the bound of `power`."""


def floor_divide(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """The quotient rounded down."""
    x, y = args
    return (_real_division if dtype.kind == "f" else _whole_division)(e, x, y, dtype)[0]


def remainder(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """What is left of x, with the sign of y."""
    x, y = args
    return (_real_division if dtype.kind == "f" else _whole_division)(e, x, y, dtype)[1]


def fmod(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """What is left of x, with the sign of x; 0 for integers divided by 0."""
    x, y = args
    if dtype.kind == "f":
        return e.op("frem", x, y)
    safe, nothing = _divisor(e, x, y, dtype)
    word = "srem" if dtype.kind == "i" else "urem"
    left = e.op(word, x, safe)
    return e.select(nothing, 0, left)


def _divisor(e: Emitter, x: Value, y: Value, dtype: np.dtype) -> tuple[Value, Value]:
    """A divisor the processor takes, and whether the given one is 0: it traps at x / 0 and at the lowest x / -1."""
    nothing = compare(e, "eq", y, 0, dtype)
    unsafe = nothing
    if dtype.kind == "i":
        lowest = compare(e, "eq", x, np.iinfo(dtype).min, dtype)
        turned = e.op("and", lowest, compare(e, "eq", y, -1, dtype))
        unsafe = e.op("or", nothing, turned)
    return e.select(unsafe, 1, y), nothing


def _whole_division(e: Emitter, x: Value, y: Value, dtype: np.dtype) -> tuple[Value, Value]:
    safe, nothing = _divisor(e, x, y, dtype)
    quotient = e.op("sdiv" if dtype.kind == "i" else "udiv", x, safe)
    left = e.op("sub", x, e.op("mul", quotient, safe))
    if dtype.kind == "i":
        apart = compare(e, "lt", e.op("xor", left, safe), 0, dtype)
        below = e.op("and", compare(e, "ne", left, 0, dtype), apart)
        quotient = e.select(below, e.op("sub", quotient, 1), quotient)
        left = e.select(below, e.op("add", left, safe), left)
    return e.select(nothing, 0, quotient), e.select(nothing, 0, left)


def _real_division(e: Emitter, x: Value, y: Value, dtype: np.dtype) -> tuple[Value, Value]:
    """Python's division of floats, step by step as NumPy does it."""
    zero, one = literal(0, dtype), literal(1, dtype)
    left = e.op("frem", x, y)
    ratio = DIVIDE(e, [x, y], dtype)
    rough = DIVIDE(e, [e.op("fsub", x, left), y], dtype)
    y_below = compare(e, "lt", y, zero, dtype)
    left_below = compare(e, "lt", left, zero, dtype)
    exact = compare(e, "eq", left, zero, dtype)
    apart = e.op("xor", y_below, left_below)
    off = e.op("and", apart, compare(e, "ne", left, zero, dtype))
    found = e.select(off, e.op("fadd", left, y), left)
    found = e.select(exact, e.intrinsic("copysign", zero, y), found)
    rough = e.select(off, e.op("fsub", rough, one), rough)
    floor = e.intrinsic("floor", rough)
    lost = compare(e, "gt", e.op("fsub", rough, floor), literal(0.5, dtype), dtype)
    floor = e.select(lost, e.op("fadd", floor, one), floor)
    nothing = compare(e, "eq", rough, zero, dtype)
    floor = e.select(nothing, e.intrinsic("copysign", zero, ratio), floor)
    by_zero = compare(e, "eq", y, zero, dtype)
    return e.select(by_zero, ratio, floor), e.select(by_zero, left, found)


def power(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """`x ** y`: by NumPy's short cuts for a literal exponent, by few multiplications, else by the C library."""
    exponent = known_number(args[1])
    if exponent is None:
        return float_power(e, args, dtype) if dtype.kind == "f" else _whole_power(e, args[0], args[1], dtype)
    if dtype.kind != "f":
        return _repeated(e, args[0], int(exponent), dtype)
    if exponent == 0.5:
        return e.intrinsic("sqrt", args[0])
    return float_power(e, args, dtype)


def float_power(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """`np.float_power`, the same without NumPy's short cut for square roots."""
    base, exponent = known_number(args[0]), known_number(args[1])
    if base == 1.0:
        return literal(1, dtype)
    if exponent in (0.0, 1.0, 2.0) or exponent in SMALL_POWERS:
        return _repeated(e, args[0], int(exponent), dtype)
    if exponent in (-1.0, -2.0, -3.0):
        # the reciprocal first: the power could overflow where its reciprocal is a number
        return _repeated(e, DIVIDE(e, [literal(1, dtype), args[0]], dtype), -int(exponent), dtype)
    if base == 2.0:
        return call(e, "exp2", [args[1]], dtype)
    return call(e, "pow", args, dtype)


def _repeated(e: Emitter, x: Value, exponent: int, dtype: np.dtype) -> Value:
    """A power by multiplication; the powers in between lie between x and the result, so none overflows before it."""
    if exponent == 0:
        return literal(1, dtype)
    known = {1: x}

    def find(n: int) -> Value:
        if n not in known:
            high, low = SMALL_POWERS.get(n, (n - n // 2, n // 2))
            known[n] = MULTIPLY(e, [find(high), find(low)], dtype)
        return known[n]

    return find(exponent)


def _whole_power(e: Emitter, x: Value, y: Value, dtype: np.dtype) -> Value:
    """Bit by bit over the exponent, without branches: 64 steps at most, in a function of the module's own."""
    kind = register_kind(dtype)
    name = f"adjoint_power_{kind.name}"
    function = e.module.declarations.get(name) or _power_function(e, name, kind)
    return e.call(function, x, y)


def _power_function(e: Emitter, name: str, kind: Kind) -> Function:
    base, exponent = Parameter("%x0", kind), Parameter("%y", kind)
    body: list[Instruction] = []
    power: Value = base
    out = one = number(1, kind)
    for k in range(8 * kind.bytes):
        shifted = Arithmetic(f"%s{k}", kind, "lshr", (exponent, number(k, kind)))
        bit = Conversion(f"%b{k}", I1, "trunc", (shifted,))
        factor = Listed(f"%m{k}", kind, "select", (bit, power, one))
        out = Arithmetic(f"%o{k}", kind, "mul", (out, factor))
        power = Arithmetic(f"%x{k + 1}", kind, "mul", (power, power))
        body += [shifted, bit, factor, out, power]
    body.append(Instruction("", VOID, "ret", (out,)))
    return e.module.helper(
        name, kind, (base, exponent), body, "alwaysinline", linkage="internal", vectors=Vectors.LANES
    )


def known_number(operand: Value) -> float | None:
    """The number an operand stands for, if it is no register."""
    return operand.number if isinstance(operand, Constant) else None
