"""Sums, products, powers."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..core.careful import EVEN, PRODUCT, Slope
from ..core.primitive import Primitive
from ..core.spoken import is_awaited
from ..core.traced import Traced
from ..core.values import dtype_of
from ..rules.linear import Linear
from ..rules.multilinear import Multilinear
from ..rules.stacking import aligned
from .declare import POSITIVE, REAL, UFUNCS, also, declare, elementwise, where

NONZERO = (0.25, math.inf)


def _linear(ufunc: Any, evaluate: Any, *transposes: Any) -> Primitive:
    primitive = declare(
        ufunc.__name__,
        evaluate,
        Linear(*transposes, structural=True),
        stacking=aligned,
        domain=(REAL,) * len(transposes),
    )
    UFUNCS[ufunc] = primitive
    return primitive


def _divide(x: Any, y: Any) -> Any:
    try:
        return x / y
    except ZeroDivisionError:
        if is_awaited():
            raise
        return np.divide(x, y)


def _power(x: Any, y: Any) -> Any:
    if type(x) is float and (type(y) is float or type(y) is int):
        try:
            return math.pow(x, y)
        except (ValueError, OverflowError):
            if is_awaited(ZeroDivisionError if x == 0 else OverflowError):
                x**y  # raises, or is complex
            return float(np.power(x, y))
    return x**y


def _power_in_base(x: Any, y: Any) -> Any:
    """y x**(y - 1), and 0 at 0**0, where the second factor is infinite."""
    if (type(y) is int or type(y) is float) and y != 0:
        return y * _power(x, y - 1)
    lowered = y - 1.0
    corner = (x == 0) & (y == 0)
    if not isinstance(corner, Traced) and not np.any(corner):
        return y * _power(x, lowered)
    return where(corner, 0.0, y * _power(x, where(corner, 1.0, lowered)))


def _power_in_exponent(out: Any, x: Any, y: Any) -> Any:
    """x**y log x, and 0 at x = 0 <= y, where the logarithm is infinite."""
    flat = (x == 0) & (np.real(y) >= 0)
    return out * np.log(where(flat, 1.0, x))


def _square(x: Any) -> Any:
    if isinstance(x, Traced):
        return square(x)
    out = x * x
    if type(out) is float and out == math.inf and x - x == 0 and is_awaited(OverflowError):
        return x**2  # raises
    return out


def _slope_of_power(x: Any, y: Any) -> Slope:
    """Whole powers are smooth where they have no slope, and roots beyond the second are steep."""
    if dtype_of(y).kind == "c":
        return Slope(steep=True)
    is_even = np.equal(np.remainder(y, 2), 0)
    return Slope(smooth=(y >= 2) & np.equal(y, np.floor(y)), even=is_even, bent=np.equal(y, 2), steep=y < 0.5)


def _reciprocal(x: Any) -> Any:
    return _divide(1.0, x) if type(x) is float else np.reciprocal(x)


add = _linear(np.add, operator.add, lambda g, out, x, y: g, lambda g, out, x, y: g)
subtract = _linear(np.subtract, operator.sub, lambda g, out, x, y: g, lambda g, out, x, y: -g)
negative = _linear(np.negative, operator.neg, lambda g, out, x: -g)
positive = _linear(np.positive, operator.pos, lambda g, out, x: g)

multiply = declare(
    "multiply",
    operator.mul,
    Multilinear(lambda g, out, x, y: g * y, lambda g, out, x, y: g * x, elementwise=True),
    stacking=aligned,
    domain=(REAL, REAL),
)
UFUNCS[np.multiply] = multiply

divide = elementwise(
    np.divide,
    partials=[lambda y: _divide(1.0, y), lambda out, y: _divide(-out, y)],
    evaluate=_divide,
    domain=[REAL, NONZERO],
    slope=PRODUCT,
)
square = elementwise(np.square, partials=[lambda x: 2.0 * x], evaluate=_square, slope=EVEN)
reciprocal = elementwise(np.reciprocal, partials=[lambda out: -out * out], evaluate=_reciprocal, domain=[NONZERO])
power = elementwise(
    np.power,
    partials=[lambda x, y: _power_in_base(x, y), lambda out, x, y: _power_in_exponent(out, x, y)],
    evaluate=_power,
    domain=[POSITIVE, REAL],
    vertex=True,
    slope=_slope_of_power,
    note="0 ** 0 has slope 0; x ** y has no slope in y at x = 0 < y",
)
float_power = elementwise(
    np.float_power,
    partials=power.derivative.partials,
    domain=[POSITIVE, REAL],
    vertex=True,
    slope=_slope_of_power,
)
sqrt = elementwise(
    np.sqrt,
    partials=[lambda out: 0.5 / out],
    scalar=math.sqrt,
    domain=[POSITIVE],
    vertex=True,
    note="at 0: inf, or 0 where the inner function has no slope, as in sqrt(x**2)",
)
cbrt = elementwise(
    np.cbrt,
    partials=[lambda out: 1.0 / (3.0 * out * out)],
    domain=[NONZERO],
    vertex=True,
    slope=Slope(steep=True),
)
also(np.true_divide, divide)

__all__ = [
    "add",
    "cbrt",
    "divide",
    "multiply",
    "negative",
    "positive",
    "power",
    "reciprocal",
    "sqrt",
    "square",
    "subtract",
]
