"""The gamma function and its family, and the densities of the gamma and beta distributions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from ...core.entry.facts import AN_ARRAY, Form
from ...core.errors import NotDifferentiableError, message
from ...rules.elementwise import Elementwise
from ...rules.stacking import aligned
from ..declare import POSITIVE, WholeNumbers, declare, elementwise, where
from .declare import COMPILED

SHAPE = (0.5, 4.0)
"""Where the shape parameters of the incomplete functions are tried."""


LARGE = 15.0
"""Beyond this the gamma function is taken from Stirling's series: its logarithm would lose the digits of small ones."""


def gamma_density(a: Any, x: Any) -> Any:
    """x**(a-1) exp(-x) / gamma(a)."""
    large = (a > LARGE) & (x > 0)
    far, place = where(large, a, LARGE), where(large, x, LARGE)
    peaked = np.exp(-_deviance(far, place) - _stirling(far)) * np.sqrt(far / (2.0 * math.pi)) / place
    return where(large, peaked, np.exp(where(large, 0.0, sc.xlogy(a - 1.0, x) - x - sc.gammaln(a))))


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """x**(a-1) (1-x)**(b-1) / beta(a, b)."""
    large = (a > LARGE) & (b > LARGE) & (x > 0) & (x < 1)
    first, second, place = where(large, a, LARGE), where(large, b, LARGE), where(large, x, 0.5)
    total, rest = first + second, 1.0 - place
    away = _deviance(first, place * total) + _deviance(second, rest * total)
    series = _stirling(total) - _stirling(first) - _stirling(second)
    peaked = np.exp(series - away) * np.sqrt(first * second / (2.0 * math.pi * total)) / (place * rest)
    powers = sc.xlogy(a - 1.0, x) + sc.xlog1py(b - 1.0, -x) - sc.betaln(a, b)
    return where(large, peaked, np.exp(where(large, 0.0, powers)))


def _deviance(a: Any, x: Any) -> Any:
    """x - a - a log(x / a): how unlikely x is where a is expected."""
    u = (x - a) / a
    return a * (u - np.log1p(u))


def _stirling(x: Any) -> Any:
    """What Stirling's formula lacks: log gamma(x) - (x - 1/2) log x + x - log(2 pi) / 2."""
    u = 1.0 / (x * x)
    return (1.0 / 12.0 - u * (1.0 / 360.0 - u * (1.0 / 1260.0 - u * (1.0 / 1680.0 - u / 1188.0)))) / x


def psi_rise(x: Any, d: Any) -> Any:
    """psi(x + d) - psi(x), for large x without cancellation; between two poles the limit, by reflection."""
    poles = _is_pole(x) & _is_pole(x + d)
    sign, x = where(poles, -1.0, 1.0), where(poles, 1.0 - x - d, x)
    large = (x > LARGE) & (x + d > LARGE)
    low, step = where(large, x, LARGE), where(large, d, 1.0)
    high = low + step
    product = low * high
    rise = np.log1p(step / low) + step / (2.0 * product) * (1.0 + (low + high) / (6.0 * product))
    return sign * where(large, rise + _psi_tail(high) - _psi_tail(low), sc.psi(x + d) - sc.psi(x))


def _is_pole(x: Any) -> Any:
    """Whether gamma has a pole there: at 0, -1, -2, ..."""
    return (np.real(x) <= 0) & (x == np.rint(np.real(x)))


def _beta_slope(out: Any, x: Any, y: Any) -> Any:
    """d/dx of beta(x, y); at its zeros, which are poles of gamma(x + y), without them."""
    zero = _is_pole(x + y) & ~_is_pole(x) & ~_is_pole(y)
    here = sc.gamma(where(zero, x, 1.0)) * sc.gamma(where(zero, y, 1.0)) * _rgamma_slope(where(zero, x + y, 1.0))
    return where(zero, here, -out * psi_rise(where(zero, 1.0, x), where(zero, 1.0, y)))


def _binom_slopes(out: Any, n: Any, k: Any) -> tuple[Any, Any]:
    """Both slopes of binom = gamma(n + 1) / (gamma(k + 1) gamma(n - k + 1)); at its zeros without their poles."""
    below, left = _is_pole(n - k + 1.0) & ~_is_pole(n + 1.0), _is_pole(k + 1.0) & ~_is_pole(n + 1.0)
    zero = below | left
    top, a, b = where(zero, n + 1.0, 1.0), where(zero, k + 1.0, 1.0), where(zero, n - k + 1.0, 1.0)
    size = sc.gamma(top)
    by_n, by_k = size * sc.rgamma(a) * _rgamma_slope(b), size * _rgamma_slope(a) * sc.rgamma(b)
    n, k = where(zero, 3.0, n), where(zero, 1.0, k)
    return (
        where(zero, by_n, out * psi_rise(n - k + 1.0, k)),
        where(zero, by_k - by_n, out * psi_rise(k + 1.0, n - 2.0 * k)),
    )


def _poch_slopes(out: Any, x: Any, m: Any) -> tuple[Any, Any]:
    """Both slopes of poch = gamma(x + m) / gamma(x); at its zeros, which are poles of gamma(x), without them."""
    zero = _is_pole(x) & ~_is_pole(x + m)
    here = sc.gamma(where(zero, x + m, 1.0)) * _rgamma_slope(where(zero, x, 1.0))
    start = where(zero, 1.0, x)
    return (
        where(zero, here, where(m == 0, 0.0, out * psi_rise(start, m))),
        where(zero, 0.0, out * sc.psi(where(zero, 1.0, x + m))),
    )


