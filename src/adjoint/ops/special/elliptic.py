"""Elliptic integrals: Legendre's by way of Carlson's, whose slopes have no cancellation, and Jacobi's functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from ...core.entry.facts import Form
from ..declare import POSITIVE, REAL, elementwise, where
from .declare import COMPILED, several

MODULUS = (0.0, 0.95)


def _rd_slope(x: Any, y: Any, z: Any) -> Any:
    """d/dx of elliprd(x, y, z): a divided difference, and its series where x and z are close."""
    middle, half = 0.5 * (x + z), 0.5 * (x - z)
    near = np.abs(half) < 0.05 * np.abs(middle)
    apart = (sc.elliprd(y, z, x) - sc.elliprd(x, y, z)) / where(near, 1.0, 4.0 * half)
    center, square = where(near, middle, 1.0), where(near, half * half, 0.0)
    series: Any = 0.0
    coefficient = 1.0
    for k in range(6):
        power = 2.5 + 2 * k
        shape = sc.hyp2f1(power, 0.5, power + 1.0, where(near, 1.0 - y / center, 0.0))
        series = series + (coefficient / power) * square**k * center ** (-power) * shape
        coefficient *= (1.5 + k) / (k + 1)
    return where(near, -0.75 * series, apart)


def _moved(x: Any, slope: Any) -> Any:
    """x * slope, and 0 at x = 0, where the slope is infinite but weaker than 1 / x."""
    return where(x == 0, 0.0, x * where(x == 0, 1.0, slope))


def _rd_slope_last(out: Any, x: Any, y: Any, z: Any) -> Any:
    """d/dz of elliprd, which is homogeneous of degree -3/2."""
    return -(1.5 * out + _moved(x, _rd_slope(x, y, z)) + _moved(y, _rd_slope(y, x, z))) / z


def _rg_slope(x: Any, y: Any, z: Any) -> Any:
    """d/dx of elliprg(x, y, z)."""
    alone = (y == 0) & (z == 0)  # sqrt(x) / 2
    other = where(alone, 1.0, z)
    slope = 0.25 * (sc.elliprf(x, y, other) - _moved(x, sc.elliprd(y, other, x)) / 3.0)
    return where(alone, 0.25 / np.sqrt(where(alone, x, 1.0)), slope)


def _rc_slopes(out: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Both slopes of elliprc; left of 0, where it is a principal value, from its closed form."""
    left = y < 0
    gap = 2.0 * where(left, y - x, 1.0)
    root, right = np.sqrt(x), where(left, 1.0, y)
    return (
        where(left, (out - 1.0 / root) / gap, sc.elliprd(right, right, x) / -6.0),
        where(left, (root / where(left, y, 1.0) - out) / gap, sc.elliprd(x, right, right) / -3.0),
    )


CLOSE = 1e-5
"""Where the difference of two arguments, relative to them, is taken for its limit."""


def _rj_slope(out: Any, x: Any, y: Any, z: Any, w: Any) -> Any:
    """d/dx of elliprj(x, y, z, w); where x and w meet, a third of that of elliprd(y, z, x)."""
    close = np.abs(w - x) <= CLOSE * np.abs(w)
    middle = 0.5 * (x + w)
    limit = _rd_slope_last(sc.elliprd(y, z, middle), y, z, where(middle == 0, 1.0, middle)) / 3.0
    return where(close, limit, (out - sc.elliprd(y, z, x)) / (2.0 * where(close, 1.0, w - x)))


def _rj_slope_last(out: Any, x: Any, y: Any, z: Any, w: Any) -> Any:
    """d/dw of elliprj, which is homogeneous of degree -3/2."""
    orders = ((x, y, z), (y, z, x), (z, x, y))
    moved = sum([_moved(a, _rj_slope(out, a, b, c, w)) for a, b, c in orders])
    return -(1.5 * out + moved) / w


