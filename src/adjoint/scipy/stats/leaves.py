"""Formulas of single distributions that SciPy leaves to compiled code, or that are a limit: only the slopes are ours.

Values stay SciPy's. A formula here is what is differentiated in its place; where the density has one, distribution
functions and quantiles need none (`generic`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.special as sc
import scipy.stats

from ...ops import special
from ...ops.shape import stopped
from . import generic, numerical

special.load()
from ...ops.special import noncentral, statistics  # noqa: E402  (they import SciPy, which is here by now)


def install() -> None:
    """Take over traced arguments in the methods of these distributions."""
    for owner, methods in FORMULAS.items():
        for name, formula in methods.items():
            _take(owner, name, functools.partial(_by_formula, name, formula))
    for name, names in GENERIC.items():
        for owner in names.split():
            _take(owner, name, generic.OURS[name])
    _take("vonmises", "_cdf", _von_mises)
    _take("irwinhall", "_pdf", _irwin_hall)


def _take(owner: str, name: str, ours: Callable[..., Any]) -> None:
    kind = type(getattr(scipy.stats, owner, None))
    if name in vars(kind):
        generic.taken(kind, name, ours)


def _by_formula(
    name: str, formula: Callable[..., Any], plain: Callable[..., Any], self: Any, /, *args: Any, **kwargs: Any
) -> Any:
    def tangent(tangents: Sequence[Any], out: Any, given: Sequence[Any]) -> Any:
        return numerical.along(formula, given, tangents)

    value = functools.partial(plain, self, **kwargs)
    return numerical.step(f"{self.name}.{name.lstrip('_')}", value, tangent)(*args)


def _von_mises(plain: Callable[..., Any], self: Any, x: Any, kappa: Any) -> Any:
    """The density is periodic, and half of a period is on either side of 0."""

    def tangent(tangents: Sequence[Any], out: Any, args: Sequence[Any]) -> Any:
        x, kappa = args
        found: Any = 0.0 if tangents[0] is None else self._pdf(x, kappa) * tangents[0]
        place = x - 2.0 * np.pi * stopped(np.round(x / (2.0 * np.pi)))
        return found + numerical.along(
            lambda k: numerical.integral(self._pdf, np.zeros(np.shape(place)), place, (k,)), (kappa,), tangents[1:]
        )

    return numerical.step("vonmises.cdf", functools.partial(plain, self), tangent)(x, kappa)


def _irwin_hall(plain: Callable[..., Any], self: Any, x: Any, n: Any) -> Any:
    """The density of a sum with one term more is that of the sum, averaged: its slope is a difference."""

    def tangent(tangents: Sequence[Any], out: Any, args: Sequence[Any]) -> Any:
        if tangents[0] is None:
            return 0.0 * out
        x, n = args
        fewer = np.maximum(n - 1.0, 1.0)
        inside = [np.where((t >= 0) & (t <= fewer), t, 0.0) for t in (x, x - 1.0)]
        here, before = [
            np.where((t >= 0) & (t <= fewer), self._pdf(i, fewer), 0.0)
            for t, i in zip((x, x - 1.0), inside, strict=True)
        ]
        return np.where(n > 1, here - before, 0.0) * tangents[0]

    def value(x: Any, n: Any) -> Any:
        return plain(self, x, n.astype(int))

    return numerical.step("irwinhall.pdf", value, tangent)(x, n)


def _gauss_hypergeometric(x: Any, a: Any, b: Any, c: Any, z: Any) -> Any:
    def weight(t: Any, a: Any, b: Any, c: Any, z: Any) -> Any:
        return t ** (a - 1.0) * (1.0 - t) ** (b - 1.0) * (1.0 + z * t) ** -c

    low = np.zeros(np.broadcast_shapes(*[np.shape(v) for v in (a, b, c, z)]))
    return weight(x, a, b, c, z) / numerical.integral(weight, low, low + 1.0, (a, b, c, z))


def _general_hyperbolic(x: Any, p: Any, a: Any, b: Any) -> Any:
    """The logarithm of the density."""
    root, far = np.sqrt((a - b) * (a + b)), np.hypot(1.0, x)
    constant = p * np.log(root) - (p - 0.5) * np.log(a) - np.log(sc.kve(p, root)) - 0.5 * math.log(2.0 * math.pi)
    return constant + root + b * x - a * far + np.log(sc.kve(p - 0.5, a * far)) + (p - 0.5) * np.log(far)


def _inverse_gaussian(x: Any, p: Any, b: Any) -> Any:
    """The logarithm of the generalised density."""
    return (p - 1.0) * np.log(x) - 0.5 * b * (x + 1.0 / x) + b - math.log(2.0) - np.log(sc.kve(p, b))


def _ratio(x: Any, c: Any) -> Any:
    """log(1 + c x) / c, which is x at c = 0; the slopes of boxcox hold there too."""
    small = np.abs(c) < 1e-3
    inside = c * x > -1.0
    near = np.log(sc.inv_boxcox(np.where(small, x, 0.0), np.where(small, c, 0.0)))
    c, place = np.where(small, 1.0, c), np.where(small | ~inside, 0.0, x)
    return np.where(small, near, np.where(inside, np.log1p(c * place) / c, -np.inf))


def _extreme(x: Any, c: Any) -> Any:
    """The logarithm of the density of genextreme."""
    inside = c * x < 1.0
    rise = -_ratio(x, -c)
    return rise - np.exp(rise) - np.log1p(-np.where(inside, c * x, 0.0))


def _pearson(x: Any, skew: Any) -> tuple[Any, Any, Any]:
    """The place, shape and factor of the gamma distribution that it is; near the normal one, not at all."""
    beta = 2.0 / skew
    return np.maximum(beta * (x + beta), 0.0), beta * beta, np.abs(beta)


def _pearson_cdf(x: Any, skew: Any) -> Any:
    place, shape, _ = _pearson(x, skew)
    return np.where(skew > 0, sc.gammainc(shape, place), sc.gammaincc(shape, place))


def _pearson_logpdf(x: Any, skew: Any) -> Any:
    place, shape, factor = _pearson(x, skew)
    return np.log(factor) + sc.xlogy(shape - 1.0, place) - place - sc.gammaln(shape)


def _double_pareto(x: Any, u: Any, s: Any, a: Any, b: Any) -> Any:
    """As SciPy has it, which adds to an array in place: that has no place for handles if they come later."""
    z = (np.log(x) - u) / s
    ends = [sc.log_ndtr(-w) + 0.5 * w * w for w in (a * s - z, b * s + z)]
    return np.log(a) + np.log(b) - np.log(a + b) - np.log(x) - 0.5 * z * z + np.logaddexp(*ends)


FORMULAS: dict[str, dict[str, Callable[..., Any]]] = {
    "cosine": {
        "_cdf": lambda x: (x + np.sin(x)) / (2.0 * np.pi),
        "_sf": lambda x: -(x + np.sin(x)) / (2.0 * np.pi),
    },
    "dpareto_lognorm": {
        "_logpdf": _double_pareto,
        "_pdf": lambda *args: np.exp(_double_pareto(*args)),
    },
    "gausshyper": {"_pdf": _gauss_hypergeometric},
    "genhyperbolic": {
        "_logpdf": _general_hyperbolic,
        "_pdf": lambda *args: np.exp(_general_hyperbolic(*args)),
    },
    "geninvgauss": {"_logpdf": _inverse_gaussian},
    "genextreme": {
        "_loglogcdf": lambda x, c: -_ratio(x, -c),
        "_logpdf": _extreme,
        "_ppf": lambda q, c: -sc.boxcox(-np.log(q), c),
        "_isf": lambda q, c: -sc.boxcox(-np.log1p(-q), c),
    },
    "genpareto": {
        "_logpdf": lambda x, c: -(c + 1.0) * _ratio(x, c),
        "_logsf": lambda x, c: -_ratio(x, c),
    },
    "kstwobign": {"_pdf": lambda x: -statistics._kolmogorov_slope(x)},
    "ncf": {
        "_pdf": lambda x, dfn, dfd, nc: noncentral.f_density(dfn, dfd, nc, x),
        "_sf": lambda x, dfn, dfd, nc: 1.0 - sc.ncfdtr(dfn, dfd, nc, x),
    },
    "nct": {
        "_pdf": lambda x, df, nc: noncentral.nct_moment(1.0, df, nc, x),
        "_sf": lambda x, df, nc: 1.0 - sc.nctdtr(df, nc, x),
    },
    "pearson3": {
        "_logpdf": _pearson_logpdf,
        "_pdf": lambda x, skew: np.exp(_pearson_logpdf(x, skew)),
        "_cdf": _pearson_cdf,
        "_sf": lambda x, skew: -_pearson_cdf(x, skew),
    },
    "skewnorm": {"_cdf": lambda x, a: sc.ndtr(x) - 2.0 * sc.owens_t(x, a)},
}
"""For methods of classes, the formula that is differentiated in their place."""

GENERIC = {
    "_cdf": "genhyperbolic geninvgauss irwinhall ksone kstwo kstwobign landau levy_stable studentized_range",
    "_sf": "genhyperbolic irwinhall kstwo landau norminvgauss",
    "_ppf": "cauchy cosine invgauss ksone kstwo kstwobign landau pearson3 poisson skewnorm",
    "_isf": "cauchy cosine invgauss kstwo landau ncf nct ncx2 norminvgauss skewnorm",
    "_entropy": "tukeylambda",
    "_munp": "gausshyper irwinhall",
}
"""For methods of base classes, those distributions whose own ones end in compiled code, and follow from the density."""
