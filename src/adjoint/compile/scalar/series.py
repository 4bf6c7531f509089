"""Exponentials and logarithms written out as polynomials without branches.

A call of a vector library saves and restores every register around it and looks numbers up in tables; a dozen
multiply-adds in place are two to four times as quick, more accurate, and give every element the same result, in a
vector or alone. They need a processor that multiplies and adds in one rounding.

    exp(x) = 2**n exp(r),      n = round(x / log 2),   |r| <= log(2) / 2
    log(x) = k log 2 + log(m), x = 2**k m,             sqrt(1/2) <= m < sqrt(2)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..assembly.emit import Emitter
from ..assembly.kinds import bits_kind, register_kind
from ..assembly.values import Value, literal
from ..runtime.processor import has_feature
from .basic import DIVIDE, MULTIPLY, compare, negate


@dataclass(frozen=True)
class Format:
    """What the polynomials need to know about a type of floats."""

    digits: int
    """Bits of the fraction."""
    bias: int
    """What is added to exponents in memory."""
    lowest: float
    """exp is 0 below this."""
    highest: float
    """exp is infinite above this."""
    flat: float
    """expm1 is -1 below minus this."""
    log_2: tuple[float, float]
    """log 2 to the type's precision, and the rest of it."""
    log_2_short: tuple[float, float]
    """log 2 in so few bits that its product with an exponent is exact, and the rest of it."""
    exponential: tuple[float, ...]
    """(exp(r) - 1 - r) / r**2, by rising powers of r."""
    logarithm: tuple[float, ...]
    """By rising powers: of s**2 for doubles, where s = f / (2 + f); of f = m - 1 for singles."""


FORMATS = {
    "float64": Format(
        digits=52,
        bias=1023,
        lowest=-746.0,
        highest=710.0,
        flat=40.0,
        log_2=(0.6931471805599453, 2.3190468138462996e-17),
        log_2_short=(6.93147180369123816490e-01, 1.90821492927058770002e-10),
        exponential=(
            0.5000000000000001,
            0.16666666666666669,
            0.04166666666662413,
            0.008333333333330062,
            0.0013888888917213717,
            0.00019841269863053618,
            2.4801521295954376e-05,
            2.7557268459997064e-06,
            2.7620088445409746e-07,
            2.510038549551032e-08,
        ),
        logarithm=(
            0.666666666666667,
            0.39999999999899444,
            0.2857142862600327,
            0.22222211130259878,
            0.18182889455674947,
            0.15331710618210773,
            0.14616585424888623,
        ),
    ),
    "float32": Format(
        digits=23,
        bias=127,
        lowest=-104.0,
        highest=89.0,
        flat=20.0,
        log_2=(0.6931471824645996, -1.9046542121259336e-09),
        log_2_short=(0.693359375, -2.12194440e-4),
        exponential=(0.5, 0.16666576666119928, 0.04166655421298415, 0.008363232883682618, 0.0013926250831497611),
        logarithm=(
            0.33333331180030046,
            -0.24999996957950882,
            0.200007157488921,
            -0.16667802319501254,
            0.1424905764569748,
            -0.12425687331451106,
            0.1168541992348674,
            -0.11479733846637635,
            0.06971611471451178,
        ),
    ),
}


