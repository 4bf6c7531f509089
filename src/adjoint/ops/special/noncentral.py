"""The noncentral chi-square, F and t distributions: slopes in the variable and in the noncentrality."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from ..declare import POSITIVE, UNIT, elementwise, where
from .gamma import beta_density, gamma_density

FREEDOM = (2.0, 6.0)
NONCENTRALITY = (0.3, 3.0)
FAR = 300.0
LEAST, MOST = 1e-300, 1e4
"""Bounds at which SciPy's search for a noncentrality ends, whatever the arguments; the upper one is that of F."""


def _found(nc: Any, slope: Any, most: float = math.inf) -> Any:
    """The slope of a noncentrality that was found; 0 at a bound."""
    return where((nc < LEAST) | (nc >= most), 0.0, slope)


def chi_square(x: Any, df: Any, nc: Any) -> Any:
    """The density; with df + 2 and a minus it is the slope of the distribution function in nc."""
    product = nc * x
    far = product > FAR * FAR  # where the Bessel function behind hyp0f1 has to be scaled
    root, ratio = np.sqrt(where(far, product, 1.0)), where(far, x, 1.0) / where(far, nc, 1.0)
    scaled = np.exp(-0.5 * (x + nc) + root) * ratio ** (0.25 * df - 0.5) * sc.ive(0.5 * df - 1.0, root)
    small = gamma_density(0.5 * df, 0.5 * x) * np.exp(-0.5 * nc) * sc.hyp0f1(0.5 * df, where(far, 0.0, 0.25 * product))
    return 0.5 * where(far, scaled, small)


def _shifted(total: Any, first: Any, nc: Any, w: Any) -> Any:
    """exp(-nc / 2) hyp1f1(total, first, nc w / 2); where that is 0 times infinity, by Kummer's transformation."""
    z = 0.5 * nc * w
    far = z > FAR
    here = np.exp(-0.5 * nc) * sc.hyp1f1(total, first, where(far, 0.0, z))
    return where(far, np.exp(-0.5 * nc * (1.0 - w)) * sc.hyp1f1(first - total, first, where(far, -z, 0.0)), here)


elementwise(
    sc.chndtr,
    partials=[lambda x, y, z: chi_square(x, y, z), None, lambda x, y, z: -chi_square(x, y + 2.0, z)],
    domain=[POSITIVE, FREEDOM, NONCENTRALITY],
)
elementwise(
    sc.chndtrix,
    partials=[
        lambda out, y, z: 1.0 / chi_square(out, y, z),
        None,
        lambda out, y, z: chi_square(out, y + 2.0, z) / chi_square(out, y, z),
    ],
    domain=[UNIT, FREEDOM, NONCENTRALITY],
)
elementwise(
    sc.chndtrinc,
    partials=[
        lambda out, x, y: _found(out, chi_square(x, y, out) / chi_square(x, y + 2.0, out)),
        None,
        lambda out, x, y: _found(out, -1.0 / chi_square(x, y + 2.0, out)),
    ],
    domain=[(3.0, 5.0), (2.0, 3.0), (0.2, 0.4)],
)


def f_density(dfn: Any, dfd: Any, nc: Any, f: Any) -> Any:
    """The density of the noncentral F distribution."""
    total = dfn * f + dfd
    w, a, b = dfn * f / total, 0.5 * dfn, 0.5 * dfd
    central = beta_density(a, b, w) * dfn * dfd / (total * total)
    return central * _shifted(a + b, a, nc, w)


def _f_noncentrality(dfn: Any, dfd: Any, nc: Any, f: Any) -> Any:
    """The slope of its distribution function in nc."""
    a, b = 0.5 * dfn, 0.5 * dfd
    w = dfn * f / (dfn * f + dfd)
    central = np.exp(sc.xlogy(a, w) + sc.xlog1py(b, -w) - sc.betaln(a, b)) / a
    return -0.5 * central * _shifted(a + b, a + 1.0, nc, w)


elementwise(
    sc.ncfdtr,
    partials=[None, None, lambda x, y, z, w: _f_noncentrality(x, y, z, w), lambda x, y, z, w: f_density(x, y, z, w)],
    domain=[FREEDOM, FREEDOM, NONCENTRALITY, POSITIVE],
)
elementwise(
    sc.ncfdtri,
    partials=[
        None,
        None,
        lambda out, x, y, z: -_f_noncentrality(x, y, z, out) / f_density(x, y, z, out),
        lambda out, x, y, z: 1.0 / f_density(x, y, z, out),
    ],
    domain=[FREEDOM, FREEDOM, NONCENTRALITY, UNIT],
)
elementwise(
    sc.ncfdtrinc,
    partials=[
        None,
        None,
        lambda out, x, y, w: _found(out, 1.0 / _f_noncentrality(x, y, out, w), MOST),
        lambda out, x, y, w: _found(out, -f_density(x, y, out, w) / _f_noncentrality(x, y, out, w), MOST),
    ],
    domain=[(2.0, 3.0), (4.0, 6.0), (0.2, 0.4), (2.0, 3.0)],
)


def nct_moment(order: Any, df: Any, nc: Any, t: Any) -> Any:
    """E[s**order phi(t s - nc)], s**2 chi-square over df: of order 1 the density, of order 0 the slope in -nc."""
    a, b, k = df + t * t, t * nc, df - 1.0 + order
    z = b * b / (2.0 * a)
    even = sc.gamma(0.5 * (k + 1.0)) * sc.hyp1f1(0.5 * (k + 1.0), 0.5, z)
    odd = np.sqrt(2.0 / a) * b * sc.gamma(0.5 * k + 1.0) * sc.hyp1f1(0.5 * k + 1.0, 1.5, z)
    scale = np.exp(0.5 * df * np.log(0.5 * df) - sc.gammaln(0.5 * df) - 0.5 * nc * nc) / math.sqrt(2.0 * math.pi)
    return scale * (2.0 / a) ** (0.5 * (k + 1.0)) * (even + odd)


elementwise(
    sc.nctdtr,
    partials=[None, lambda x, y, z: -nct_moment(0.0, x, y, z), lambda x, y, z: nct_moment(1.0, x, y, z)],
    domain=[FREEDOM, NONCENTRALITY, POSITIVE],
)
elementwise(
    sc.nctdtrit,
    partials=[
        None,
        lambda out, x, y: nct_moment(0.0, x, y, out) / nct_moment(1.0, x, y, out),
        lambda out, x, y: 1.0 / nct_moment(1.0, x, y, out),
    ],
    domain=[FREEDOM, NONCENTRALITY, UNIT],
)
elementwise(
    sc.nctdtrinc,
    partials=[
        None,
        lambda out, x, z: -1.0 / nct_moment(0.0, x, out, z),
        lambda out, x, z: nct_moment(1.0, x, out, z) / nct_moment(0.0, x, out, z),
    ],
    domain=[FREEDOM, (0.2, 0.8), (0.5, 2.0)],
)
