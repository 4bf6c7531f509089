"""Machine code for one element of exponentials, logarithms, circular and special functions."""

from __future__ import annotations

import math

import numpy as np

from ..emit import Emitter, literal, llvm_type
from .basic import DIVIDE, MULTIPLY, Emit, compare, is_nan, magnitude, negate, select, signbit
from .casting import cast
from .series import SERIES, written_out
from .vector import call as call_library

INT32, DOUBLE = np.dtype(np.int32), np.dtype(np.float64)
ERFC_ENDS = 26.641747557046327
"""SciPy's erfc is 0 above this: the square is the logarithm of the largest double."""


def libm(name: str) -> Emit:
    """A function of the C library, by its name there."""
    return lambda e, args, dtype: call(e, name, args, dtype)


def call(e: Emitter, name: str, args: list[str], dtype: np.dtype) -> str:
    """A function of the C library: written out where that is quicker, called otherwise."""
    if written_out(e, name):
        return SERIES[name](e, args, dtype)
    return call_library(e, name, args, dtype)


def scaled(factor: float, unit: float) -> Emit:
    """A product with a constant, which is a quotient in the type's own precision."""

    def emit(e: Emitter, args: list[str], dtype: np.dtype) -> str:
        return MULTIPLY(e, [args[0], literal(dtype.type(factor) / dtype.type(unit), dtype)], dtype)

    return emit


