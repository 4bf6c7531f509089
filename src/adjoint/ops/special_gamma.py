"""The gamma function and its family, and the incomplete gamma and beta functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from ..core.errors import NotDifferentiableError, message
from ..rules.elementwise import Elementwise
from ..rules.stacking import aligned
from .declare import POSITIVE, UNIT, Whole, declare, elementwise, where

SHAPE = (0.5, 4.0)
"""Where the shape parameters of the incomplete functions are tried."""


def gamma_density(a: Any, x: Any) -> Any:
    """x**(a-1) exp(-x) / gamma(a)."""
    return np.exp(sc.xlogy(a - 1.0, x) - x - sc.gammaln(a))


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """x**(a-1) (1-x)**(b-1) / beta(a, b)."""
    return np.exp(sc.xlogy(a - 1.0, x) + sc.xlog1py(b - 1.0, -x) - sc.betaln(a, b))


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


polygamma = declare(
    "polygamma",
    _polygamma,
    Elementwise([None, lambda x, y: polygamma(x + 1, y)]),
    stacking=aligned,
    domain=(Whole((1, 3)), POSITIVE),
)
zeta = declare(
    "zeta",
    sc.zeta,
    Elementwise([None, lambda x, y: -x * zeta(x + 1.0, y)]),
    stacking=aligned,
    domain=((1.5, 4.0), POSITIVE),
)
elementwise(sc.gamma, partials=[lambda out, x: out * sc.psi(x)], domain=[POSITIVE])
elementwise(sc.gammaln, partials=[lambda x: sc.psi(x)], domain=[POSITIVE])
elementwise(sc.loggamma, partials=[lambda x: sc.psi(x)], domain=[POSITIVE])
elementwise(sc.rgamma, partials=[lambda x: _rgamma_slope(x)])
elementwise(sc.psi, partials=[lambda x: polygamma(1, x)], domain=[POSITIVE])
elementwise(
    sc.beta,
    partials=[lambda out, x, y: out * (sc.psi(x) - sc.psi(x + y)), lambda out, x, y: out * (sc.psi(y) - sc.psi(x + y))],
    domain=[POSITIVE, POSITIVE],
)
elementwise(
    sc.betaln,
    partials=[lambda x, y: sc.psi(x) - sc.psi(x + y), lambda x, y: sc.psi(y) - sc.psi(x + y)],
    domain=[POSITIVE, POSITIVE],
)
elementwise(
    sc.binom,
    partials=[
        lambda out, x, y: out * (sc.psi(x + 1.0) - sc.psi(x - y + 1.0)),
        lambda out, x, y: out * (sc.psi(x - y + 1.0) - sc.psi(y + 1.0)),
    ],
    domain=[(3.0, 7.0), (0.2, 2.8)],
)
elementwise(
    sc.poch,
    partials=[lambda out, x, y: out * (sc.psi(x + y) - sc.psi(x)), lambda out, x, y: out * sc.psi(x + y)],
    domain=[POSITIVE, (0.5, 3.0)],
)
elementwise(sc.gammainc, partials=[None, lambda x, y: gamma_density(x, y)], domain=[SHAPE, POSITIVE])
elementwise(sc.gammaincc, partials=[None, lambda x, y: -gamma_density(x, y)], domain=[SHAPE, POSITIVE])
elementwise(sc.gammaincinv, partials=[None, lambda out, x: 1.0 / gamma_density(x, out)], domain=[SHAPE, UNIT])
elementwise(sc.gammainccinv, partials=[None, lambda out, x: -1.0 / gamma_density(x, out)], domain=[SHAPE, UNIT])
elementwise(sc.betainc, partials=[None, None, lambda x, y, z: beta_density(x, y, z)], domain=[SHAPE, SHAPE, UNIT])
elementwise(sc.betaincc, partials=[None, None, lambda x, y, z: -beta_density(x, y, z)], domain=[SHAPE, SHAPE, UNIT])
elementwise(
    sc.betaincinv, partials=[None, None, lambda out, x, y: 1.0 / beta_density(x, y, out)], domain=[SHAPE, SHAPE, UNIT]
)
elementwise(
    sc.betainccinv, partials=[None, None, lambda out, x, y: -1.0 / beta_density(x, y, out)], domain=[SHAPE, SHAPE, UNIT]
)
