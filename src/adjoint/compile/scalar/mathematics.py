"""Machine code for one element of exponentials, logarithms, circular and special functions.

Most are calls of the C library (`libm`). Exponentials and logarithms are written out instead where that is quicker: the
polynomials are in `series.py`.
"""

from __future__ import annotations

import math

import numpy as np

from ..assembly.emit import Emitter
from ..assembly.kinds import I32, pair, register_kind
from ..assembly.values import Value, literal
from .basic import DIVIDE, MULTIPLY, Emit, compare, is_nan, negate, signbit
from .casting import cast
from .series import SERIES, written_out
from .vector import call as call_library

INT32, DOUBLE = np.dtype(np.int32), np.dtype(np.float64)
ERFC_ENDS = 26.641747557046327
"""SciPy's erfc is 0 above this: the square is the logarithm of the largest double."""


def libm(name: str) -> Emit:
    """A function of the C library, by its name there."""
    return lambda e, args, dtype: call(e, name, args, dtype)


def call(e: Emitter, name: str, args: list[Value], dtype: np.dtype) -> Value:
    """A function of the C library: written out where that is quicker, called otherwise."""
    if written_out(e, name):
        return SERIES[name](e, args, dtype)
    return call_library(e, name, args, dtype)


def scaled(factor: float, unit: float) -> Emit:
    """A product with a constant, which is a quotient in the type's own precision."""

    def emit(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
        return MULTIPLY(e, [args[0], literal(dtype.type(factor) / dtype.type(unit), dtype)], dtype)

    return emit


TO_RADIANS, TO_DEGREES = scaled(math.pi, 180.0), scaled(180.0, math.pi)


def logistic(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """1 / (1 + exp(-x)), without overflow on either side."""
    small = call(e, "exp", [negate(e, [e.intrinsic("fabs", args[0])], dtype)], dtype)
    one = literal(1, dtype)
    share = e.select(signbit(e, args, dtype), small, one)
    # the slope has logistic(-x) as a factor: the exponential and the quotient are the same
    return MULTIPLY(e, [share, DIVIDE(e, [one, e.op("fadd", one, small)], dtype)], dtype)


def sech_squared(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """1 / cosh(x)**2."""
    if written_out(e, "sech_squared"):
        return SERIES["sech_squared"](e, args, dtype)
    inverse = DIVIDE(e, [literal(1, dtype), call(e, "cosh", args, dtype)], dtype)
    return MULTIPLY(e, [inverse, inverse], dtype)


def logaddexp(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """log(exp(x) + exp(y))."""
    return _sum_of_exponentials(e, args, dtype, "exp", 1.0, math.log(2.0))


def logaddexp2(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """log2(2**x + 2**y)."""
    return _sum_of_exponentials(e, args, dtype, "exp2", 1.0 / math.log(2.0), 1.0)


def _sum_of_exponentials(
    e: Emitter, args: list[Value], dtype: np.dtype, exponential: str, factor: float, tie: float
) -> Value:
    x, y = args
    difference = e.op("fsub", x, y)
    small = call(e, exponential, [negate(e, [e.intrinsic("fabs", difference)], dtype)], dtype)
    rise = call(e, "log1p", [small], dtype)
    if factor != 1.0:
        rise = MULTIPLY(e, [literal(factor, dtype), rise], dtype)
    leader = e.select(compare(e, "gt", difference, literal(0, dtype), dtype), x, y)
    found = e.op("fadd", leader, rise)
    # equal infinities have no difference
    found = e.select(compare(e, "eq", x, y, dtype), e.op("fadd", x, literal(tie, dtype)), found)
    unordered = e.compare("uno", x, y)
    return e.select(unordered, difference, found)


def log_expit(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """log(1 / (1 + exp(-x)))."""
    x = args[0]
    small = call(e, "exp", [negate(e, [e.intrinsic("fabs", x)], dtype)], dtype)
    drop = call(e, "log1p", [small], dtype)
    below = compare(e, "lt", x, literal(0, dtype), dtype)
    lead = e.select(below, x, literal(-0.0, dtype))
    return e.op("fsub", lead, drop)


def logit(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """log(x / (1 - x)), near 1/2 by two logarithms of numbers near 1."""
    x = args[0]
    one = literal(1, dtype)
    ratio = DIVIDE(e, [x, e.op("fsub", one, x)], dtype)
    shift = MULTIPLY(e, [literal(2, dtype), e.op("fsub", x, literal(0.5, dtype))], dtype)
    up, down = call(e, "log1p", [shift], dtype), call(e, "log1p", [negate(e, [shift], dtype)], dtype)
    above = compare(e, "ge", x, literal(0.3, dtype), dtype)
    near = e.op("and", above, compare(e, "le", x, literal(0.65, dtype), dtype))
    return e.select(near, e.op("fsub", up, down), call(e, "log", [ratio], dtype))


def times_log(name: str) -> Emit:
    """`xlogy` and `xlog1py`: a logarithm times x, and 0 where x is 0."""

    def emit(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
        x, y = args
        product = MULTIPLY(e, [x, call(e, name, [y], dtype)], dtype)
        absent = compare(e, "eq", x, literal(0, dtype), dtype)
        found = e.select(absent, literal(0, dtype), product)
        return e.select(is_nan(e, y, dtype), y, found)

    return emit


def entr(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """-x log(x), 0 at 0 and -inf below."""
    x, zero = args[0], literal(0, dtype)
    found = negate(e, [MULTIPLY(e, [x, call(e, "log", [x], dtype)], dtype)], dtype)
    found = e.select(compare(e, "eq", x, zero, dtype), zero, found)
    return e.select(compare(e, "lt", x, zero, dtype), literal(-np.inf, dtype), found)


def expit(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """1 / (1 + exp(-x)), to the letter: 0 where the exponential overflows."""
    one = literal(1, dtype)
    return DIVIDE(e, [one, e.op("fadd", one, call(e, "exp", [negate(e, args, dtype)], dtype))], dtype)


def erfc(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """1 - erf(x); SciPy has 0 where it would be a subnormal double."""
    found = call(e, "erfc", args, dtype)
    if dtype.itemsize == 4:
        return found
    gone = compare(e, "gt", args[0], literal(ERFC_ENDS, dtype), dtype)
    return e.select(gone, literal(0, dtype), found)


def through_doubles(emit: Emit) -> Emit:
    """What would lose digits, or overflow in between, with singles; SciPy has it so too."""

    def wide(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
        found = emit(e, [cast(e, a, dtype, DOUBLE) for a in args], DOUBLE)
        return cast(e, found, DOUBLE, dtype)

    return wide


@through_doubles
def ndtr(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """The normal distribution: (1 + erf(x / sqrt(2))) / 2, from the side on which no digits are lost."""
    half = literal(0.5, dtype)
    x = MULTIPLY(e, [args[0], literal(math.sqrt(0.5), dtype)], dtype)
    size = e.intrinsic("fabs", x)
    middle = e.op("fadd", half, MULTIPLY(e, [half, call(e, "erf", [x], dtype)], dtype))
    tail = MULTIPLY(e, [half, erfc(e, [size], dtype)], dtype)
    above = compare(e, "gt", x, literal(0, dtype), dtype)
    side = e.select(above, e.op("fsub", literal(1, dtype), tail), tail)
    near = compare(e, "lt", size, literal(math.sqrt(0.5), dtype), dtype)
    return e.select(near, middle, side)


@through_doubles
def exprel(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """expm1(x) / x, and 1 at 0."""
    x, one = args[0], literal(1, dtype)
    found = DIVIDE(e, [call(e, "expm1", [x], dtype), x], dtype)
    near = compare(e, "lt", e.intrinsic("fabs", x), literal(np.finfo(dtype).eps, dtype), dtype)
    found = e.select(near, one, found)
    infinite = compare(e, "eq", x, literal(np.inf, dtype), dtype)
    return e.select(infinite, x, found)


def spacing(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """The distance to the next number away from 0; negative for negative numbers."""
    x = args[0]
    below = compare(e, "lt", x, literal(0, dtype), dtype)
    outwards = e.select(below, literal(-np.inf, dtype), literal(np.inf, dtype))
    return e.op("fsub", call(e, "nextafter", [x, outwards], dtype), x)


def ldexp(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """x 2**n; n comes as int64 and is cut to what can matter."""
    kind = register_kind(dtype)
    low = e.compare("slt", args[1], -10000)
    power = e.select(low, -10000, args[1])
    high = e.compare("sgt", power, 10000)
    power = e.convert("trunc", e.select(high, 10000, power), I32)
    return e.call(e.module.declare(f"llvm.ldexp.{kind.suffix}.i32", kind, kind, I32), args[0], power)


def exponent(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """`np.frexp(x)[1]`: 0 for what is not finite."""
    kind = register_kind(dtype)
    function = e.module.declare(f"llvm.frexp.{kind.suffix}.i32", pair(kind, I32), kind)
    finite = compare(e, "lt", e.intrinsic("fabs", args[0]), literal(np.inf, dtype), dtype)
    both = e.call(function, args[0])
    return e.select(finite, e.one_of(both, 1, I32), 0)