elementwise(
    sc.elliprc,
    partials=[lambda out, x, y: _rc_slopes(out, x, y)[0], lambda out, x, y: _rc_slopes(out, x, y)[1]],
    domain=[POSITIVE, POSITIVE],
)
elementwise(
    sc.elliprf,
    partials=[
        lambda x, y, z: sc.elliprd(y, z, x) / -6.0,
        lambda x, y, z: sc.elliprd(x, z, y) / -6.0,
        lambda x, y, z: sc.elliprd(x, y, z) / -6.0,
    ],
    domain=[POSITIVE] * 3,
)
elementwise(
    sc.elliprd,
    partials=[
        lambda x, y, z: _rd_slope(x, y, z),
        lambda x, y, z: _rd_slope(y, x, z),
        lambda out, x, y, z: _rd_slope_last(out, x, y, z),
    ],
    domain=[POSITIVE] * 3,
)
elementwise(
    sc.elliprg,
    partials=[
        lambda x, y, z: _rg_slope(x, y, z),
        lambda x, y, z: _rg_slope(y, z, x),
        lambda x, y, z: _rg_slope(z, x, y),
    ],
    domain=[POSITIVE] * 3,
)
elementwise(
    sc.elliprj,
    partials=[
        lambda out, x, y, z, w: _rj_slope(out, x, y, z, w),
        lambda out, x, y, z, w: _rj_slope(out, y, z, x, w),
        lambda out, x, y, z, w: _rj_slope(out, z, x, y, w),
        lambda out, x, y, z, w: _rj_slope_last(out, x, y, z, w),
    ],
    domain=[(0.5, 1.0), (0.5, 1.0), (0.5, 1.0), (2.0, 3.0)],
)


def _k_slope(m: Any) -> Any:
    return sc.elliprd(0.0, 1.0, 1.0 - m) / 6.0


def _e_slope(m: Any) -> Any:
    return sc.elliprd(0.0, 1.0 - m, 1.0) / -6.0


def _f_slope_modulus(phi: Any, m: Any) -> Any:
    """d/dm of ellipkinc(phi, m): of the whole half turns, and of the rest."""
    s, c = np.sin(phi), np.cos(phi)
    turns = np.rint(phi / math.pi)
    rest = np.sign(c) * s**3 * sc.elliprd(c * c, 1.0, 1.0 - m * s * s) / 6.0
    return where(turns == 0, rest, 2.0 * turns * _k_slope(m) + rest)


def _e_slope_modulus(phi: Any, m: Any) -> Any:
    """d/dm of ellipeinc(phi, m)."""
    s, c = np.sin(phi), np.cos(phi)
    turns = np.rint(phi / math.pi)
    rest = np.sign(c) * s**3 * sc.elliprd(c * c, 1.0 - m * s * s, 1.0) / -6.0
    return where(turns == 0, rest, 2.0 * turns * _e_slope(m) + rest)


def _speed(phi: Any, m: Any) -> Any:
    return np.sqrt(1.0 - m * np.sin(phi) ** 2)


def _ellipj_modulus(out: Any, m: Any) -> tuple[Any, ...]:
    sn, cn, dn, phi = out
    turned = -dn * _f_slope_modulus(phi, m)
    return cn * turned, -sn * turned, -(0.5 * sn * sn + m * sn * cn * turned) / dn, turned


elementwise(
    sc.ellipk, partials=[lambda x: _k_slope(x)], domain=[MODULUS], kernel=COMPILED, form=Form(sympy="elliptic_k")
)
elementwise(
    sc.ellipkm1,
    partials=[lambda x: sc.elliprd(0.0, 1.0, x) / -6.0],
    domain=[(0.05, 1.0)],
    kernel=COMPILED,
    form=Form(sympy="elliptic_k(1 - x)"),
)
elementwise(
    sc.ellipe, partials=[lambda x: _e_slope(x)], domain=[MODULUS], kernel=COMPILED, form=Form(sympy="elliptic_e")
)
elementwise(
    sc.ellipkinc,
    partials=[lambda x, y: 1.0 / _speed(x, y), lambda x, y: _f_slope_modulus(x, y)],
    domain=[REAL, MODULUS],
    kernel=COMPILED,
    form=Form(sympy="elliptic_f"),
)
elementwise(
    sc.ellipeinc,
    partials=[lambda x, y: _speed(x, y), lambda x, y: _e_slope_modulus(x, y)],
    domain=[REAL, MODULUS],
    kernel=COMPILED,
    form=Form(sympy="elliptic_e"),
)
several(
    sc.ellipj,
    [
        lambda out, y: (out[1] * out[2], -out[0] * out[2], -y * out[0] * out[1], out[2]),
        lambda out, y: _ellipj_modulus(out, y),
    ],
    domain=[REAL, MODULUS],
)
