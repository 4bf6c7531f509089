"""Error functions, the normal distribution, Fresnel's and the exponential integrals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from ...core.entry.facts import Form, Kernel
from ...core.values import dtype_of
from ..declare import POSITIVE, REAL, UNIT, WholeNumbers, elementwise, where
from .declare import COMPILED, several
from .elementary import log1p_ratio
from .spherical import spherical_in, spherical_jn

ROOT_PI = math.sqrt(math.pi)
ROOT_2 = math.sqrt(2.0)
ROOT_2_PI = math.sqrt(2.0 * math.pi)
FAR = 20.0
"""Beyond this the slopes of erfcx, dawsn and wofz are differences of nearly equal numbers; their series is exact."""


def _tail(u: Any) -> Any:
    """The sum of (2k+1)!! u**k, an asymptotic series: nine terms are exact for |u| < 1 / 800."""
    total: Any = 1.0
    for k in range(8, 0, -1):
        total = 1.0 + (2 * k + 1) * u * total
    return total


def _dawsn_slope(x: Any, out: Any) -> Any:
    if dtype_of(x).kind == "c":
        return 1.0 - 2.0 * x * out
    far = np.abs(x) > FAR
    u = 0.5 / where(far, x * x, 1.0)
    return where(far, -u * _tail(u), 1.0 - 2.0 * where(far, 0.0, x * out))


def _erfcx_slope(x: Any, out: Any) -> Any:
    far = np.real(x) > FAR
    u = 0.5 / where(far, x * x, 1.0)
    return where(far, -2.0 * u * _tail(-u), 2.0 * ROOT_PI * where(far, 0.0, x * out) - 2.0) / ROOT_PI


def wofz_slope(z: Any, out: Any) -> Any:
    """d/dz of wofz."""
    far = (np.abs(z) > FAR) & (np.imag(z) >= 0)
    u = 0.5 / where(far, z * z, 1.0)
    return where(far, -2.0j * u * _tail(u), 2.0j - 2.0 * ROOT_PI * where(far, 0.0, z * out)) / ROOT_PI


def normal_density(x: Any) -> Any:
    """exp(-x**2 / 2) / sqrt(2 pi)."""
    return np.exp(-0.5 * x * x) / ROOT_2_PI


def _voigt_slopes(out: Any, x: Any, y: Any, z: Any) -> tuple[Any, Any, Any]:
    """The slopes of Voigt's profile, by wofz; without a Gaussian part those of Lorentz's."""
    alone = y == 0
    width = where(alone, 1.0, y)
    place = (x + 1j * z) / (width * ROOT_2)
    turned = wofz_slope(place, sc.wofz(place))
    scale, square = 2.0 * ROOT_PI * width * width, x * x + z * z
    lorentz = math.pi * square * square
    return (
        where(alone, -2.0 * x * z / lorentz, np.real(turned) / scale),
        where(alone, 0.0, -(out + np.real(place * turned) / (width * ROOT_2_PI)) / width),
        where(alone, (x - z) * (x + z) / lorentz, -np.imag(turned) / scale),
    )


def _expn_slope(n: Any, x: Any) -> Any:
    first = n < 1
    lowest = -np.exp(-x) * (1.0 + 1.0 / x) / x
    return where(first, lowest, -sc.expn(where(first, 1, n) - 1, x))


elementwise(
    sc.erf, partials=[lambda x: np.exp(-x * x) * (2.0 / ROOT_PI)], kernel=Kernel("libm erf"), form=Form(sympy="erf")
)
elementwise(
    sc.erfc, partials=[lambda x: np.exp(-x * x) * (-2.0 / ROOT_PI)], kernel=Kernel("erfc"), form=Form(sympy="erfc")
)
elementwise(
    sc.erfcx, partials=[lambda out, x: _erfcx_slope(x, out)], kernel=COMPILED, form=Form(sympy="exp(x**2)*erfc(x)")
)
elementwise(sc.erfi, partials=[lambda x: np.exp(x * x) * (2.0 / ROOT_PI)], kernel=COMPILED, form=Form(sympy="erfi"))
elementwise(
    sc.erfinv,
    partials=[lambda out: np.exp(out * out) * (ROOT_PI / 2.0)],
    domain=[(-1.0, 1.0)],
    form=Form(sympy="erfinv"),
)
elementwise(
    sc.erfcinv,
    partials=[lambda out: np.exp(out * out) * (-ROOT_PI / 2.0)],
    domain=[(0.0, 2.0)],
    kernel=COMPILED,
    form=Form(sympy="erfinv(1 - x)"),
)
elementwise(
    sc.dawsn,
    partials=[lambda out, x: _dawsn_slope(x, out)],
    kernel=COMPILED,
    form=Form(sympy="sqrt(pi)/2*exp(-x**2)*erfi(x)"),
)
elementwise(sc.wofz, partials=[lambda out, x: wofz_slope(x, out)])
elementwise(
    sc.ndtr, partials=[lambda x: normal_density(x)], kernel=Kernel("ndtr"), form=Form(sympy="(1 + erf(x/sqrt(2)))/2")
)
elementwise(
    sc.log_ndtr,
    partials=[lambda x: ROOT_2 / (ROOT_PI * sc.erfcx(-x / ROOT_2))],
    kernel=COMPILED,
    form=Form(sympy="log((1 + erf(x/sqrt(2)))/2)"),
)
elementwise(
    sc.ndtri,
    partials=[lambda out: 1.0 / normal_density(out)],
    domain=[UNIT],
    kernel=COMPILED,
    form=Form(sympy="sqrt(2)*erfinv(2*x - 1)"),
)
elementwise(sc.ndtri_exp, partials=[lambda out: sc.erfcx(-out / ROOT_2) * (ROOT_PI / ROOT_2)], domain=[(-3.0, -0.1)])
elementwise(
    sc.owens_t,
    partials=[
        lambda x, y: -0.5 * normal_density(x) * sc.erf(x * y / ROOT_2),
        lambda x, y: np.exp(-0.5 * x * x * (1.0 + y * y)) / (2.0 * math.pi * (1.0 + y * y)),
    ],
    kernel=COMPILED,
)
elementwise(
    sc.voigt_profile,
    partials=[
        lambda out, x, y, z: _voigt_slopes(out, x, y, z)[0],
        lambda out, x, y, z: _voigt_slopes(out, x, y, z)[1],
        lambda out, x, y, z: _voigt_slopes(out, x, y, z)[2],
    ],
    domain=[REAL, (0.5, 2.0), (0.2, 2.0)],
)

elementwise(
    sc.exp1, partials=[lambda x: -np.exp(-x) / x], domain=[POSITIVE], kernel=COMPILED, form=Form(sympy="expint(1, x)")
)
elementwise(sc.expi, partials=[lambda x: np.exp(x) / x], domain=[POSITIVE], kernel=COMPILED, form=Form(sympy="Ei"))
elementwise(
    sc.expn,
    partials=[None, lambda x, y: _expn_slope(x, y)],
    domain=[WholeNumbers((0, 4)), POSITIVE],
    form=Form(sympy="expint"),
)
elementwise(sc.spence, partials=[lambda x: -log1p_ratio(x - 1.0)], domain=[POSITIVE], kernel=COMPILED)
several(sc.sici, [lambda x: (spherical_jn(0, x), np.cos(x) / x)], domain=[POSITIVE], form=Form(sympy="(Si(x), Ci(x))"))
several(
    sc.shichi, [lambda x: (spherical_in(0, x), np.cosh(x) / x)], domain=[POSITIVE], form=Form(sympy="(Shi(x), Chi(x))")
)
several(
    sc.fresnel,
    [lambda x: (np.sin(0.5 * math.pi * x * x), np.cos(0.5 * math.pi * x * x))],
    form=Form(sympy="(fresnels(x), fresnelc(x))"),
)
several(
    sc.modfresnelp,
    [lambda out, x: (-np.exp(1j * x * x), -np.exp(-0.25j * math.pi) / ROOT_PI - 2j * x * out[1])],
    domain=[POSITIVE],
)
several(
    sc.modfresnelm,
    [lambda out, x: (-np.exp(-1j * x * x), -np.exp(0.25j * math.pi) / ROOT_PI + 2j * x * out[1])],
    domain=[POSITIVE],
)