def exp(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """The exponential: rounded once more where the result is subnormal, never in between."""
    form = FORMATS[dtype.name]
    x = _at_most(e, _at_least(e, args[0], form.lowest, dtype), form.highest, dtype)
    power, rise = _reduced(e, x, form, dtype)
    found = e.op("fadd", literal(1, dtype), rise)
    for factor in _two_factors(e, power, form, dtype):
        found = MULTIPLY(e, [found, factor], dtype)
    return found


def expm1(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """One less than the exponential, 2**n (exp(r) - 1) + (2**n - 1), with the sign of x, of zeros too.

    By half of 2**n, as 2**n may overflow where the result does not.
    """
    form = FORMATS[dtype.name]
    x = _at_most(e, _at_least(e, args[0], -form.flat, dtype), form.highest, dtype)
    power, rise = _reduced(e, x, form, dtype)
    half = _power_of_two(e, e.op("add", power, form.bias - 1), form, dtype)
    found = e.intrinsic("fma", half, rise, e.op("fadd", half, literal(-0.5, dtype)))
    found = MULTIPLY(e, [found, literal(2, dtype)], dtype)
    return e.intrinsic("copysign", found, args[0])


def tanh(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """(1 - E) / (1 + E) with E = exp(-2 |x|), and the sign of x; 1 - E from expm1, so that no digits cancel."""
    rise, first, second, inverse = _decay(e, args[0], dtype)
    scale = MULTIPLY(e, [first, second], dtype)
    drop = e.intrinsic("fma", scale, rise, e.op("fadd", scale, literal(-1, dtype)))
    return e.intrinsic("copysign", MULTIPLY(e, [drop, inverse], dtype), args[0])


def sech_squared(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """4 E / (1 + E)**2; beside tanh of the same number it costs a few products."""
    rise, first, second, inverse = _decay(e, args[0], dtype)
    found = MULTIPLY(e, [e.op("fadd", literal(1, dtype), rise), first], dtype)
    double = e.op("fadd", inverse, inverse)
    found = MULTIPLY(e, [found, MULTIPLY(e, [double, double], dtype)], dtype)
    return MULTIPLY(e, [found, second], dtype)


def _decay(e: Emitter, x: Value, dtype: np.dtype) -> tuple[Value, Value, Value, Value]:
    """Of E = exp(-2 |x|) = 2**n exp(r): expm1(r), 2**n in two factors, and 1 / (1 + E)."""
    form = FORMATS[dtype.name]
    size = _at_most(e, e.intrinsic("fabs", x), -form.lowest / 2.0, dtype)
    power, rise = _reduced(e, MULTIPLY(e, [size, literal(-2, dtype)], dtype), form, dtype)
    first, second = _two_factors(e, power, form, dtype)
    one = literal(1, dtype)
    found = MULTIPLY(e, [MULTIPLY(e, [e.op("fadd", one, rise), first], dtype), second], dtype)
    return rise, first, second, DIVIDE(e, [one, e.op("fadd", one, found)], dtype)


def log(e: Emitter, args: list[Value], dtype: np.dtype) -> Value:
    """The natural logarithm; -inf at 0, nan below."""
    form = FORMATS[dtype.name]
    x = args[0]
    exponent, fraction = _split(e, x, form, dtype)
    high, low = [literal(v, dtype) for v in form.log_2_short]
    square = MULTIPLY(e, [fraction, fraction], dtype)
    half_square = MULTIPLY(e, [literal(0.5, dtype), square], dtype)
    if dtype.itemsize == 8:
        ratio = DIVIDE(e, [fraction, e.op("fadd", fraction, literal(2, dtype))], dtype)
        z = MULTIPLY(e, [ratio, ratio], dtype)
        series = _polynomial(e, z, MULTIPLY(e, [z, z], dtype), form.logarithm, dtype)
        series = e.intrinsic("fma", z, series, half_square)
    else:
        ratio = MULTIPLY(e, [square, fraction], dtype)
        series = _polynomial(e, fraction, square, form.logarithm, dtype)
    bent = e.intrinsic("fma", ratio, series, MULTIPLY(e, [exponent, low], dtype))
    bent = e.op("fsub", bent, half_square)
    found = e.intrinsic("fma", exponent, high, e.op("fadd", fraction, bent))
    zero, infinity = literal(0, dtype), literal(np.inf, dtype)
    beyond = e.select(compare(e, "lt", x, zero, dtype), literal(np.nan, dtype), x)
    beyond = e.select(compare(e, "eq", x, zero, dtype), literal(-np.inf, dtype), beyond)
    above = compare(e, "gt", x, zero, dtype)
    inside = e.op("and", above, compare(e, "lt", x, infinity, dtype))
    return e.select(inside, found, beyond)


def _reduced(e: Emitter, x: Value, form: Format, dtype: np.dtype) -> tuple[Value, Value]:
    """n as an integer, and exp(r) - 1.

    Adding 3 * 2**(digits - 1) leaves n in the lowest bits, rounded: no conversion is needed.
    """
    bits = bits_kind(dtype)
    magic = dtype.type(1.5 * 2.0**form.digits)
    shifted = e.intrinsic("fma", x, literal(1.0 / np.log(2.0), dtype), literal(magic, dtype))
    whole = e.op("fsub", shifted, literal(magic, dtype))
    pattern = int(magic.view(f"i{dtype.itemsize}"))
    power = e.op("sub", e.convert("bitcast", shifted, bits), pattern)
    minus = negate(e, [whole], dtype)
    rest = x
    for part in form.log_2:
        rest = e.intrinsic("fma", minus, literal(part, dtype), rest)
    square = MULTIPLY(e, [rest, rest], dtype)
    bend = _polynomial(e, rest, square, form.exponential, dtype)
    return power, e.intrinsic("fma", square, bend, rest)


def _two_factors(e: Emitter, power: Value, form: Format, dtype: np.dtype) -> tuple[Value, Value]:
    """2**n as a product, as it may itself be out of range where what it is multiplied with is not."""
    shifted = e.op("add", power, 2 * form.bias)
    half = e.op("lshr", shifted, 1)
    other = e.op("sub", shifted, half)
    return _power_of_two(e, half, form, dtype), _power_of_two(e, other, form, dtype)


def _split(e: Emitter, x: Value, form: Format, dtype: np.dtype) -> tuple[Value, Value]:
    """k as a float, and m - 1; subnormal numbers are scaled up first."""
    kind, bits = register_kind(dtype), bits_kind(dtype)
    scale = form.digits + 2
    small = compare(e, "lt", x, literal(np.finfo(dtype).tiny, dtype), dtype)
    scaled = e.select(small, MULTIPLY(e, [x, literal(2.0**scale, dtype)], dtype), x)
    root = int(dtype.type(np.sqrt(0.5)).view(f"i{dtype.itemsize}"))
    one = int(dtype.type(1.0).view(f"i{dtype.itemsize}"))
    moved = e.op("add", e.convert("bitcast", scaled, bits), one - root)
    fraction_bits = e.op("and", moved, 2**form.digits - 1)
    mantissa = e.convert("bitcast", e.op("add", fraction_bits, root), kind)
    # an integer in the lowest bits of 2**digits is that number plus the integer: no conversion is needed
    anchor = dtype.type(2.0**form.digits)
    exponent_bits = e.op("lshr", moved, form.digits)
    joined = e.op("or", exponent_bits, int(anchor.view(f"i{dtype.itemsize}")))
    bias = literal(float(anchor) + form.bias, dtype)
    scaled_bias = literal(float(anchor) + form.bias + scale, dtype)
    joined = e.convert("bitcast", joined, kind)
    exponent = e.op("fsub", joined, e.select(small, scaled_bias, bias))
    return exponent, e.op("fsub", mantissa, literal(1, dtype))


def _power_of_two(e: Emitter, biased: Value, form: Format, dtype: np.dtype) -> Value:
    return e.convert("bitcast", e.op("shl", biased, form.digits), register_kind(dtype))


def _polynomial(e: Emitter, x: Value, square: Value, coefficients: tuple[float, ...], dtype: np.dtype) -> Value:
    """Even and odd powers apart: half as long a chain, for the square that is needed anyway."""
    sums = []
    for powers in (coefficients[0::2], coefficients[1::2]):
        total = literal(powers[-1], dtype)
        for c in reversed(powers[:-1]):
            total = e.intrinsic("fma", total, square, literal(c, dtype))
        sums.append(total)
    return e.intrinsic("fma", sums[1], x, sums[0])


def _at_most(e: Emitter, x: Value, bound: float, dtype: np.dtype) -> Value:
    limit = literal(bound, dtype)
    return e.select(compare(e, "gt", x, limit, dtype), limit, x)


def _at_least(e: Emitter, x: Value, bound: float, dtype: np.dtype) -> Value:
    limit = literal(bound, dtype)
    return e.select(compare(e, "lt", x, limit, dtype), limit, x)


def written_out(e: Emitter, name: str) -> bool:
    """Whether a function is better written out than called."""
    return name in SERIES and not e.module.straight and has_feature("fma")


SERIES = {written.__name__: written for written in (exp, expm1, tanh, sech_squared, log)}
"""The functions written out here, by the C library's name."""
