"""Hypergeometric functions, orthogonal polynomials, parabolic cylinder, Mathieu and spheroidal wave functions.

The slope in the argument is a function of the same kind, or follows from the differential equation; no slope is known
in the order, the degree or the parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from ...core.entry.facts import Form
from ..declare import POSITIVE, REAL, SYMMETRIC, UNIT, Interval, WholeNumbers, elementwise, where
from ..linalg.spectra import steady
from ..trigonometric import TURN
from .declare import several

PARAMETER = (0.5, 2.0)
DEGREE = WholeNumbers((0, 4))

elementwise(
    sc.hyp0f1,
    partials=[None, lambda x, y: sc.hyp0f1(x + 1.0, y) / x],
    domain=[PARAMETER, REAL],
    form=Form(sympy="hyper((), (x,), y)"),
)
elementwise(
    sc.hyp1f1,
    partials=[None, None, lambda x, y, z: where(x == 0, 0.0, x / y * sc.hyp1f1(x + 1.0, y + 1.0, z))],
    domain=[PARAMETER, PARAMETER, REAL],
    form=Form(sympy="hyper((x,), (y,), z)"),
)
elementwise(
    sc.hyp2f1,
    partials=[
        None,
        None,
        None,
        lambda x, y, z, w: where(x * y == 0, 0.0, x * y / z * sc.hyp2f1(x + 1.0, y + 1.0, z + 1.0, w)),
    ],
    domain=[PARAMETER, PARAMETER, PARAMETER, (-0.8, 0.8)],
    form=Form(sympy="hyper((x, y), (z,), w)"),
)
elementwise(
    sc.hyperu,
    partials=[None, None, lambda x, y, z: where(x == 0, 0.0, -x * sc.hyperu(x + 1.0, y + 1.0, z))],
    domain=[PARAMETER, PARAMETER, POSITIVE],
)


def _below(function: Callable[..., Any], n: Any, *rest: Any) -> Any:
    """The polynomial of one degree less; 0 for degree 0."""
    return where(n == 0, 0.0, function(where(n == 0, 1, n) - 1, *rest))


def _polynomial(ufunc: Any, slope: Callable[..., Any], *domain: Interval, sympy: str = "") -> None:
    partials = [*[None] * (ufunc.nin - 1), slope]
    elementwise(ufunc, partials=partials, domain=[DEGREE, *domain], form=Form(sympy=sympy))


_polynomial(sc.eval_legendre, lambda x, y: _below(sc.eval_gegenbauer, x, 1.5, y), SYMMETRIC, sympy="legendre")
_polynomial(sc.eval_chebyt, lambda x, y: x * _below(sc.eval_chebyu, x, y), SYMMETRIC, sympy="chebyshevt")
_polynomial(sc.eval_chebyu, lambda x, y: 2.0 * _below(sc.eval_gegenbauer, x, 2.0, y), SYMMETRIC, sympy="chebyshevu")
_polynomial(sc.eval_chebyc, lambda x, y: x * _below(sc.eval_chebys, x, y), SYMMETRIC)
_polynomial(sc.eval_chebys, lambda x, y: _below(sc.eval_gegenbauer, x, 2.0, 0.5 * y), SYMMETRIC)
_polynomial(sc.eval_sh_legendre, lambda x, y: 2.0 * _below(sc.eval_gegenbauer, x, 1.5, 2.0 * y - 1.0), UNIT)
_polynomial(sc.eval_sh_chebyt, lambda x, y: 2.0 * x * _below(sc.eval_sh_chebyu, x, y), UNIT)
_polynomial(sc.eval_sh_chebyu, lambda x, y: 4.0 * _below(sc.eval_gegenbauer, x, 2.0, 2.0 * y - 1.0), UNIT)
_polynomial(sc.eval_laguerre, lambda x, y: -_below(sc.eval_genlaguerre, x, 1.0, y), POSITIVE, sympy="laguerre")
_polynomial(sc.eval_hermite, lambda x, y: 2.0 * x * _below(sc.eval_hermite, x, y), REAL, sympy="hermite")
_polynomial(
    sc.eval_hermitenorm,
    lambda x, y: x * _below(sc.eval_hermitenorm, x, y),
    REAL,
    sympy="2**(-x/Integer(2))*hermite(x, y/sqrt(2))",
)
_polynomial(
    sc.eval_genlaguerre,
    lambda x, y, z: -_below(sc.eval_genlaguerre, x, y + 1.0, z),
    PARAMETER,
    POSITIVE,
    sympy="assoc_laguerre",
)
_polynomial(
    sc.eval_gegenbauer,
    lambda x, y, z: 2.0 * y * _below(sc.eval_gegenbauer, x, y + 1.0, z),
    PARAMETER,
    SYMMETRIC,
    sympy="gegenbauer",
)
_polynomial(
    sc.eval_jacobi,
    lambda x, y, z, w: 0.5 * (x + y + z + 1.0) * _below(sc.eval_jacobi, x, y + 1.0, z + 1.0, w),
    PARAMETER,
    PARAMETER,
    SYMMETRIC,
    sympy="jacobi",
)
_polynomial(
    sc.eval_sh_jacobi,
    lambda x, y, z, w: x * _below(sc.eval_sh_jacobi, x, y + 2.0, z + 1.0, w),
    (2.0, 3.0),
    PARAMETER,
    UNIT,
)


def _lpmv_slope(out: Any, m: Any, v: Any, x: Any) -> Any:
    """The slope in x; at the ends its limit, which at -1 exists for whole degrees only, and has no slope itself."""
    end = np.abs(x) == 1.0
    gap = where(end, 1.0, (x - 1.0) * (x + 1.0))
    inside = (v * x * out - (m + v) * sc.lpmv(m, v - 1.0, x)) / gap
    limits = where(m == 0, 0.5 * v * (v + 1.0), where(m == 1, np.inf, 0.0))
    limits = where(m == 2, -0.25 * (v - 1.0) * v * (v + 1.0) * (v + 2.0), limits)
    mirrored = where(v == np.rint(v), where((v + m) % 2 == 0, -limits, limits), np.nan)
    return where(end, where(x > 0, limits, mirrored) + steady(x, end), inside)


elementwise(
    sc.lpmv,
    partials=[None, None, lambda out, x, y, z: _lpmv_slope(out, x, y, z)],
    domain=[WholeNumbers((0, 2)), (2.0, 4.0), (-0.9, 0.9)],
    note="one-sided at -1 and 1, without a second derivative",
)

for _ufunc in (sc.pbdv, sc.pbvv):
    several(_ufunc, [None, lambda out, x, y: (out[1], (0.25 * y * y - x - 0.5) * out[0])], domain=[(0.0, 3.0), REAL])
several(sc.pbwa, [None, lambda out, x, y: (out[1], (x - 0.25 * y * y) * out[0])], domain=[SYMMETRIC, SYMMETRIC])


def _mathieu(ufunc: Any, characteristic: Any, *, modified: bool, order: Interval) -> None:
    """Enter a Mathieu function, whose second derivative is given by y'' = -(a - 2 q cos 2x) y, x in degrees."""

    def slope(out: Any, m: Any, q: Any, x: Any) -> tuple[Any, Any]:
        if modified:
            return out[1], (characteristic(m, q) - 2.0 * q * np.cosh(2.0 * x)) * out[0]
        return out[1] * TURN, (2.0 * q * np.cos(2.0 * TURN * x) - characteristic(m, q)) * out[0] * TURN

    domain = [order, (0.5, 2.0), (0.2, 1.0) if modified else (5.0, 80.0)]
    several(ufunc, [None, None, lambda out, x, y, z: slope(out, x, y, z)], domain=domain)


for _ufunc in (sc.mathieu_a, sc.mathieu_b, sc.pro_cv, sc.obl_cv):
    elementwise(_ufunc, partials=[None] * _ufunc.nin, note="a constant for derivatives")
_mathieu(sc.mathieu_cem, sc.mathieu_a, modified=False, order=WholeNumbers((0, 3)))
_mathieu(sc.mathieu_sem, sc.mathieu_b, modified=False, order=WholeNumbers((1, 3)))
_mathieu(sc.mathieu_modcem1, sc.mathieu_a, modified=True, order=WholeNumbers((0, 3)))
_mathieu(sc.mathieu_modcem2, sc.mathieu_a, modified=True, order=WholeNumbers((0, 3)))
_mathieu(sc.mathieu_modsem1, sc.mathieu_b, modified=True, order=WholeNumbers((1, 3)))
_mathieu(sc.mathieu_modsem2, sc.mathieu_b, modified=True, order=WholeNumbers((1, 3)))


def _spheroidal(ufunc: Any, eigenvalue: Any, *, oblate: bool, inside: bool) -> None:
    """Enter a spheroidal wave function by its equation ((1 - x**2) S')' + (cv - c**2 x**2 - m**2 / (1 - x**2)) S = 0.

    For an oblate one c is imaginary, and in the radial function so is x.
    """

    def slope(out: Any, m: Any, n: Any, c: Any, x: Any) -> tuple[Any, Any]:
        turned = oblate and not inside
        gap = 1.0 + x * x if turned else (1.0 - x) * (1.0 + x)
        cv = eigenvalue(m, n, c)
        if turned:
            return out[1], ((cv - c * c * x * x - m * m / gap) * out[0] - 2.0 * x * out[1]) / gap
        force = -c * c if oblate else c * c
        return out[1], (2.0 * x * out[1] - (cv - force * x * x - m * m / gap) * out[0]) / gap

    place = (-0.8, 0.8) if inside else ((0.2, 2.0) if oblate else (1.2, 3.0))
    several(
        ufunc,
        [None, None, None, lambda out, x, y, z, w: slope(out, x, y, z, w)],
        domain=[WholeNumbers((0, 1)), WholeNumbers((1, 3)), (0.5, 2.0), place],
    )


_spheroidal(sc.pro_ang1, sc.pro_cv, oblate=False, inside=True)
_spheroidal(sc.pro_rad1, sc.pro_cv, oblate=False, inside=False)
_spheroidal(sc.pro_rad2, sc.pro_cv, oblate=False, inside=False)
_spheroidal(sc.obl_ang1, sc.obl_cv, oblate=True, inside=True)
_spheroidal(sc.obl_rad1, sc.obl_cv, oblate=True, inside=False)
# obl_rad2 is left out: SciPy's value and slope contradict each other for odd n - m
