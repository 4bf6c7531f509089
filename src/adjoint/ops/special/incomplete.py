"""Slopes of the incomplete gamma and beta functions in their shapes, as sums of positive terms.

With P the lower incomplete gamma function, f its density and psi(a) the mean of log t,

    dP/da = -(M + P (psi(a) - log x)),  M the integral of (log x - log t) f(t) from 0 to x,
          = -(N + Q (log x - psi(a))),  N the integral of (log t - log x) f(t) from x on.

Below the mean of log t both terms of the first line are positive, above it those of the second: nothing cancels. What
is left is an integral over a tail, in which the density falls: the double exponential rule finds it to about 12 digits.
The beta function is alike. All steps are NumPy's, so that the slopes have derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from ...core.entry.facts import Form
from ...core.traced import FLOAT64, Traced
from ..declare import POSITIVE, UNIT, elementwise, where
from ..shape import stopped as fixed
from .declare import COMPILED
from .gamma import SHAPE, beta_density, gamma_density, psi_rise

STEP = 0.0625
_t = np.arange(-4.0, 4.6, STEP)
NODES = np.exp(_t - np.exp(-_t))
"""Places from 0 to infinity at which an integrand that decays within a few units is added up."""

WEIGHTS = STEP * NODES * (1.0 + np.exp(-_t))
CHUNK = 2048
"""How many slopes are found at a time, each from an integrand at all nodes."""


def in_chunks(formula: Callable[..., Any]) -> Callable[..., Any]:
    """A formula that adds up over nodes: of plain arrays, for a number of elements at a time that fits into caches."""

    def evaluate(*args: Any) -> Any:
        if any([isinstance(a, Traced) for a in args]):
            return formula(*args)
        arrays = np.broadcast_arrays(*[np.asarray(a, FLOAT64) for a in args])
        shape, flat = arrays[0].shape, [a.reshape(-1) for a in arrays]
        with np.errstate(all="ignore"):
            parts = [formula(*[a[i : i + CHUNK] for a in flat]) for i in range(0, flat[0].size, CHUNK)]
        return np.concatenate(parts).reshape(shape)[()] if parts else np.zeros(shape)

    return evaluate


def _unit(rise: Any, rest: Any, bend: Any) -> Any:
    """Where g s + c s**2 / (2 + k s) is 1: a slope g at first, a curvature c, and the slope g + c / k in the end."""
    rise = np.maximum(rise, 0.0)
    a, b = rise * bend + rest, 2.0 * rise - bend
    return 4.0 / (b + np.sqrt(b * b + 8.0 * a))


def _units(a: Any, b: Any, odds: Any) -> Any:
    """In which an integrand of `_left` decays: for b < 1 it is a power of s at first, then exp(-a s)."""
    a, b, odds = [fixed(v) for v in (a, b, odds)]
    push = np.maximum((b - 1.0) * odds, 0.0)
    return np.where(b > 1.0, _unit(a - push, push * (1.0 + odds), 1.0 + odds), 1.0 / a)


def _wide(*values: Any) -> list[Any]:
    """Values with one more axis, for the nodes."""
    return [np.expand_dims(v, -1) for v in values]


@in_chunks
def gamma_shape(a: Any, x: Any) -> Any:
    """The slope of gammainc(a, x) in a."""
    inside = (x > 0) & (x < np.inf) & (a > 0)
    a, x = where(inside, a, 1.0), where(inside, x, 1.0)
    level = sc.psi(a) - np.log(x)
    below = level > 0
    tail = where(below, _lower(a, where(below, x, 0.5 * a)), _upper(a, where(below, 2.0 * a + 1.0, x)))
    rest = where(below, sc.gammainc(a, x) * level, -sc.gammaincc(a, x) * level)
    return where(inside, -(tail * x * gamma_density(a, x) + rest), 0.0)


def _lower(a: Any, x: Any) -> Any:
    """The integral of s exp(-a s + x (1 - exp(-s))), of s = log(x / t): that below x, over its density times x."""
    unit, first, place = _wide(_unit(fixed(a - x), fixed(x), 1.0), a, x)
    s = NODES * unit
    return np.sum(WEIGHTS * unit * s * np.exp(-first * s - place * np.expm1(-s)), axis=-1)


def _upper(a: Any, x: Any) -> Any:
    """The integral of log(1 + z) (1 + z)**(a - 1) exp(-x z), of z = t / x - 1: that above x."""
    unit = np.where(fixed(a) > 1.0, _unit(fixed(x - a), fixed(a), 1.0), 1.0 / fixed(x))
    unit, first, place = _wide(unit, a, x)
    z = NODES * unit
    rise = np.log1p(z)
    return np.sum(WEIGHTS * unit * rise * np.exp((first - 1.0) * rise - place * z), axis=-1)


@in_chunks
def beta_shape(a: Any, b: Any, x: Any, y: Any) -> Any:
    """The slope of betainc(a, b, x) in a, for y = 1 - x; in b it is that of betaincc(b, a, y)."""
    inside = (x > 0) & (y > 0) & (a > 0) & (b > 0)
    a, b, x, y = where(inside, a, 1.0), where(inside, b, 1.0), where(inside, x, 0.5), where(inside, y, 0.5)
    odds = x / y
    level = -psi_rise(a, b) - np.log(x)
    below = level > 0
    low = _left(a, b, where(below, odds, 0.5 * a / b), logarithm=False)
    high = _left(b, a, where(below, 0.5 * b / a, 1.0 / odds), logarithm=True)
    tail = where(below, low * x, high * y) * beta_density(a, b, x)
    rest = where(below, sc.betainc(a, b, x) * level, -sc.betaincc(a, b, x) * level)
    return where(inside, -(tail + rest), 0.0)


def _left(a: Any, b: Any, odds: Any, *, logarithm: bool) -> Any:
    """The integral of w exp(-a s) (1 + odds (1 - exp(-s)))**(b - 1); w is s or the logarithm of that bracket."""
    unit, first, second, ratio = _wide(_units(a, b, odds), a, b, odds)
    s = NODES * unit
    rise = np.log1p(-ratio * np.expm1(-s))
    weight = rise if logarithm else s
    return np.sum(WEIGHTS * unit * weight * np.exp((second - 1.0) * rise - first * s), axis=-1)


def _beta_slopes(a: Any, b: Any, x: Any) -> tuple[Any, Any]:
    """The slopes of betainc in both shapes."""
    return beta_shape(a, b, x, 1.0 - x), -beta_shape(b, a, 1.0 - x, x)


elementwise(
    sc.gammainc,
    partials=[lambda x, y: gamma_shape(x, y), lambda x, y: gamma_density(x, y)],
    domain=[SHAPE, POSITIVE],
    kernel=COMPILED,
    form=Form(sympy="lowergamma(x, y)/gamma(x)"),
)
elementwise(
    sc.gammaincc,
    partials=[lambda x, y: -gamma_shape(x, y), lambda x, y: -gamma_density(x, y)],
    domain=[SHAPE, POSITIVE],
    kernel=COMPILED,
    form=Form(sympy="uppergamma(x, y)/gamma(x)"),
)
elementwise(
    sc.gammaincinv,
    partials=[lambda out, x: gamma_path(x, out), lambda out, x: 1.0 / gamma_density(x, out)],
    domain=[SHAPE, UNIT],
    kernel=COMPILED,
)
elementwise(
    sc.gammainccinv,
    partials=[lambda out, x: gamma_path(x, out), lambda out, x: -1.0 / gamma_density(x, out)],
    domain=[SHAPE, UNIT],
    kernel=COMPILED,
)


def gamma_path(a: Any, x: Any) -> Any:
    """How a quantile x moves with the shape a: along with the level it belongs to."""
    return quotient(-gamma_shape(a, x), gamma_density(a, x))


def beta_paths(a: Any, b: Any, x: Any) -> tuple[Any, Any]:
    """How a quantile x moves with both shapes."""
    by_a, by_b = _beta_slopes(a, b, x)
    density = beta_density(a, b, x)
    return quotient(-by_a, density), quotient(-by_b, density)


def quotient(x: Any, y: Any) -> Any:
    """x / y, and 0 where x is 0: a quantile at the end of the support stays there."""
    return where(x == 0, 0.0, x / where(x == 0, 1.0, y))


elementwise(
    sc.betainc,
    partials=[
        lambda x, y, z: beta_shape(x, y, z, 1.0 - z),
        lambda x, y, z: -beta_shape(y, x, 1.0 - z, z),
        lambda x, y, z: beta_density(x, y, z),
    ],
    domain=[SHAPE, SHAPE, UNIT],
    form=Form(sympy="betainc_regularized(x, y, 0, z)"),
)
elementwise(
    sc.betaincc,
    partials=[
        lambda x, y, z: -beta_shape(x, y, z, 1.0 - z),
        lambda x, y, z: beta_shape(y, x, 1.0 - z, z),
        lambda x, y, z: -beta_density(x, y, z),
    ],
    domain=[SHAPE, SHAPE, UNIT],
)
elementwise(
    sc.betaincinv,
    partials=[
        lambda out, x, y: beta_paths(x, y, out)[0],
        lambda out, x, y: beta_paths(x, y, out)[1],
        lambda out, x, y: 1.0 / beta_density(x, y, out),
    ],
    domain=[SHAPE, SHAPE, UNIT],
)
elementwise(
    sc.betainccinv,
    partials=[
        lambda out, x, y: beta_paths(x, y, out)[0],
        lambda out, x, y: beta_paths(x, y, out)[1],
        lambda out, x, y: -1.0 / beta_density(x, y, out),
    ],
    domain=[SHAPE, SHAPE, UNIT],
)
