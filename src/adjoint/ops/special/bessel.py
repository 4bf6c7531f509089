"""Bessel, Hankel, Struve, Kelvin and Airy functions and their integrals; in the order, only K has a slope."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc

from ...core.entry.facts import Form
from ...core.errors import NotDifferentiableError, message
from ...core.values import dtype_of
from ...rules.elementwise import Elementwise
from ...rules.stacking import aligned
from .. import series
from ..declare import POSITIVE, REAL, WholeNumbers, declare, elementwise, ratio, where
from ..shape import stopped
from .declare import COMPILED, several
from .incomplete import in_chunks

ORDER = (0.0, 3.0)
ABSOLUTE = "slope of exp(-|x|) taken as 0 at 0"


def _between(function: Any, v: Any, z: Any) -> Any:
    """Half of f(v-1) - f(v+1): the slope of J, Y and H."""
    return 0.5 * (function(v - 1, z) - function(v + 1, z))


def _around(function: Any, v: Any, z: Any) -> Any:
    """Half of f(v-1) + f(v+1): the slope of I, and of K with a minus."""
    return 0.5 * (function(v - 1, z) + function(v + 1, z))


def _real(x: Any, name: str) -> Any:
    """The argument, refused if complex: a factor exp(-|Im z|) has no complex derivative."""
    if dtype_of(x).kind == "c":
        raise NotDifferentiableError(
            message(
                f"{name} scales by an absolute value, so it has no derivative for complex arguments.",
                fix="Use the unscaled function, or hankel1e, hankel2e, kve.",
            )
        )
    return x


def _order(
    ufunc: Any,
    slope: Callable[..., Any],
    *,
    order: Any = ORDER,
    by_order: Callable[..., Any] | None = None,
    **facts: Any,
) -> None:
    elementwise(ufunc, partials=[by_order, slope], domain=[order, POSITIVE], **facts)


_NODES = np.arange(1, 241) / 240.0


@in_chunks
def _k_by_order(v: Any, z: Any) -> Any:
    """The slope of kve in the order: the integral of t sinh(v t) exp(-z (cosh t - 1)), whose ends are flat."""
    v, z = np.expand_dims(v, -1), np.expand_dims(z, -1)
    reach = 2.0 * np.arcsinh(np.sqrt((1.5 * np.abs(stopped(v)) + 25.0) / stopped(z)))
    t = reach * _NODES
    fall = -2.0 * z * np.sinh(0.5 * t) ** 2
    return np.sum(0.5 * t * (np.exp(fall + v * t) - np.exp(fall - v * t)) * reach / len(_NODES), axis=-1)


def _ordinary(x: Any) -> Any:
    """The argument, refused if complex: the integral for the slope in the order is known for real numbers."""
    if dtype_of(x).kind == "c":
        raise NotDifferentiableError(
            message("kv and kve have no known derivative in the order for complex arguments.", fix="Use real ones.")
        )
    return x


FAR = 1e3
"""From here on the slope of a scaled Bessel function is a small difference of its neighbours."""


def _far_or(x: Any, order: int, out: Any, slope: Callable[[Any], Any]) -> Any:
    """The slope of i0e and i1e; far out from the asymptotic series of the logarithm, which does not cancel."""
    far = np.abs(x) > FAR
    u, m = 1.0 / where(far, np.abs(x), 1.0), 4.0 * order * order - 1.0
    series = -0.5 * u + m * u * u * (0.125 + u * (0.125 + u * (24.0 - m) / 128.0))
    return where(far, np.sign(x) * out * series, slope(where(far, 1.0, x)))


def _struve_term(v: Any, x: Any) -> Any:
    return (0.5 * x) ** v * sc.rgamma(v + 1.5) / math.sqrt(math.pi)


def _beside(function: Any, out: Any, v: Any, x: Any, mean: Any) -> Any:
    """The slope of a Struve function: f(v-1) - v f / x, which does not cancel far out; near 0 by both neighbours."""
    near = np.abs(x) < 1.0
    return where(near, mean + 0.5 * _struve_term(v, x), function(v - 1, x) - v * out / where(near, 1.0, x))


elementwise(sc.j0, partials=[lambda x: -sc.j1(x)], kernel=COMPILED, form=Form(sympy="besselj(0, x)"))
elementwise(
    sc.j1, partials=[lambda x: 0.5 * (sc.j0(x) - sc.jv(2, x))], kernel=COMPILED, form=Form(sympy="besselj(1, x)")
)
elementwise(sc.y0, partials=[lambda x: -sc.y1(x)], domain=[POSITIVE], form=Form(sympy="bessely(0, x)"))
elementwise(sc.y1, partials=[lambda out, x: sc.y0(x) - out / x], domain=[POSITIVE], form=Form(sympy="bessely(1, x)"))
# NumPy has an i0 too, a plain function with a primitive of that name
declare(
    "special.i0",
    sc.i0,
    Elementwise([lambda x: sc.i1(x)]),
    stacking=aligned,
    domain=(REAL,),
    ufunc=sc.i0,
    form=Form(sympy="besseli(0, x)"),
)
elementwise(
    sc.i1, partials=[lambda x: 0.5 * (sc.i0(x) + sc.iv(2, x))], kernel=COMPILED, form=Form(sympy="besseli(1, x)")
)
elementwise(
    sc.i0e,
    partials=[lambda out, x: _far_or(x, 0, out, lambda near: sc.i1e(near) - np.sign(near) * out)],
    domain=[POSITIVE],
    note=ABSOLUTE,
    series=series.not_at_origin,
    kernel=COMPILED,
    form=Form(sympy="exp(-Abs(x))*besseli(0, x)"),
)
elementwise(
    sc.i1e,
    partials=[
        lambda out, x: _far_or(x, 1, out, lambda near: 0.5 * (sc.i0e(near) + sc.ive(2, near)) - np.sign(near) * out)
    ],
    domain=[POSITIVE],
    note=ABSOLUTE,
    series=series.not_at_origin,
    kernel=COMPILED,
    form=Form(sympy="exp(-Abs(x))*besseli(1, x)"),
)
elementwise(sc.k0, partials=[lambda x: -sc.k1(x)], domain=[POSITIVE], kernel=COMPILED, form=Form(sympy="besselk(0, x)"))
elementwise(
    sc.k1,
    partials=[lambda out, x: -sc.k0(x) - out / x],
    domain=[POSITIVE],
    kernel=COMPILED,
    form=Form(sympy="besselk(1, x)"),
)
elementwise(
    sc.k0e,
    partials=[lambda out, x: out - sc.k1e(x)],
    domain=[POSITIVE],
    kernel=COMPILED,
    form=Form(sympy="exp(x)*besselk(0, x)"),
)
elementwise(
    sc.k1e,
    partials=[lambda out, x: out - sc.k0e(x) - out / x],
    domain=[POSITIVE],
    kernel=COMPILED,
    form=Form(sympy="exp(x)*besselk(1, x)"),
)

_order(sc.jv, lambda x, y: _between(sc.jv, x, y), kernel=COMPILED, form=Form(sympy="besselj"))
_order(sc.yv, lambda x, y: _between(sc.yv, x, y), form=Form(sympy="bessely"))
# SciPy cuts the fraction of the orders of yn and kn off
_order(sc.yn, lambda x, y: _between(sc.yn, np.trunc(x), y), order=WholeNumbers((0, 3)), form=Form(sympy="bessely"))
_order(sc.jve, lambda x, y: _between(sc.jve, x, _real(y, "jve")))
_order(sc.yve, lambda x, y: _between(sc.yve, x, _real(y, "yve")))
_order(sc.iv, lambda x, y: _around(sc.iv, x, y), form=Form(sympy="besseli"))
_order(
    sc.ive,
    lambda out, x, y: _around(sc.ive, x, y) - np.sign(_real(y, "ive")) * out,
    note=ABSOLUTE,
    series=series.kinked_where(lambda x, y: np.equal(y, 0), moves=1),
    form=Form(sympy="exp(-Abs(y))*besseli(x, y)"),
)
_order(
    sc.kv,
    lambda x, y: -_around(sc.kv, x, y),
    by_order=lambda x, y: _k_by_order(_ordinary(x), _ordinary(y)) * np.exp(-y),
    form=Form(sympy="besselk"),
)
_order(sc.kn, lambda x, y: -_around(sc.kn, np.trunc(x), y), order=WholeNumbers((0, 3)), form=Form(sympy="besselk"))
_order(
    sc.kve,
    lambda out, x, y: out - _around(sc.kve, x, y),
    by_order=lambda x, y: _k_by_order(_ordinary(x), _ordinary(y)),
    form=Form(sympy="exp(y)*besselk(x, y)"),
)
_order(sc.hankel1, lambda x, y: _between(sc.hankel1, x, y))
_order(sc.hankel2, lambda x, y: _between(sc.hankel2, x, y))
_order(sc.hankel1e, lambda out, x, y: _between(sc.hankel1e, x, y) - 1j * out)
_order(sc.hankel2e, lambda out, x, y: _between(sc.hankel2e, x, y) + 1j * out)
_order(sc.struve, lambda out, x, y: _beside(sc.struve, out, x, y, _between(sc.struve, x, y)))
_order(sc.modstruve, lambda out, x, y: _beside(sc.modstruve, out, x, y, _around(sc.modstruve, x, y)))
elementwise(
    sc.besselpoly,
    partials=[lambda x, y, z: sc.besselpoly(x, y + 1.0, z - 1.0) - sc.besselpoly(x, y + 1.0, z + 1.0), None, None],
    domain=[(0.2, 2.0), (0.0, 2.0), (1.0, 3.0)],
)

elementwise(sc.ber, partials=[lambda x: sc.berp(x)])
elementwise(sc.bei, partials=[lambda x: sc.beip(x)])
elementwise(sc.berp, partials=[lambda out, x: -sc.bei(x) - ratio(out, x)])
elementwise(sc.beip, partials=[lambda out, x: where(x == 0, 0.5, sc.ber(x) - ratio(out, x))])
elementwise(sc.ker, partials=[lambda x: sc.kerp(x)], domain=[POSITIVE])
elementwise(sc.kei, partials=[lambda x: sc.keip(x)], domain=[POSITIVE])
elementwise(sc.kerp, partials=[lambda out, x: -sc.kei(x) - out / x], domain=[POSITIVE])
elementwise(sc.keip, partials=[lambda out, x: sc.ker(x) - out / x], domain=[POSITIVE])
several(
    sc.kelvin,
    [lambda out, x: (out[2], out[3], 1j * out[0] - out[2] / x, 1j * out[1] - out[3] / x)],
    domain=[POSITIVE],
)


def _airye_slope(out: Any, x: Any) -> tuple[Any, ...]:
    root = np.sqrt(np.maximum(_real(x, "airye"), 0.0))
    ai, slope_ai, bi, slope_bi = out
    return slope_ai + root * ai, x * ai + root * slope_ai, slope_bi - root * bi, x * bi - root * slope_bi


def _airy(x: Any) -> tuple[Any, Any]:
    ai, _, bi, _ = sc.airy(x)
    return ai, bi


def _lost_by_j0(x: Any) -> Any:
    """(1 - j0(x)) / x, near 0 from 1 = j0 + 2 j2 + 2 j4 + ..."""
    near = np.abs(x) < 0.5
    series = 2.0 * sum([sc.jv(n, x) for n in (4, 6, 8, 10)], sc.jv(2, x))
    return where(near, series, 1.0 - sc.j0(x)) / x


def _gained_by_i0(x: Any) -> Any:
    """(i0(x) - 1) / x, near 0 from 1 = i0 - 2 i2 + 2 i4 - ..."""
    near = np.abs(x) < 0.5
    series = 2.0 * (sc.iv(2, x) - sc.iv(4, x) + sc.iv(6, x) - sc.iv(8, x) + sc.iv(10, x))
    return where(near, series, sc.i0(x) - 1.0) / x


several(
    sc.airy,
    [lambda out, x: (out[1], x * out[0], out[3], x * out[2])],
    form=Form(sympy="(airyai(x), airyaiprime(x), airybi(x), airybiprime(x))"),
)
several(sc.airye, [_airye_slope], domain=[POSITIVE])
several(sc.itairy, [lambda x: (*_airy(x), *_airy(-x))], domain=[POSITIVE])
several(sc.itj0y0, [lambda x: (sc.j0(x), sc.y0(x))], domain=[POSITIVE])
several(sc.iti0k0, [lambda x: (sc.i0(x), sc.k0(x))], domain=[POSITIVE])
several(sc.it2j0y0, [lambda x: (_lost_by_j0(x), -sc.y0(x) / x)], domain=[POSITIVE])
several(sc.it2i0k0, [lambda x: (_gained_by_i0(x), -sc.k0(x) / x)], domain=[POSITIVE])
elementwise(sc.itstruve0, partials=[lambda x: sc.struve(0, x)], domain=[POSITIVE])
elementwise(
    sc.it2struve0,
    partials=[lambda x: where(x == 0, -2.0 / math.pi, -sc.struve(0, x) / where(x == 0, 1.0, x))],
    domain=[POSITIVE],
)
elementwise(sc.itmodstruve0, partials=[lambda x: sc.modstruve(0, x)], domain=[POSITIVE])
elementwise(
    sc.wright_bessel, partials=[None, None, lambda x, y, z: sc.wright_bessel(x, x + y, z)], domain=[(0.2, 2.0)] * 3
)
elementwise(
    sc.log_wright_bessel,
    partials=[None, None, lambda out, x, y, z: np.exp(sc.log_wright_bessel(x, x + y, z) - out)],
    domain=[(0.2, 2.0)] * 3,
)