def logistic(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """1 / (1 + exp(-x)), without overflow on either side."""
    small = call(e, "exp", [negate(e, [magnitude(e, args[0], dtype)], dtype)], dtype)
    one = literal(1, dtype)
    share = select(e, signbit(e, args, dtype), small, one, dtype)
    # the slope has logistic(-x) as a factor: the exponential and the quotient are the same
    return MULTIPLY(e, [share, DIVIDE(e, [one, _plus(e, one, small, dtype)], dtype)], dtype)


def sech_squared(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """1 / cosh(x)**2."""
    if written_out(e, "sech_squared"):
        return SERIES["sech_squared"](e, args, dtype)
    inverse = DIVIDE(e, [literal(1, dtype), call(e, "cosh", args, dtype)], dtype)
    return MULTIPLY(e, [inverse, inverse], dtype)


def logaddexp(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """log(exp(x) + exp(y))."""
    return _sum_of_exponentials(e, args, dtype, "exp", 1.0, math.log(2.0))


def logaddexp2(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """log2(2**x + 2**y)."""
    return _sum_of_exponentials(e, args, dtype, "exp2", 1.0 / math.log(2.0), 1.0)


def _sum_of_exponentials(
    e: Emitter, args: list[str], dtype: np.dtype, exponential: str, factor: float, tie: float
) -> str:
    x, y = args
    difference = e.op(f"fsub {llvm_type(dtype)} {x}, {y}")
    small = call(e, exponential, [negate(e, [magnitude(e, difference, dtype)], dtype)], dtype)
    rise = call(e, "log1p", [small], dtype)
    if factor != 1.0:
        rise = MULTIPLY(e, [literal(factor, dtype), rise], dtype)
    leader = select(e, compare(e, "gt", difference, literal(0, dtype), dtype), x, y, dtype)
    found = _plus(e, leader, rise, dtype)
    # equal infinities have no difference
    found = select(e, compare(e, "eq", x, y, dtype), _plus(e, x, literal(tie, dtype), dtype), found, dtype)
    unordered = e.op(f"fcmp uno {llvm_type(dtype)} {x}, {y}")
    return select(e, unordered, difference, found, dtype)


def log_expit(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """log(1 / (1 + exp(-x)))."""
    x = args[0]
    small = call(e, "exp", [negate(e, [magnitude(e, x, dtype)], dtype)], dtype)
    drop = call(e, "log1p", [small], dtype)
    below = compare(e, "lt", x, literal(0, dtype), dtype)
    lead = select(e, below, x, literal(-0.0, dtype), dtype)
    return e.op(f"fsub {llvm_type(dtype)} {lead}, {drop}")


def logit(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """log(x / (1 - x)), near 1/2 by two logarithms of numbers near 1."""
    x, kind = args[0], llvm_type(dtype)
    one = literal(1, dtype)
    ratio = DIVIDE(e, [x, e.op(f"fsub {kind} {one}, {x}")], dtype)
    shift = MULTIPLY(e, [literal(2, dtype), e.op(f"fsub {kind} {x}, {literal(0.5, dtype)}")], dtype)
    up, down = call(e, "log1p", [shift], dtype), call(e, "log1p", [negate(e, [shift], dtype)], dtype)
    above = compare(e, "ge", x, literal(0.3, dtype), dtype)
    near = e.op(f"and i1 {above}, {compare(e, 'le', x, literal(0.65, dtype), dtype)}")
    return select(e, near, e.op(f"fsub {kind} {up}, {down}"), call(e, "log", [ratio], dtype), dtype)


def times_log(name: str) -> Emit:
    """`xlogy` and `xlog1py`: a logarithm times x, and 0 where x is 0."""

    def emit(e: Emitter, args: list[str], dtype: np.dtype) -> str:
        x, y = args
        product = MULTIPLY(e, [x, call(e, name, [y], dtype)], dtype)
        absent = compare(e, "eq", x, literal(0, dtype), dtype)
        found = select(e, absent, literal(0, dtype), product, dtype)
        return select(e, is_nan(e, y, dtype), y, found, dtype)

    return emit


def entr(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """-x log(x), 0 at 0 and -inf below."""
    x, zero = args[0], literal(0, dtype)
    found = negate(e, [MULTIPLY(e, [x, call(e, "log", [x], dtype)], dtype)], dtype)
    found = select(e, compare(e, "eq", x, zero, dtype), zero, found, dtype)
    return select(e, compare(e, "lt", x, zero, dtype), literal(-np.inf, dtype), found, dtype)


def expit(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """1 / (1 + exp(-x)), to the letter: 0 where the exponential overflows."""
    one = literal(1, dtype)
    return DIVIDE(e, [one, _plus(e, one, call(e, "exp", [negate(e, args, dtype)], dtype), dtype)], dtype)


def erfc(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """1 - erf(x); SciPy has 0 where it would be a subnormal double."""
    found = call(e, "erfc", args, dtype)
    if dtype.itemsize == 4:
        return found
    gone = compare(e, "gt", args[0], literal(ERFC_ENDS, dtype), dtype)
    return select(e, gone, literal(0, dtype), found, dtype)


def through_doubles(emit: Emit) -> Emit:
    """What would lose digits, or overflow in between, with singles; SciPy has it so too."""

    def wide(e: Emitter, args: list[str], dtype: np.dtype) -> str:
        found = emit(e, [cast(e, a, dtype, DOUBLE) for a in args], DOUBLE)
        return cast(e, found, DOUBLE, dtype)

    return wide


@through_doubles
def ndtr(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """The normal distribution: (1 + erf(x / sqrt(2))) / 2, from the side on which no digits are lost."""
    half, kind = literal(0.5, dtype), llvm_type(dtype)
    x = MULTIPLY(e, [args[0], literal(math.sqrt(0.5), dtype)], dtype)
    size = magnitude(e, x, dtype)
    middle = _plus(e, half, MULTIPLY(e, [half, call(e, "erf", [x], dtype)], dtype), dtype)
    tail = MULTIPLY(e, [half, erfc(e, [size], dtype)], dtype)
    above = compare(e, "gt", x, literal(0, dtype), dtype)
    side = select(e, above, e.op(f"fsub {kind} {literal(1, dtype)}, {tail}"), tail, dtype)
    near = compare(e, "lt", size, literal(math.sqrt(0.5), dtype), dtype)
    return select(e, near, middle, side, dtype)


@through_doubles
def exprel(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """expm1(x) / x, and 1 at 0."""
    x, one = args[0], literal(1, dtype)
    found = DIVIDE(e, [call(e, "expm1", [x], dtype), x], dtype)
    near = compare(e, "lt", magnitude(e, x, dtype), literal(np.finfo(dtype).eps, dtype), dtype)
    found = select(e, near, one, found, dtype)
    infinite = compare(e, "eq", x, literal(np.inf, dtype), dtype)
    return select(e, infinite, x, found, dtype)


def spacing(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """The distance to the next number away from 0; negative for negative numbers."""
    x = args[0]
    below = compare(e, "lt", x, literal(0, dtype), dtype)
    outwards = select(e, below, literal(-np.inf, dtype), literal(np.inf, dtype), dtype)
    return e.op(f"fsub {llvm_type(dtype)} {call(e, 'nextafter', [x, outwards], dtype)}, {x}")


def ldexp(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """x 2**n; n comes as int64 and is cut to what can matter."""
    kind, bits = llvm_type(dtype), 8 * dtype.itemsize
    low = e.op(f"icmp slt i64 {args[1]}, -10000")
    power = e.op(f"select i1 {low}, i64 -10000, i64 {args[1]}")
    high = e.op(f"icmp sgt i64 {power}, 10000")
    power = e.op(f"trunc i64 {e.op(f'select i1 {high}, i64 10000, i64 {power}')} to i32")
    target = e.module.declare(f"llvm.ldexp.f{bits}.i32", f"{kind} {{}}({kind}, i32)")
    return e.op(f"call {kind} {target}({kind} {args[0]}, i32 {power})")


def exponent(e: Emitter, args: list[str], dtype: np.dtype) -> str:
    """`np.frexp(x)[1]`: 0 for what is not finite."""
    kind, bits = llvm_type(dtype), 8 * dtype.itemsize
    pair = f"{{ {kind}, i32 }}"
    name = f"llvm.frexp.f{bits}.i32"
    e.module.declarations.setdefault(name, f"declare {pair} @{name}({kind})")
    finite = compare(e, "lt", magnitude(e, args[0], dtype), literal(np.inf, dtype), dtype)
    both = e.op(f"call {pair} @{name}({kind} {args[0]})")
    return select(e, finite, e.op(f"extractvalue {pair} {both}, 1"), "0", INT32)


def _plus(e: Emitter, x: str, y: str, dtype: np.dtype) -> str:
    return e.op(f"fadd {llvm_type(dtype)} {x}, {y}")
