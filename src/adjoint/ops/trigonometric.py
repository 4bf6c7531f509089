"""Circular and hyperbolic functions, and their inverses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.entry.facts import CHEAP, POWER, Form, Kernel
from ..core.singular.slope import EVEN, KINK
from ..core.traced import ARRAY
from ..core.values import dtype_of
from ..rules import one_sided as sides
from ..rules.elementwise import Elementwise
from ..rules.stacking import aligned
from . import costs, series
from .declare import REAL, SYMMETRIC, also, declare, elementwise, ratio

TURN = math.pi / 180.0


def _sech_squared(x: Any) -> Any:
    if dtype_of(x).kind == "c":  # cosh would be infinite in both parts, and nan divided by
        shrunk = np.exp(np.where(np.real(x) < 0, 2.0, -2.0) * x)
        return 4.0 * shrunk / (1.0 + shrunk) ** 2
    if type(x) is not np.ndarray or x.ndim == 0:
        s = 1.0 / cosh.evaluate(x)
        return s * s
    s = np.cosh(x)
    np.divide(1.0, s, s)  # the same as the reciprocal, for which NumPy has no vector code
    return np.multiply(s, s, s)


def _root_of_one_plus_square(x: Any) -> Any:
    """sqrt(1 + x**2): without overflow, and on the branch of arcsinh.

    The product of x and 1j keeps the sign of a zero on the cut where the imaginary part is negative.
    """
    if not np.iscomplexobj(x):
        return np.hypot(1.0, x)
    return _root_of_one_minus_square(1j * np.where(np.imag(x) > 0.0, -x, x))


def _root_of_one_minus_square(x: Any) -> Any:
    """sqrt(1 - x**2), on the branch of arcsin: which side of a cut it is on is said by the sign of an imaginary zero.

    Adding to a complex number loses that sign, subtracting from it does not.
    """
    if not np.iscomplexobj(x):
        return np.sqrt(1.0 - x) * np.sqrt(1.0 + x)
    return np.sqrt(-(x - 1.0)) * np.sqrt(x - -1.0)


def _one_over_one_plus_square(x: Any) -> Any:
    """Of a complex number in two factors: its square may be infinite in both parts."""
    return 1.0 / (1.0 - 1j * x) * (1.0 / (1.0 + 1j * x)) if np.iscomplexobj(x) else 1.0 / (1.0 + x * x)


def _one_over_one_minus_square(x: Any) -> Any:
    return 1.0 / (1.0 - x) * (1.0 / (1.0 + x)) if np.iscomplexobj(x) else 1.0 / ((1.0 - x) * (1.0 + x))


sin = elementwise(np.sin, partials=[lambda x: _cos(x)], scalar=math.sin, slope=EVEN)
cos = elementwise(np.cos, partials=[lambda x: -_sin(x)], scalar=math.cos, slope=EVEN)
tan = elementwise(np.tan, partials=[lambda out: 1.0 + out * out], scalar=math.tan, domain=[(-1.5, 1.5)])
_sin, _cos = sin.evaluate, cos.evaluate
arcsin = elementwise(
    np.arcsin,
    partials=[lambda x: 1.0 / _root_of_one_minus_square(x)],
    scalar=math.asin,
    domain=[SYMMETRIC],
    vertex=True,
)
arccos = elementwise(
    np.arccos,
    partials=[lambda x: -1.0 / _root_of_one_minus_square(x)],
    scalar=math.acos,
    domain=[SYMMETRIC],
    vertex=True,
)
arctan = elementwise(np.arctan, partials=[lambda x: _one_over_one_plus_square(x)], scalar=math.atan)
arctan2 = elementwise(
    np.arctan2,
    partials=[
        lambda x, y: ratio(ratio(y, np.hypot(x, y)), np.hypot(x, y)),
        lambda x, y: -ratio(ratio(x, np.hypot(x, y)), np.hypot(x, y)),
    ],
    note="arctan2(y, x) has slope 0 at the origin",
    scalar=math.atan2,
    series=series.not_at_origin,
)
hypot = elementwise(
    np.hypot,
    partials=[lambda out, x: ratio(x, out), lambda out, y: ratio(y, out)],
    slope=KINK,
    sided=sides.hypotenuse,
    note="slope 0 at the origin",
    scalar=math.hypot,
    form=Form(sympy="sqrt(x**2 + y**2)"),
)
sinh = elementwise(np.sinh, partials=[lambda x: _cosh(x)], scalar=math.sinh)
cosh = elementwise(np.cosh, partials=[lambda x: _sinh(x)], scalar=math.cosh, slope=EVEN)
_sinh, _cosh = sinh.evaluate, cosh.evaluate
tanh = elementwise(
    np.tanh,
    partials=[lambda x: _sech_squared(x) if type(x) is ARRAY else sech_squared(x)],
    scalar=math.tanh,
    series=lambda step: series.hyperbolic_tangent(step, sech_squared),
)
# 1 - tanh(x)**2 without its cancellation: at x = 20 that difference is 0, the slope is 1.7e-17
sech_squared = declare(
    "sech_squared",
    _sech_squared,
    Elementwise([lambda out, x: -2.0 * np.tanh(x) * out]),
    stacking=aligned,
    domain=(REAL,),
    kernel=Kernel("sech_squared", types=np.cosh),
    form=Form(
        hold=POWER,
        text="sech² sech2",
        source="(1.0 / np.cosh({0}))**2",
        javascript="(1/square(cosh({0})))",
        sympy="1/cosh(x)**2",
    ),
)
arcsinh = elementwise(np.arcsinh, partials=[lambda x: 1.0 / _root_of_one_plus_square(x)], scalar=math.asinh)
arccosh = elementwise(
    np.arccosh,
    partials=[lambda x: 1.0 / (np.sqrt(x - 1.0) * np.sqrt(x - -1.0))],
    scalar=math.acosh,
    domain=[(1.0, math.inf)],
    vertex=True,
)
arctanh = elementwise(
    np.arctanh, partials=[lambda x: _one_over_one_minus_square(x)], scalar=math.atanh, domain=[SYMMETRIC]
)
deg2rad = elementwise(
    np.deg2rad,
    partials=[lambda: TURN],
    scalar=math.radians,
    kernel=Kernel("TO_RADIANS", cost=CHEAP),
    form=Form(javascript="({0}*PI/180)", sympy="pi*x/180"),
    cost=costs.arithmetic,
)
rad2deg = elementwise(
    np.rad2deg,
    partials=[lambda: 1.0 / TURN],
    scalar=math.degrees,
    kernel=Kernel("TO_DEGREES", cost=CHEAP),
    form=Form(javascript="({0}*180/PI)", sympy="180*x/pi"),
    cost=costs.arithmetic,
)
also(np.radians, deg2rad)
also(np.degrees, rad2deg)
