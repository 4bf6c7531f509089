"""Functions that pick among their arguments, and piecewise constant ones."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..core.calls.arithmetic_errors import is_awaited
from ..core.entry.facts import AN_ARRAY, BOTH, CHEAP, COMPARE, EITHER, EXCLUSIVE, PRODUCT, SHIFT, SIGN, Form, Kernel
from ..core.singular.replaced import ASKS, COMPARES
from ..core.singular.slope import KINK
from ..core.traced import PYTHON, Traced
from ..core.values import dtype_of
from ..rules import one_sided as sides
from ..rules.elementwise import Elementwise
from ..rules.linear import Linear
from ..rules.selecting import Selecting
from ..rules.stacking import aligned
from . import costs
from .declare import CONSTANT, REAL, UFUNCS, also, composed, constant, declare, elementwise, ratio, selecting
from .declare import where as pick


def _wins(x: Any, y: Any, over: Any) -> Any:
    """1 where x is chosen, one half at a tie; against the number 0, the ReLU's convention: 0 at a tie."""
    tie = 0.0 if _is_zero(x) or _is_zero(y) else 0.5
    return pick(np.equal(x, y), tie, pick(over(x, y) | np.isnan(x), 1.0, 0.0))


def _is_zero(x: Any) -> bool:
    return type(x) is int and x == 0


def _fwins(x: Any, y: Any, over: Any) -> Any:
    """As `_wins`, for functions that pass over nan."""
    return pick(np.isnan(y) & ~np.isnan(x), 1.0, pick(np.isnan(x), 0.0, _wins(x, y, over)))


TIES = "ties are shared equally; against the number 0 the slope at a tie is 0 (ReLU)"
maximum = selecting(
    np.maximum,
    lambda x, y: _wins(x, y, np.greater),
    lambda x, y: _wins(y, x, np.greater),
    note=TIES,
    kernel=Kernel("MAXIMUM", "fiub", CHEAP),
    form=Form(sympy="Max"),
)
minimum = selecting(
    np.minimum,
    lambda x, y: _wins(x, y, np.less),
    lambda x, y: _wins(y, x, np.less),
    note=TIES,
    kernel=Kernel("MINIMUM", "fiub", CHEAP),
    form=Form(sympy="Min"),
)
fmax = selecting(
    np.fmax,
    lambda x, y: _fwins(x, y, np.greater),
    lambda x, y: _fwins(y, x, np.greater),
    note=TIES,
    kernel=Kernel("FMAX", "fiub", CHEAP),
    form=Form(sympy="Max"),
)
fmin = selecting(
    np.fmin,
    lambda x, y: _fwins(x, y, np.less),
    lambda x, y: _fwins(y, x, np.less),
    note=TIES,
    kernel=Kernel("FMIN", "fiub", CHEAP),
    form=Form(sympy="Min"),
)


def _inside(x: Any, y: Any, z: Any) -> Any:
    return pick((x < y) | (x > z), 0.0, 1.0)


clip = declare(
    "clip",
    lambda x, low, high: np.clip(x, low, high),
    Selecting(
        lambda x, y, z: _inside(x, y, z),
        lambda x, y, z: pick((x < y) & (y <= z), 1.0, 0.0),
        lambda x, y, z: pick((np.maximum(x, y) > z), 1.0, 0.0),
    ),
    stacking=aligned,
    domain=(REAL, REAL, REAL),
    note="slope 1 at the bounds themselves",
    kernel=Kernel("clip", "fiub", CHEAP, "bounded"),
    form=Form(source="np.clip({0}, {1}, {2})", sympy="Min(Max(x, y), z)"),
)
also(np._core.umath.clip, clip)  # type: ignore[attr-defined]  # what the method of arrays calls with two bounds


def _chosen(g: Any, condition: Any, first: bool) -> Any:
    return np.where(condition, g, 0.0) if first else np.where(condition, 0.0, g)


def _not_chosen(k: int, condition: Any, x: Any, y: Any) -> Any:
    """Where an element is not taken."""
    return np.logical_not(condition) if k == 1 else condition if k == 2 else None


where = declare(
    "where",
    np.where,
    Linear(
        None,
        lambda g, out, condition, x, y: _chosen(g, condition, first=True),
        lambda g, out, condition, x, y: _chosen(g, condition, first=False),
        structural=True,
    ),
    stacking=aligned,
    domain=(REAL, REAL, REAL),
    leaves_out=_not_chosen,
    scalar=lambda condition, x, y: x if condition else y,
    kernel=Kernel("where", "fiub", CHEAP, "chosen"),
    form=Form(source="np.where({0}, {1}, {2})", sympy="chosen"),
    axisless=AN_ARRAY,
)


