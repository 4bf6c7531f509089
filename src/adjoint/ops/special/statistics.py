"""Distribution functions and their inverses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from ..declare import POSITIVE, REAL, UNIT, WholeNumbers, elementwise, where
from .elementary import boxcox_slope
from .error import normal_density
from .gamma import SHAPE, beta_density, gamma_density
from .incomplete import beta_shape, gamma_path, gamma_shape, quotient

COUNT = WholeNumbers((0, 3))
TRIALS = WholeNumbers((4, 8))
FREEDOM = (2.0, 6.0)


def _fdensity(dfn: Any, dfd: Any, x: Any) -> Any:
    total = dfn * x + dfd
    return beta_density(0.5 * dfn, 0.5 * dfd, dfn * x / total) * dfn * dfd / (total * total)


def _times_density(factor: Any, shape: Any, x: Any) -> Any:
    """A factor times the density of the gamma distribution; nothing if the factor is 0, whatever the density."""
    return where(factor == 0, 0.0, factor * gamma_density(shape, where(factor == 0, 1.0, x)))


def _tdensity(df: Any, t: Any) -> Any:
    return np.exp(-sc.xlog1py(0.5 * (df + 1.0), t * t / df) - sc.betaln(0.5 * df, 0.5)) / np.sqrt(df)


def _tshape(df: Any, t: Any) -> Any:
    """The slope of stdtr in df: the tail is half of betainc(df / 2, 1 / 2, df / (df + t**2))."""
    square = t * t
    w, v = df / (df + square), square / (df + square)
    tail = 0.5 * beta_shape(0.5 * df, 0.5, w, v) + beta_density(0.5 * df, 0.5, where(t == 0, 0.5, w)) * w * v / df
    return where(t == 0, 0.0, -0.5 * np.sign(t) * tail)


def _fshapes(dfn: Any, dfd: Any, x: Any) -> tuple[Any, Any]:
    """The slopes of fdtr in both shapes: it is betainc(dfn / 2, dfd / 2, dfn x / (dfn x + dfd))."""
    total = dfn * x + dfd
    w, v = dfn * x / total, dfd / total
    shift = beta_density(0.5 * dfn, 0.5 * dfd, w) * w * v
    return (
        0.5 * beta_shape(0.5 * dfn, 0.5 * dfd, w, v) + shift / dfn,
        -0.5 * beta_shape(0.5 * dfd, 0.5 * dfn, v, w) - shift / dfd,
    )


def _binomial(k: Any, n: Any, p: Any) -> Any:
    """The slope of bdtrc in p; SciPy cuts the fraction of counts off."""
    k, n = np.floor(k), np.trunc(n)
    inside = n > k
    return where(inside, beta_density(where(inside, k, 0.0) + 1.0, where(inside, n - k, 1.0), p), 0.0)


def _negative_binomial(k: Any, n: Any, p: Any) -> Any:
    """The slope of nbdtr in p."""
    return beta_density(np.trunc(n), np.trunc(k) + 1.0, p)


elementwise(sc.bdtr, partials=[lambda: 0.0, None, lambda x, y, z: -_binomial(x, y, z)], domain=[COUNT, TRIALS, UNIT])
elementwise(sc.bdtrc, partials=[lambda: 0.0, None, lambda x, y, z: _binomial(x, y, z)], domain=[COUNT, TRIALS, UNIT])
elementwise(
    sc.bdtri,
    partials=[lambda: 0.0, None, lambda out, x, y: np.divide(-1.0, _binomial(x, y, out))],
    domain=[COUNT, TRIALS, UNIT],
)
elementwise(sc.nbdtr, partials=[None, None, lambda x, y, z: _negative_binomial(x, y, z)], domain=[COUNT, TRIALS, UNIT])
elementwise(
    sc.nbdtrc, partials=[None, None, lambda x, y, z: -_negative_binomial(x, y, z)], domain=[COUNT, TRIALS, UNIT]
)
elementwise(
    sc.nbdtri,
    partials=[None, None, lambda out, x, y: 1.0 / _negative_binomial(x, y, out)],
    domain=[COUNT, TRIALS, UNIT],
)
elementwise(
    sc.pdtr, partials=[lambda: 0.0, lambda x, y: -gamma_density(np.floor(x) + 1.0, y)], domain=[COUNT, POSITIVE]
)
elementwise(
    sc.pdtrc, partials=[lambda: 0.0, lambda x, y: gamma_density(np.floor(x) + 1.0, y)], domain=[COUNT, POSITIVE]
)
elementwise(
    sc.pdtri, partials=[None, lambda out, x: -1.0 / gamma_density(np.trunc(x) + 1.0, out)], domain=[COUNT, UNIT]
)
elementwise(
    sc.chdtr,
    partials=[lambda x, y: 0.5 * gamma_shape(0.5 * x, 0.5 * y), lambda x, y: 0.5 * gamma_density(0.5 * x, 0.5 * y)],
    domain=[FREEDOM, POSITIVE],
)
elementwise(
    sc.chdtrc,
    partials=[lambda x, y: -0.5 * gamma_shape(0.5 * x, 0.5 * y), lambda x, y: -0.5 * gamma_density(0.5 * x, 0.5 * y)],
    domain=[FREEDOM, POSITIVE],
)
elementwise(
    sc.chdtri,
    partials=[lambda out, x: gamma_path(0.5 * x, 0.5 * out), lambda out, x: -2.0 / gamma_density(0.5 * x, 0.5 * out)],
    domain=[FREEDOM, UNIT],
)
elementwise(
    sc.fdtr,
    partials=[
        lambda x, y, z: _fshapes(x, y, z)[0],
        lambda x, y, z: _fshapes(x, y, z)[1],
        lambda x, y, z: _fdensity(x, y, z),
    ],
    domain=[FREEDOM, FREEDOM, POSITIVE],
)
elementwise(
    sc.fdtrc,
    partials=[
        lambda x, y, z: -_fshapes(x, y, z)[0],
        lambda x, y, z: -_fshapes(x, y, z)[1],
        lambda x, y, z: -_fdensity(x, y, z),
    ],
    domain=[FREEDOM, FREEDOM, POSITIVE],
)
elementwise(
    sc.fdtri,
    partials=[
        lambda out, x, y: quotient(-_fshapes(x, y, out)[0], _fdensity(x, y, out)),
        lambda out, x, y: quotient(-_fshapes(x, y, out)[1], _fdensity(x, y, out)),
        lambda out, x, y: 1.0 / _fdensity(x, y, out),
    ],
    domain=[FREEDOM, FREEDOM, UNIT],
)
elementwise(
    sc.gdtr,
    partials=[
        lambda x, y, z: _times_density(z, y, x * z),
        lambda x, y, z: gamma_shape(y, x * z),
        lambda x, y, z: _times_density(x, y, x * z),
    ],
    domain=[POSITIVE, SHAPE, POSITIVE],
)
elementwise(
    sc.gdtrc,
    partials=[
        lambda x, y, z: -_times_density(z, y, x * z),
        lambda x, y, z: -gamma_shape(y, x * z),
        lambda x, y, z: -_times_density(x, y, x * z),
    ],
    domain=[POSITIVE, SHAPE, POSITIVE],
)
elementwise(
    sc.gdtria,
    partials=[
        lambda out, y, z: 1.0 / (z * gamma_density(y, out * z)),
        lambda out, y, z: gamma_path(y, out * z) / z,
        lambda out, z: -out / z,
    ],
    domain=[UNIT, SHAPE, POSITIVE],
)
elementwise(
    sc.gdtrix,
    partials=[
        lambda out, x: -out / x,
        lambda out, x, y: gamma_path(y, x * out) / x,
        lambda out, x, y: 1.0 / (x * gamma_density(y, x * out)),
    ],
    domain=[POSITIVE, SHAPE, UNIT],
)
elementwise(sc.stdtr, partials=[lambda x, y: _tshape(x, y), lambda x, y: _tdensity(x, y)], domain=[FREEDOM, REAL])
elementwise(
    sc.stdtrit,
    partials=[lambda out, x: quotient(-_tshape(x, out), _tdensity(x, out)), lambda out, x: 1.0 / _tdensity(x, out)],
    domain=[FREEDOM, UNIT],
)
elementwise(
    sc.nrdtrimn,
    partials=[lambda x, y: -y / normal_density(sc.ndtri(x)), lambda x: -sc.ndtri(x), lambda: 1.0],
    domain=[UNIT, POSITIVE, REAL],
)
elementwise(
    sc.nrdtrisd,
    partials=[
        lambda y: -1.0 / sc.ndtri(y),
        lambda out, y: -out / (sc.ndtri(y) * normal_density(sc.ndtri(y))),
        lambda y: 1.0 / sc.ndtri(y),
    ],
    domain=[(-1.0, 0.0), (0.6, 0.9), (0.5, 1.0)],
)


def _tukey_inside(x: Any, shape: Any) -> Any:
    return np.abs(x) * shape <= 1.0


def _tukey_spread(p: Any, shape: Any) -> Any:
    """The slope of the quantile function in p."""
    return p ** (shape - 1.0) + (1.0 - p) ** (shape - 1.0)


elementwise(
    sc.tklmbda,
    partials=[
        lambda out, x, y: where(_tukey_inside(x, y), 1.0 / _tukey_spread(out, y), 0.0),
        lambda out, x, y: where(
            _tukey_inside(x, y),
            (boxcox_slope(np.log1p(-out), y) - boxcox_slope(np.log(out), y)) / _tukey_spread(out, y),
            0.0,
        ),
    ],
    domain=[(-0.7, 0.7), (0.2, 1.2)],
)


def _kolmogorov_slope(x: Any) -> Any:
    """The series in exp(-2 k**2 x**2), or near 0 the one in exp(-(2k-1)**2 pi**2 / (8 x**2))."""
    x = np.maximum(x, 0.0)  # 1 left of 0
    low = x < 0.8
    far, near = where(low, 1.0, x), where(low, x, 1.0)
    right: Any = 0.0
    for k in range(1, 6):
        right = right - 8.0 * (-1) ** (k - 1) * k * k * far * np.exp(-2.0 * k * k * far * far)
    left: Any = 0.0
    for k in (1, 3, 5):
        q = (k * math.pi) ** 2 / (8.0 * near * near)
        left = left + np.exp(-q) * (1.0 - 2.0 * q) / (near * near)
    left = where(near > 0, left, 0.0)
    return where(low, left * math.sqrt(2.0 * math.pi), right)


def _smirnov_slope(n: Any, d: Any) -> Any:
    """The slope of the sum of binom(n, j) d (d + j/n)**(j-1) (1 - d - j/n)**(n-j), over j up to n (1 - d)."""
    n = np.trunc(n)  # as SciPy does
    total: Any = 0.0
    for j in range(int(np.max(n, initial=0)) + 1):
        rest = 1.0 - d - j / n
        present = (rest > 0) & (j < n)
        share, left = d + j / n, where(present, rest, 1.0)
        term = sc.binom(n, j) * share ** (j - 1.0) * left ** (n - j)
        total = total + where(present, term * (1.0 + d * ((j - 1.0) / share - (n - j) / left)), 0.0)
    return total


elementwise(sc.kolmogorov, partials=[lambda x: _kolmogorov_slope(x)], domain=[(0.3, 2.0)])
elementwise(sc.kolmogi, partials=[lambda out: np.divide(1.0, -np.abs(_kolmogorov_slope(out)))], domain=[UNIT])
elementwise(sc.smirnov, partials=[None, lambda x, y: _smirnov_slope(x, y)], domain=[WholeNumbers((3, 8)), UNIT])
elementwise(
    sc.smirnovi,
    partials=[None, lambda out, x: np.divide(1.0, -np.abs(_smirnov_slope(x, out)))],
    domain=[WholeNumbers((3, 8)), UNIT],
)
