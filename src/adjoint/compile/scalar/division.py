"""Machine code for one element of quotients, remainders and powers, whose corner cases NumPy defines."""

from __future__ import annotations

import struct

import numpy as np

from ..emit import Emitter, literal, llvm_type
from .basic import DIVIDE, MULTIPLY, call_intrinsic, compare, select
from .vector import call

SMALL_POWERS = {3: (2, 1), 4: (2, 2), 5: (4, 1), 6: (3, 3)}
"""Exponents done by multiplication, with the two factors: at most three roundings deep, within the bound of `power`."""


def floor_divide(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """The quotient rounded down."""
    x, y = args
    return (_real_division if dtype.kind == "f" else _whole_division)(e, x, y, dtype)[0]


def remainder(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """What is left of x, with the sign of y."""
    x, y = args
    return (_real_division if dtype.kind == "f" else _whole_division)(e, x, y, dtype)[1]


def fmod(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """What is left of x, with the sign of x; 0 for integers divided by 0."""
    x, y = args
    if dtype.kind == "f":
        return e.op(f"frem {llvm_type(dtype)} {x}, {y}")
    safe, nothing = _divisor(e, x, y, dtype)
    word = "srem" if dtype.kind == "i" else "urem"
    left = e.op(f"{word} {llvm_type(dtype)} {x}, {safe}")
    return select(e, nothing, "0", left, dtype)


def _divisor(e: Emitter, x: str, y: str, dtype: np.dtype) -> tuple[str, str]:
    """A divisor the processor takes, and whether the given one is 0: it traps at x / 0 and at the lowest x / -1."""
    nothing = compare(e, "eq", y, "0", dtype)
    unsafe = nothing
    if dtype.kind == "i":
        lowest = compare(e, "eq", x, str(np.iinfo(dtype).min), dtype)
        turned = e.op(f"and i1 {lowest}, {compare(e, 'eq', y, '-1', dtype)}")
        unsafe = e.op(f"or i1 {nothing}, {turned}")
    return select(e, unsafe, "1", y, dtype), nothing


def _whole_division(e: Emitter, x: str, y: str, dtype: np.dtype) -> tuple[str, str]:
    kind = llvm_type(dtype)
    safe, nothing = _divisor(e, x, y, dtype)
    sign = "s" if dtype.kind == "i" else "u"
    quotient = e.op(f"{sign}div {kind} {x}, {safe}")
    left = e.op(f"sub {kind} {x}, {e.op(f'mul {kind} {quotient}, {safe}')}")
    if dtype.kind == "i":
        apart = compare(e, "lt", e.op(f"xor {kind} {left}, {safe}"), "0", dtype)
        below = e.op(f"and i1 {compare(e, 'ne', left, '0', dtype)}, {apart}")
        quotient = select(e, below, e.op(f"sub {kind} {quotient}, 1"), quotient, dtype)
        left = select(e, below, e.op(f"add {kind} {left}, {safe}"), left, dtype)
    return select(e, nothing, "0", quotient, dtype), select(e, nothing, "0", left, dtype)


def _real_division(e: Emitter, x: str, y: str, dtype: np.dtype) -> tuple[str, str]:
    """Python's division of floats, step by step as NumPy does it."""
    kind = llvm_type(dtype)
    zero, one = literal(0, dtype), literal(1, dtype)
    left = e.op(f"frem {kind} {x}, {y}")
    ratio = DIVIDE(e, [x, y], dtype)
    rough = DIVIDE(e, [e.op(f"fsub {kind} {x}, {left}"), y], dtype)
    y_below = compare(e, "lt", y, zero, dtype)
    left_below = compare(e, "lt", left, zero, dtype)
    exact = compare(e, "eq", left, zero, dtype)
    apart = e.op(f"xor i1 {y_below}, {left_below}")
    off = e.op(f"and i1 {apart}, {compare(e, 'ne', left, zero, dtype)}")
    found = select(e, off, e.op(f"fadd {kind} {left}, {y}"), left, dtype)
    found = select(e, exact, call_intrinsic(e, "copysign", [zero, y], dtype), found, dtype)
    rough = select(e, off, e.op(f"fsub {kind} {rough}, {one}"), rough, dtype)
    floor = call_intrinsic(e, "floor", [rough], dtype)
    lost = compare(e, "gt", e.op(f"fsub {kind} {rough}, {floor}"), literal(0.5, dtype), dtype)
    floor = select(e, lost, e.op(f"fadd {kind} {floor}, {one}"), floor, dtype)
    nothing = compare(e, "eq", rough, zero, dtype)
    floor = select(e, nothing, call_intrinsic(e, "copysign", [zero, ratio], dtype), floor, dtype)
    by_zero = compare(e, "eq", y, zero, dtype)
    return select(e, by_zero, ratio, floor, dtype), select(e, by_zero, left, found, dtype)


def power(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """`x ** y`: by NumPy's short cuts for a literal exponent, by few multiplications, else by the C library."""
    exponent = literal_value(args[1], dtype)
    if exponent is None:
        return float_power(e, args, dtype) if dtype.kind == "f" else _whole_power(e, args[0], args[1], dtype)
    if dtype.kind != "f":
        return _repeated(e, args[0], int(exponent), dtype)
    if exponent == 0.5:
        return call_intrinsic(e, "sqrt", [args[0]], dtype)
    return float_power(e, args, dtype)


def float_power(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """`np.float_power`, the same without NumPy's short cut for square roots."""
    base, exponent = literal_value(args[0], dtype), literal_value(args[1], dtype)
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


def _repeated(e: Emitter, x: str, exponent: int, dtype: np.dtype) -> str:
    """A power by multiplication; the powers in between lie between x and the result, so none overflows before it."""
    if exponent == 0:
        return literal(1, dtype)
    known = {1: x}

    def find(n: int) -> str:
        if n not in known:
            high, low = SMALL_POWERS.get(n, (n - n // 2, n // 2))
            known[n] = MULTIPLY(e, [find(high), find(low)], dtype)
        return known[n]

    return find(exponent)


def _whole_power(e: Emitter, x: str, y: str, dtype: np.dtype) -> str:
    """Bit by bit over the exponent, without branches: 64 steps at most, in a function of the module's own."""
    kind = llvm_type(dtype)
    name = f"adjoint_power_{kind}"
    bits = 8 * dtype.itemsize
    if name not in e.module.declarations:
        steps = [f"define internal {kind} @{name}({kind} %x0, {kind} %y) alwaysinline {{"]
        out = "1"
        for k in range(bits):
            steps += [
                f"  %s{k} = lshr {kind} %y, {k}",
                f"  %b{k} = trunc {kind} %s{k} to i1",
                f"  %m{k} = select i1 %b{k}, {kind} %x{k}, {kind} 1",
                f"  %o{k} = mul {kind} {out}, %m{k}",
                f"  %x{k + 1} = mul {kind} %x{k}, %x{k}",
            ]
            out = f"%o{k}"
        e.module.declarations[name] = "\n".join([*steps, f"  ret {kind} {out}", "}"])
    return e.op(f"call {kind} @{name}({kind} {x}, {kind} {y})")


def literal_value(text: str, dtype: np.dtype) -> float | int | None:
    """The number an operand stands for, if it is no register."""
    if text.startswith("%"):
        return None
    if dtype.kind != "f":
        return int(text) if text not in ("true", "false") else int(text == "true")
    if text.startswith("0x"):
        return float(struct.unpack("<d", struct.pack("<Q", int(text, 16)))[0])
    return float(text)