absolute = elementwise(
    np.absolute,
    partials=[lambda out, x: ratio(np.conjugate(x), out) if np.iscomplexobj(x) else np.sign(x)],
    evaluate=abs,
    slope=KINK,
    sided=sides.absolute,
    note="slope 0 at 0",
    scalar=abs,
    kernel=Kernel("absolute", "fiub", CHEAP),
    form=Form(text="abs", source="np.abs({0})", javascript="abs", sympy="Abs"),
    cost=costs.arithmetic,
)
fabs = elementwise(
    np.fabs,
    partials=[lambda x: np.sign(x)],
    scalar=math.fabs,
    slope=KINK,
    sided=sides.absolute,
    note="slope 0 at 0",
    kernel=Kernel("llvm fabs", cost=CHEAP),
    form=Form(text="abs", javascript="abs", sympy="Abs"),
    cost=costs.arithmetic,
)
copysign = elementwise(
    np.copysign,
    partials=[lambda x, y: np.sign(x) * np.copysign(1.0, y), lambda: 0.0],
    slope=KINK,
    note="slope 0 at 0, as that of the absolute value",
    scalar=math.copysign,
    kernel=Kernel("llvm copysign", cost=CHEAP),
    form=Form(sympy="Piecewise((-Abs(x), y < 0), (Abs(x), True))"),
    cost=costs.arithmetic,
)
heaviside = selecting(
    np.heaviside,
    lambda: 0.0,
    lambda x: pick(x == 0, 1.0, 0.0),
    kernel=Kernel("heaviside", cost=CHEAP),
    form=Form(sympy="Piecewise((0, x < 0), (y, Eq(x, 0)), (1, True))"),
)
nextafter = selecting(np.nextafter, lambda: 1.0, lambda: 0.0, kernel=Kernel("libm nextafter"))


def _remainder(x: Any, y: Any) -> Any:
    """Python's own operator for its numbers, also inside other traces: the same, and a Python number."""
    are_pythons = type(x) in PYTHON and type(y) in PYTHON
    if isinstance(x, Traced) or isinstance(y, Traced) or (are_pythons and (y != 0 or is_awaited())):
        return x % y
    return np.remainder(x, y)


remainder = elementwise(
    np.remainder,
    partials=[lambda: 1.0, lambda x, y: -np.floor_divide(x, y)],
    evaluate=_remainder,
    domain=[REAL, (0.25, math.inf)],
    kernel=Kernel("remainder", "fiu"),
    form=Form("%", PRODUCT, text="remainder", javascript="remainder", sympy="x - y*floor(x/y)"),
    python=operator.mod,
    cost=costs.arithmetic,
)
fmod = elementwise(
    np.fmod,
    partials=[lambda: 1.0, lambda out, x, y: -np.rint((x - out) / y)],
    domain=[REAL, (0.25, math.inf)],
    kernel=Kernel("fmod", "fiu"),
    form=Form(sympy="x - y*sign(x/y)*floor(Abs(x/y))"),
    cost=costs.arithmetic,
)
ldexp = elementwise(
    np.ldexp,
    partials=[lambda y: np.ldexp(1.0, y), None],
    kernel=Kernel("ldexp", types="scaled"),
    form=Form(sympy="x*2**y"),
    cost=costs.arithmetic,
)

fraction = declare(
    "fraction",
    lambda x: np.modf(x)[0],
    Elementwise([lambda: 1.0]),
    stacking=aligned,
    domain=(REAL,),
    kernel=Kernel("fraction", cost=CHEAP, types=np.modf),
    form=Form(source="np.modf({0})[0]", sympy="x - sign(x)*floor(Abs(x))"),
    cost=costs.arithmetic,
)
exponent = declare(
    "exponent",
    lambda x: np.frexp(x)[1],
    CONSTANT,
    stacking=aligned,
    kernel=Kernel("exponent", types="split"),
    form=Form(source="np.frexp({0})[1]"),
)


@composed(np.modf)
def modf(x: Any) -> tuple[Any, Any]:
    """`np.modf`: the integral part is piecewise constant."""
    if dtype_of(x).kind in "biu":
        x = np.multiply(x, np.modf(np.zeros((), dtype_of(x)))[0].dtype.type(1))
    return fraction(x), np.trunc(x)


@composed(np.frexp)
def frexp(x: Any) -> tuple[Any, Any]:
    """`np.frexp`: the exponent is piecewise constant."""
    power = exponent(x)
    return np.ldexp(x, -power), power


@composed(np.divmod)
def divmod(x: Any, y: Any) -> tuple[Any, Any]:
    """`np.divmod`."""
    return np.floor_divide(x, y), np.remainder(x, y)


