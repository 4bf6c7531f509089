"""Universal functions behind SciPy's distributions, which have no public names: densities, tails, moments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.special as sc
from scipy.special import _ufuncs

from ..declare import CONSTANT, POSITIVE, UNIT, composed, elementwise, universal, where
from .gamma import beta_density, psi_rise
from .incomplete import beta_paths, beta_shape
from .noncentral import FREEDOM, NONCENTRALITY, chi_square
from .statistics import COUNT, TRIALS

SHAPE = (1.2, 4.0)
NEGATIVE = (-3.0, -0.1)
Partials = Sequence[Callable[..., Any] | None]


def enter(name: str, partials: Partials, domain: Sequence[Any], **facts: Any) -> None:
    """Enter a universal function, if this version of SciPy has it."""
    ufunc = getattr(_ufuncs, name, None)
    if ufunc is not None:
        elementwise(ufunc, partials=partials, domain=domain, **facts)


def _ncx2_by_x(out: Any, x: Any, df: Any, nc: Any) -> Any:
    """Half of the density of df - 2 minus that of df; the first one by those of df and df + 2."""
    return 0.5 * ((nc * chi_square(x, df + 2.0, nc) + (df - 2.0) * out) / x - out)


enter("_log1mexp", [lambda x: -1.0 / np.expm1(-x)], [NEGATIVE])
enter("_scaled_exp1", [lambda out, x: out / x + out - 1.0], [POSITIVE])
enter(
    "_beta_pdf",
    [
        lambda out, x, y, z: out * ((y - 1.0) / x - (z - 1.0) / (1.0 - x)),
        lambda out, x, y, z: out * (np.log(x) + psi_rise(y, z)),
        lambda out, x, y, z: out * (np.log1p(-x) + psi_rise(z, y)),
    ],
    [UNIT, SHAPE, SHAPE],
)
enter(
    "_beta_ppf",
    [
        lambda out, y, z: 1.0 / beta_density(y, z, out),
        lambda out, y, z: beta_paths(y, z, out)[0],
        lambda out, y, z: beta_paths(y, z, out)[1],
    ],
    [UNIT, SHAPE, SHAPE],
)
enter(
    "_binom_pmf",
    [None, None, lambda out, x, y, z: out * (x / z - (y - x) / (1.0 - z))],
    [COUNT, TRIALS, UNIT],
)


def _binomial(k: Any, n: Any, p: Any) -> Any:
    inside = n > k
    return where(inside, beta_density(where(inside, k, 0.0) + 1.0, where(inside, n - k, 1.0), p), 0.0)


enter("_binom_cdf", [None, None, lambda x, y, z: -_binomial(x, y, z)], [COUNT, TRIALS, UNIT])
enter("_binom_sf", [None, None, lambda x, y, z: _binomial(x, y, z)], [COUNT, TRIALS, UNIT])
enter(
    "_nbinom_pmf",
    [
        None,
        lambda out, x, y, z: out * (psi_rise(y, x) + np.log(z)),
        lambda out, x, y, z: out * (y / z - x / (1.0 - z)),
    ],
    [COUNT, FREEDOM, UNIT],
)
enter(
    "_nbinom_cdf",
    [
        None,
        lambda x, y, z: beta_shape(y, x + 1.0, z, 1.0 - z),
        lambda x, y, z: beta_density(y, x + 1.0, z),
    ],
    [COUNT, FREEDOM, UNIT],
)
enter(
    "_nbinom_sf",
    [
        None,
        lambda x, y, z: -beta_shape(y, x + 1.0, z, 1.0 - z),
        lambda x, y, z: -beta_density(y, x + 1.0, z),
    ],
    [COUNT, FREEDOM, UNIT],
)
enter(
    "_ncx2_pdf",
    [
        lambda out, x, y, z: _ncx2_by_x(out, x, y, z),
        None,
        lambda out, x, y, z: 0.5 * (chi_square(x, y + 2.0, z) - out),
    ],
    [POSITIVE, FREEDOM, NONCENTRALITY],
)
enter(
    "_ncx2_sf",
    [lambda x, y, z: -chi_square(x, y, z), None, lambda x, y, z: chi_square(x, y + 2.0, z)],
    [POSITIVE, FREEDOM, NONCENTRALITY],
)
for _name in ("_binom_ppf", "_binom_isf", "_nbinom_ppf", "_nbinom_isf"):
    _ufunc = getattr(_ufuncs, _name, None)
    if _ufunc is not None:
        universal(_ufunc, CONSTANT, note="piecewise constant")

MOMENTS: dict[str, Callable[..., Any]] = {
    "_nbinom_mean": lambda n, p: n * (1.0 - p) / p,
    "_nbinom_variance": lambda n, p: n * (1.0 - p) / (p * p),
    "_nbinom_skewness": lambda n, p: (2.0 - p) / np.sqrt(n * (1.0 - p)),
    "_nbinom_kurtosis_excess": lambda n, p: 6.0 / n + p * p / (n * (1.0 - p)),
    "_ncf_mean": lambda n, d, c: where(d > 2, d * (n + c) / (n * (where(d > 2, d, 3.0) - 2.0)), np.nan),
    "_ncf_variance": lambda n, d, c: where(d > 4, _ncf_variance(n, where(d > 4, d, 5.0), c), np.nan),
    "_nct_mean": lambda d, c: where(d > 1, c * _nct_ratio(where(d > 1, d, 2.0)), np.nan),
    "_nct_variance": lambda d, c: where(d > 2, _nct_variance(where(d > 2, d, 3.0), c), np.nan),
}


def _ncf_variance(n: Any, d: Any, c: Any) -> Any:
    spread = (n + c) ** 2 + (n + 2.0 * c) * (d - 2.0)
    return 2.0 * (d / n) ** 2 * spread / ((d - 2.0) ** 2 * (d - 4.0))


def _nct_ratio(d: Any) -> Any:
    return np.sqrt(0.5 * d) * np.exp(sc.gammaln(0.5 * (d - 1.0)) - sc.gammaln(0.5 * d))


def _nct_variance(d: Any, c: Any) -> Any:
    return d * (1.0 + c * c) / (d - 2.0) - (c * _nct_ratio(d)) ** 2


for _name, _formula in MOMENTS.items():
    _ufunc = getattr(_ufuncs, _name, None)
    if _ufunc is not None:
        composed(_ufunc)(_formula)
