"""Sums, products, powers."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.calls.arithmetic_errors import is_awaited
from ..core.entry.facts import CHEAP, MEDIUM, POWER, SIGN, SUM, Form, Kernel
from ..core.entry.facts import PRODUCT as TIMES
from ..core.entry.moves import Same
from ..core.primitive import Primitive
from ..core.singular.slope import EVEN, PRODUCT, Slope
from ..core.trace import ALIKE
from ..core.traced import Traced
from ..core.values import dtype_of
from ..rules import one_sided as sides
from ..rules.linear import Linear
from ..rules.multilinear import Multilinear
from . import costs, series
from .declare import POSITIVE, REAL, also, elementwise, universal, where

NONZERO = (0.25, math.inf)


def _linear(ufunc: Any, evaluate: Any, *transposes: Any, together: Any = None, **facts: Any) -> Primitive:
    return universal(ufunc, Linear(*transposes, structural=True, together=together), evaluate=evaluate, **facts)


def _of_sum(primitive: Primitive, g: Any, out: Any, args: Any, params: Any, needed: Sequence[bool]) -> Sequence[Any]:
    return g if needed[0] else None, g if needed[1] else None


def _of_difference(
    primitive: Primitive, g: Any, out: Any, args: Any, params: Any, needed: Sequence[bool]
) -> Sequence[Any]:
    return g if needed[0] else None, -g if needed[1] else None


def _of_product(
    primitive: Primitive, g: Any, out: Any, args: Any, params: Any, needed: Sequence[bool]
) -> Sequence[Any]:
    x, y = args
    if x is y and params is ALIKE and needed[0] and needed[1]:
        found = g * x  # small, so that nobody writes to it: one array for both
        return found, found
    return g * y if needed[0] else None, g * x if needed[1] else None


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
    if type(x) is not float and dtype_of(x).kind == "b":
        return np.square(x)  # a small integer, where the product is a truth value
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


add = _linear(
    np.add,
    operator.add,
    lambda g, out, x, y: g,
    lambda g, out, x, y: g,
    together=_of_sum,
    kernel=Kernel("ADD", "fiub", CHEAP),
    form=Form("+", SUM, logical="logical_or"),
    commutative=True,
)
subtract = _linear(
    np.subtract,
    operator.sub,
    lambda g, out, x, y: g,
    lambda g, out, x, y: -g,
    together=_of_difference,
    kernel=Kernel("SUBTRACT", "fiu", CHEAP),
    form=Form("-", SUM),
)
negative = _linear(
    np.negative,
    operator.neg,
    lambda g, out, x: -g,
    kernel=Kernel("negate", "fiu", CHEAP),
    form=Form("-", SIGN),
)
positive = _linear(
    np.positive,
    operator.pos,
    lambda g, out, x: g,
    moves=Same(),
    kernel=Kernel("identity", "fiu", CHEAP),
    form=Form("+", SIGN),
)

multiply = universal(
    np.multiply,
    Multilinear(lambda g, out, x, y: g * y, lambda g, out, x, y: g * x, elementwise=True, together=_of_product),
    evaluate=operator.mul,
    kernel=Kernel("MULTIPLY", "fiub", CHEAP),
    form=Form("*", TIMES, logical="logical_and"),
    commutative=True,
    neutral=1.0,
)

divide = elementwise(
    np.divide,
    partials=[lambda y: _divide(1.0, y), lambda out, y: _divide(-out, y)],
    evaluate=_divide,
    neutral=1.0,
    domain=[REAL, NONZERO],
    slope=PRODUCT,
    kernel=Kernel("DIVIDE", cost=MEDIUM),
    form=Form("/", TIMES),
    python=operator.truediv,
    cost=costs.arithmetic,
    series=series.quotient,
)
square = elementwise(
    np.square,
    partials=[lambda x: 2.0 * x],
    evaluate=_square,
    slope=EVEN,
    scalar=lambda x: x * x,
    kernel=Kernel("square", "fiub", CHEAP, "squared"),
    form=Form("**", POWER, source="{0:atom}**2", sympy="x**2"),
    python=lambda x: x**2,
    cost=costs.arithmetic,
    series=series.squared,
)
reciprocal = elementwise(
    np.reciprocal,
    partials=[lambda out: -out * out],
    evaluate=_reciprocal,
    domain=[NONZERO],
    scalar=lambda x: 1.0 / x,
    kernel=Kernel("reciprocal", "fiu", MEDIUM),
    form=Form(hold=TIMES, text="1 / {0:sign}", sympy="1/x"),
    cost=costs.arithmetic,
    series=series.reciprocal,
)
_OF_POWER: list[Any] = [lambda x, y: _power_in_base(x, y), lambda out, x, y: _power_in_exponent(out, x, y)]
power = elementwise(
    np.power,
    partials=_OF_POWER,
    evaluate=_power,
    domain=[POSITIVE, REAL],
    vertex=True,
    slope=_slope_of_power,
    note="0 ** 0 has slope 0; x ** y has no slope in y at x = 0 < y",
    scalar=math.pow,
    refuses_integers=True,
    kernel=Kernel("power", "fiu", types="raised"),
    form=Form("**", POWER, source="{0:atom}**{1:sign}", javascript="power", sympy="x**y"),
    python=operator.pow,
    neutral=1.0,
    series=series.power,
    sided=sides.power,
)
float_power = elementwise(
    np.float_power,
    partials=_OF_POWER,
    domain=[POSITIVE, REAL],
    vertex=True,
    slope=_slope_of_power,
    kernel=Kernel("float_power"),
    form=Form(javascript="power", sympy="x**y"),
    series=series.power,
    sided=sides.power,
)
sqrt = elementwise(
    np.sqrt,
    partials=[lambda out: 0.5 / out],
    scalar=math.sqrt,
    domain=[POSITIVE],
    vertex=True,
    note="at 0: inf, or 0 where the inner function has no slope, as in sqrt(x**2)",
    kernel=Kernel("llvm sqrt", cost=MEDIUM),
    series=series.root,
    sided=sides.root,
)
cbrt = elementwise(
    np.cbrt,
    partials=[lambda out: 1.0 / (3.0 * out * out)],
    domain=[NONZERO],
    vertex=True,
    slope=Slope(steep=True),
    evaluate=np.cbrt,  # of floats too: another last digit than that of `math`
    scalar=math.cbrt,
    form=Form(sympy="sign(x)*Abs(x)**Rational(1, 3)"),
)
also(np.true_divide, divide)
