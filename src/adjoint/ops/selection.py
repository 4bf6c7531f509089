"""Functions that pick among their arguments, and piecewise constant ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.careful import KINK
from ..core.spoken import is_awaited
from ..core.traced import PYTHON, Traced
from ..core.values import dtype_of
from ..rules.elementwise import Elementwise
from ..rules.linear import Linear
from ..rules.selecting import Selecting
from ..rules.stacking import aligned
from .declare import CONSTANT, REAL, UFUNCS, composed, constant, declare, elementwise, ratio, selecting
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
maximum = selecting(np.maximum, lambda x, y: _wins(x, y, np.greater), lambda x, y: _wins(y, x, np.greater), note=TIES)
minimum = selecting(np.minimum, lambda x, y: _wins(x, y, np.less), lambda x, y: _wins(y, x, np.less), note=TIES)
fmax = selecting(np.fmax, lambda x, y: _fwins(x, y, np.greater), lambda x, y: _fwins(y, x, np.greater), note=TIES)
fmin = selecting(np.fmin, lambda x, y: _fwins(x, y, np.less), lambda x, y: _fwins(y, x, np.less), note=TIES)


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
)


def _chosen(g: Any, condition: Any, first: bool) -> Any:
    return np.where(condition, g, 0.0) if first else np.where(condition, 0.0, g)


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
)


absolute = elementwise(
    np.absolute,
    partials=[lambda out, x: ratio(np.conjugate(x), out) if np.iscomplexobj(x) else np.sign(x)],
    evaluate=abs,
    slope=KINK,
    note="slope 0 at 0",
)
fabs = elementwise(np.fabs, partials=[lambda x: np.sign(x)], scalar=math.fabs, slope=KINK, note="slope 0 at 0")
copysign = elementwise(
    np.copysign,
    partials=[lambda x, y: np.sign(x) * np.copysign(1.0, y), lambda: 0.0],
    slope=KINK,
    note="slope 0 at 0, as that of the absolute value",
)
heaviside = selecting(np.heaviside, lambda: 0.0, lambda x: pick(x == 0, 1.0, 0.0))
nextafter = selecting(np.nextafter, lambda: 1.0, lambda: 0.0)


def _remainder(x: Any, y: Any) -> Any:
    """Python's own operator for its numbers, also inside other walks: the same, and a Python number."""
    are_pythons = type(x) in PYTHON and type(y) in PYTHON
    if isinstance(x, Traced) or isinstance(y, Traced) or (are_pythons and (y != 0 or is_awaited())):
        return x % y
    return np.remainder(x, y)


remainder = elementwise(
    np.remainder,
    partials=[lambda: 1.0, lambda x, y: -np.floor_divide(x, y)],
    evaluate=_remainder,
    domain=[REAL, (0.25, math.inf)],
)
fmod = elementwise(
    np.fmod,
    partials=[lambda: 1.0, lambda out, x, y: -np.rint((x - out) / y)],
    domain=[REAL, (0.25, math.inf)],
)
ldexp = elementwise(np.ldexp, partials=[lambda y: np.ldexp(1.0, y), None])

fraction = declare("fraction", lambda x: np.modf(x)[0], Elementwise([lambda: 1.0]), stacking=aligned, domain=(REAL,))
exponent = declare("exponent", lambda x: np.frexp(x)[1], CONSTANT, stacking=aligned)


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
_ufunc: Any
for _ufunc in (np.floor, np.ceil, np.trunc, np.rint, np.sign, np.floor_divide, np.spacing):
    constant(_ufunc, note=PIECEWISE)
for _ufunc in (
    np.isnan, np.isinf, np.isfinite, np.signbit, np.equal, np.not_equal, np.less, np.less_equal, np.greater,
    np.greater_equal, np.logical_and, np.logical_or, np.logical_not, np.logical_xor, np.bitwise_and, np.bitwise_or,
    np.bitwise_xor, np.invert, np.left_shift, np.right_shift, np.gcd, np.lcm, np.bitwise_count,
):  # fmt: skip
    constant(_ufunc, note="not real-valued")

_sign = UFUNCS[np.sign]


@composed(np.sign)
def sign(x: Any) -> Any:
    """`np.sign`: piecewise constant for real numbers, x / |x| for complex ones."""
    return ratio(x, np.abs(x)) if np.iscomplexobj(x) else _sign(x)


__all__ = ["absolute", "clip", "maximum", "minimum", "where"]