PIECEWISE = "piecewise constant: the derivative is 0"
NEAREST = (
    "Piecewise((floor(x), x - floor(x) < Rational(1, 2)), (floor(x) + 1, x - floor(x) > Rational(1, 2)), "
    "(Piecewise((floor(x), Eq(Mod(floor(x), 2), 0)), (floor(x) + 1, True)), True))"
)
"""To the nearest whole number; halves to the even one."""
constant(np.floor, note=PIECEWISE, kernel=Kernel("llvm floor", "fiub", CHEAP), form=Form(sympy="floor"))
constant(np.ceil, note=PIECEWISE, kernel=Kernel("llvm ceil", "fiub", CHEAP), form=Form(sympy="ceiling"))
constant(np.trunc, note=PIECEWISE, kernel=Kernel("llvm trunc", "fiub", CHEAP), form=Form(sympy="sign(x)*floor(Abs(x))"))
constant(np.rint, note=PIECEWISE, kernel=Kernel("llvm rint", cost=CHEAP), form=Form(sympy=NEAREST))
constant(np.sign, note=PIECEWISE, kernel=Kernel("sign", "fiu", CHEAP), form=Form(sympy="sign"))
constant(
    np.floor_divide,
    note=PIECEWISE,
    kernel=Kernel("floor_divide", "fiu"),
    form=Form("//", PRODUCT, text="floor_divide", javascript="floor_divide", sympy="floor(x/y)"),
    python=operator.floordiv,
)
constant(np.spacing, note=PIECEWISE, kernel=Kernel("spacing"))


def _question(ufunc: Any, code: str, kinds: str = "fiub", form: Form = Form(), **facts: Any) -> None:  # noqa: B008  (frozen)
    """What is asked of numbers or done to bits: nothing that has a slope."""
    constant(ufunc, note="not real-valued", kernel=Kernel(code, kinds, CHEAP), form=form, **facts)


_question(np.equal, "comparison eq", asks=COMPARES, form=Form("==", COMPARE, javascript="equal", sympy="Eq"))
_question(np.not_equal, "comparison ne", asks=COMPARES, form=Form("!=", COMPARE, javascript="not_equal", sympy="Ne"))
_question(np.less, "comparison lt", asks=COMPARES, form=Form("<", COMPARE))
_question(np.less_equal, "comparison le", asks=COMPARES, form=Form("<=", COMPARE))
_question(np.greater, "comparison gt", asks=COMPARES, form=Form(">", COMPARE))
_question(np.greater_equal, "comparison ge", asks=COMPARES, form=Form(">=", COMPARE))
_question(np.isnan, "isnan", asks=ASKS, scalar=math.isnan, form=Form(sympy="S.false"))
_question(np.isinf, "isinf", asks=ASKS, scalar=math.isinf, form=Form(sympy="S.false"))
_question(np.isfinite, "isfinite", asks=ASKS, scalar=math.isfinite, form=Form(sympy="S.true"))
_question(np.signbit, "signbit", "f", form=Form(sympy="x < 0"))
_question(
    np.logical_and,
    "logical and",
    form=Form(hold=COMPARE, text="{0:sum} and {1:sum}", sympy="And"),
    commutative=True,
    neutral=True,
)
_question(
    np.logical_or,
    "logical or",
    form=Form(hold=COMPARE, text="{0:sum} or {1:sum}", sympy="Or"),
    commutative=True,
    neutral=False,
)
_question(np.logical_xor, "logical xor", form=Form(sympy="Xor"))
_question(np.logical_not, "logical_not", form=Form(sympy="Not"))
_question(
    np.bitwise_and, "AND", "iub", Form("&", BOTH, logical="logical_and", sympy="And"), commutative=True, neutral=True
)
_question(
    np.bitwise_or, "OR", "iub", Form("|", EITHER, logical="logical_or", sympy="Or"), commutative=True, neutral=False
)
_question(np.bitwise_xor, "XOR", "iub", Form("^", EXCLUSIVE, text="bitwise_xor", logical="logical_xor", sympy="Xor"))
_question(np.invert, "invert", "iub", Form("~", SIGN, text="invert", logical="logical_not", sympy="Not"))
_question(np.left_shift, "left_shift", "iu", Form("<<", SHIFT, text="left_shift"))
_question(np.right_shift, "right_shift", "iu", Form(">>", SHIFT, text="right_shift"))
_question(np.bitwise_count, "bitwise_count", "iub")
constant(np.gcd, note="not real-valued")
constant(np.lcm, note="not real-valued")

_sign = UFUNCS[np.sign]


@composed(np.sign, is_exact=True)
def sign(x: Any) -> Any:
    """`np.sign`: piecewise constant for real numbers, x / |x| for complex ones."""
    return ratio(x, np.abs(x)) if np.iscomplexobj(x) else _sign(x)