def _psi_tail(x: Any) -> Any:
    """psi(x) - log(x) + 1 / (2 x) + 1 / (12 x**2)."""
    u = 1.0 / (x * x)
    return u * u * (1.0 - u * (10.0 / 21.0 - u * (0.5 - u / 1.1))) / 120.0


def _polygamma(n: Any, x: Any) -> Any:
    if np.iscomplexobj(x):
        raise NotDifferentiableError(
            message(
                "The derivative of the digamma function is only known for real arguments.",
                got="a complex argument of psi",
                fix="Only gamma, loggamma and rgamma have a first derivative for complex arguments.",
            )
        )
    return sc.polygamma(n, x)


def _rgamma_slope(x: Any) -> Any:
    """The slope of 1 / gamma; left of 1/2 by reflection, which has no poles there."""
    left = np.real(x) < 0.5
    low, high = where(left, x, 0.0), where(left, 1.0, x)
    angle = math.pi * low
    reflected = sc.gamma(1.0 - low) * (np.cos(angle) - sc.psi(1.0 - low) * np.sin(angle) / math.pi)
    return where(left, reflected, -sc.rgamma(high) * sc.psi(high))


BERNOULLI = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600)
"""The numbers of Bernoulli of even index over factorials, as in the formula of Euler and Maclaurin."""


def _zeta_slope(s: Any, q: Any) -> Any:
    """The slope of the sum of (n + q)**-s in s: terms one by one, then the formula of Euler and Maclaurin."""
    total: Any = 0.0
    for n in range(12):
        total = total - np.log(q + n) * (q + n) ** -s
    last = q + 12.0
    size, log = last**-s, np.log(last)
    total = total - size * last * (log + 1.0 / (s - 1.0)) / (s - 1.0) - 0.5 * log * size
    factor, slope, power = s, 1.0, size / last
    for k, number in enumerate(BERNOULLI):
        total = total + number * power * (slope - factor * log)
        for j in (2 * k + 1, 2 * k + 2):
            factor, slope = factor * (s + j), slope * (s + j) + factor
        power = power / (last * last)
    return total


polygamma = declare(
    "polygamma",
    _polygamma,
    Elementwise([None, lambda x, y: polygamma(x + 1, y)]),
    stacking=aligned,
    domain=(WholeNumbers((1, 3)), POSITIVE),
    form=Form(source="scipy.special.polygamma({all})", sympy="polygamma"),
    axisless=AN_ARRAY,
)
zeta = declare(
    "zeta",
    sc.zeta,
    Elementwise([lambda x, y: _zeta_slope(x, y), lambda x, y: -x * zeta(x + 1.0, y)]),
    stacking=aligned,
    domain=((1.5, 4.0), POSITIVE),
    form=Form(source="scipy.special.zeta({all})", sympy="zeta"),
)
elementwise(
    sc.gamma, partials=[lambda out, x: out * sc.psi(x)], domain=[POSITIVE], kernel=COMPILED, form=Form(sympy="gamma")
)
elementwise(
    sc.gammaln,
    partials=[lambda x: sc.psi(x)],
    domain=[POSITIVE],
    kernel=COMPILED,
    form=Form(sympy="log(Abs(gamma(x)))"),
)
elementwise(
    sc.loggamma, partials=[lambda x: sc.psi(x)], domain=[POSITIVE], kernel=COMPILED, form=Form(sympy="loggamma")
)
elementwise(sc.rgamma, partials=[lambda x: _rgamma_slope(x)], kernel=COMPILED, form=Form(sympy="1/gamma(x)"))
elementwise(
    sc.psi,
    partials=[lambda x: polygamma(1, x)],
    domain=[POSITIVE],
    kernel=COMPILED,
    form=Form(javascript="digamma", sympy="digamma"),
)
elementwise(
    sc.beta,
    partials=[lambda out, x, y: _beta_slope(out, x, y), lambda out, x, y: _beta_slope(out, y, x)],
    domain=[POSITIVE, POSITIVE],
    kernel=COMPILED,
    form=Form(sympy="gamma(x)*gamma(y)/gamma(x + y)"),
)
elementwise(
    sc.betaln,
    partials=[lambda x, y: -psi_rise(x, y), lambda x, y: -psi_rise(y, x)],
    domain=[POSITIVE, POSITIVE],
    kernel=COMPILED,
    form=Form(sympy="log(Abs(gamma(x)*gamma(y)/gamma(x + y)))"),
)
elementwise(
    sc.binom,
    partials=[lambda out, x, y: _binom_slopes(out, x, y)[0], lambda out, x, y: _binom_slopes(out, x, y)[1]],
    domain=[(3.0, 7.0), (0.2, 2.8)],
    kernel=COMPILED,
    form=Form(sympy="binomial"),
)
elementwise(
    sc.poch,
    partials=[lambda out, x, y: _poch_slopes(out, x, y)[0], lambda out, x, y: _poch_slopes(out, x, y)[1]],
    domain=[POSITIVE, (0.5, 3.0)],
    kernel=COMPILED,
    form=Form(sympy="RisingFactorial"),
)
