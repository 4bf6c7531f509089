"""Special functions made of powers, exponentials and logarithms: degrees, Box-Cox, logistic, entropy, Huber's loss."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special as sc

from ...core.entry.facts import Form, Kernel
from ...core.primitive import Primitive
from ...core.values import cast, dtype_of
from ...rules.stacking import aligned
from .. import arithmetic, exponential, series
from ..declare import CONSTANT, POSITIVE, REAL, UNIT, composed, constant, declare, elementwise, where
from ..exponential import LOG_10
from ..trigonometric import TURN
from .declare import COMPILED

NEAR = 0.5
"""Below this a quotient such as log1p(u) / u is taken from its series."""


def exprel_slope(u: Any) -> Any:
    """d/du of expm1(u) / u, without cancellation."""
    near = np.abs(u) < 1.0
    far = where(near, 1.0, u)
    return where(near, 0.5 * sc.hyp1f1(2.0, 3.0, where(near, u, 0.0)), (np.exp(far) - sc.exprel(far)) / far)


def log1p_ratio(u: Any) -> Any:
    """log1p(u) / u, also at 0, so that all derivatives are right there."""
    near = np.abs(u) < NEAR
    far = where(near, 1.0, u)
    return where(near, sc.hyp2f1(1.0, 1.0, 2.0, -where(near, u, 0.0)), np.log1p(far) / far)


def _log1p_ratio_slope(u: Any) -> Any:
    near = np.abs(u) < NEAR
    far = where(near, 1.0, u)
    series = -0.5 * sc.hyp2f1(2.0, 2.0, 3.0, -where(near, u, 0.0))
    return where(near, series, (far / (1.0 + far) - np.log1p(far)) / (far * far))


def boxcox_slope(log: Any, power: Any) -> Any:
    """d/dpower of (exp(power * log) - 1) / power; 1 / power**2 where the argument of the logarithm is 0."""
    gone = (log == -math.inf) & (power > 0)
    inner = where(gone, 0.0, log)
    return where(gone, 1.0 / where(gone, power * power, 1.0), inner * inner * exprel_slope(power * inner))


def log_unless_absent(x: Any, log: Any) -> Any:
    """The logarithm in x * log; 0 where x is 0 and the logarithm does not exist, because the product is 0 there."""
    return where((x == 0) & ~np.isfinite(log), 0.0, log)


def _share(x: Any, y: Any) -> Any:
    """x / y, and 0 for 0 / 0."""
    absent = (x == 0) & (y == 0)
    return where(absent, 0.0, x / where(absent, 1.0, y))


def _log_ratio(x: Any, y: Any) -> Any:
    """log(x / y), accurate near x = y and for extreme ratios; inf at (0, 0), where x cannot grow."""
    near = np.abs(x - y) < NEAR * np.abs(y)
    close = np.log1p(where(near, x - y, 0.0) / where(near, y, 1.0))
    return where(near, close, where(y == 0, np.inf, np.log(x) - np.log(where(y == 0, 1.0, y))))


def _stretch(x: Any, y: Any) -> Any:
    return np.hypot(x, y) / x


def _twin(ufunc: Any, primitive: Primitive) -> None:
    """A function that NumPy has too: SciPy's has no loops for small integers and halves, and computes in double."""

    @composed(ufunc)
    def twin(x: Any) -> Any:
        return primitive(x if dtype_of(x).char in "fdFD" else cast(x, np.dtype(float)))


_twin(sc.cbrt, arithmetic.cbrt)
_twin(sc.exp2, exponential.exp2)
_twin(sc.expm1, exponential.expm1)
_twin(sc.log1p, exponential.log1p)
elementwise(sc.exp10, partials=[lambda out: out * LOG_10], kernel=COMPILED, form=Form(sympy="10**x"))
elementwise(sc.cosm1, partials=[lambda x: -np.sin(x)], kernel=COMPILED, form=Form(sympy="cos(x) - 1"))
elementwise(
    sc.sindg,
    partials=[lambda x: sc.cosdg(x) * TURN],
    domain=[(-80.0, 80.0)],
    kernel=COMPILED,
    form=Form(sympy="sin(pi*x/180)"),
)
elementwise(
    sc.cosdg,
    partials=[lambda x: -sc.sindg(x) * TURN],
    domain=[(10.0, 170.0)],
    kernel=COMPILED,
    form=Form(sympy="cos(pi*x/180)"),
)
elementwise(
    sc.tandg, partials=[lambda out: (1.0 + out * out) * TURN], domain=[(-80.0, 80.0)], form=Form(sympy="tan(pi*x/180)")
)
elementwise(
    sc.cotdg,
    partials=[lambda out: -(1.0 + out * out) * TURN],
    domain=[(10.0, 170.0)],
    kernel=COMPILED,
    form=Form(sympy="cot(pi*x/180)"),
)
elementwise(sc.radian, partials=[lambda: TURN, lambda: TURN / 60.0, lambda: TURN / 3600.0])
elementwise(
    sc.exprel,
    partials=[lambda x: exprel_slope(x)],
    kernel=Kernel("exprel"),
    form=Form(sympy="Piecewise((1, Eq(x, 0)), ((exp(x) - 1)/x, True))"),
)
elementwise(
    sc.powm1,
    partials=[lambda x, y: y * x ** (y - 1.0), lambda out, x: sc.xlogy(out + 1.0, x)],
    domain=[POSITIVE, REAL],
    form=Form(sympy="x**y - 1"),
)
elementwise(
    sc.boxcox,
    partials=[lambda x, y: x ** (y - 1.0), lambda x, y: boxcox_slope(np.log(x), y)],
    domain=[POSITIVE, REAL],
    kernel=COMPILED,
    form=Form(sympy="Piecewise((log(x), Eq(y, 0)), ((x**y - 1)/y, True))"),
)
elementwise(
    sc.boxcox1p,
    partials=[lambda x, y: np.exp(sc.xlog1py(y - 1.0, x)), lambda x, y: boxcox_slope(np.log1p(x), y)],
    domain=[(-1.0, math.inf), REAL],
    kernel=COMPILED,
)
elementwise(
    sc.inv_boxcox,
    partials=[lambda out, x, y: out / (1.0 + x * y), lambda out, x, y: out * x * x * _log1p_ratio_slope(x * y)],
    domain=[(-0.5, 1.0), (0.0, 1.0)],
    kernel=COMPILED,
    form=Form(sympy="Piecewise((exp(x), Eq(y, 0)), ((1 + x*y)**(1/y), True))"),
)
elementwise(
    sc.inv_boxcox1p,
    partials=[
        lambda out, x, y: (1.0 + out) / (1.0 + x * y),
        lambda out, x, y: (1.0 + out) * x * x * _log1p_ratio_slope(x * y),
    ],
    domain=[(-0.5, 1.0), (0.0, 1.0)],
    kernel=COMPILED,
)


def _agm_slope(out: Any, x: Any, y: Any) -> Any:
    """d/dx of the arithmetic-geometric mean of x and y, which is 0 if y is."""
    other = where(y == 0, 1.0, y * y)
    return where(y == 0, 0.0, out * out * np.abs(x) * sc.elliprd(0.0, other, x * x) * (2.0 / (3.0 * math.pi)))


elementwise(
    sc.agm,
    partials=[
        lambda out, x, y: _agm_slope(out, x, y),
        lambda out, x, y: _agm_slope(out, y, x),
    ],
    domain=[POSITIVE, POSITIVE],
)
elementwise(sc.wrightomega, partials=[lambda out: out / (1.0 + out)], form=Form(sympy="LambertW(exp(x))"))

elementwise(
    sc.expit,
    partials=[lambda out, x: out * sc.expit(-x)],
    series=series.logistic,
    kernel=Kernel("expit"),
    form=Form(text="σ sigmoid", javascript="sigmoid", sympy="1/(1 + exp(-x))"),
)
elementwise(
    sc.logit,
    partials=[lambda x: 1.0 / (x * (1.0 - x))],
    domain=[UNIT],
    kernel=Kernel("logit"),
    form=Form(sympy="log(x/(1 - x))"),
)
elementwise(
    sc.log_expit, partials=[lambda x: sc.expit(-x)], kernel=Kernel("log_expit"), form=Form(sympy="-log(1 + exp(-x))")
)

elementwise(
    sc.entr,
    partials=[lambda x: -1.0 - np.log(x)],
    domain=[POSITIVE],
    vertex=True,
    note="at 0: inf, or 0 where the inner function has no slope",
    kernel=Kernel("entr"),
    form=Form(sympy="Piecewise((0, Eq(x, 0)), (-x*log(x), True))"),
)
elementwise(
    sc.rel_entr,
    partials=[lambda x, y: _log_ratio(x, y) + 1.0, lambda x, y: -_share(x, y)],
    domain=[POSITIVE, POSITIVE],
    vertex=True,
    note="at x = 0: -inf, or 0 where the inner function has no slope; no slope in y at (0, 0)",
    series=series.kinked_where(lambda x, y: np.equal(x, 0) & np.equal(y, 0), moves=0),
    kernel=COMPILED,
    form=Form(sympy="Piecewise((0, Eq(x, 0)), (x*log(x/y), True))"),
)
elementwise(
    sc.kl_div,
    partials=[lambda x, y: _log_ratio(x, y), lambda x, y: where((x == 0) & (y == 0), 1.0, _share(y - x, y))],
    domain=[POSITIVE, POSITIVE],
    vertex=True,
    note="at x = 0: -inf, or 0 where the inner function has no slope; slope 1 in y at (0, 0)",
    series=series.kinked_where(lambda x, y: np.equal(x, 0) & np.equal(y, 0), moves=0),
    kernel=COMPILED,
    form=Form(sympy="y - x + Piecewise((0, Eq(x, 0)), (x*log(x/y), True))"),
)
elementwise(
    sc.xlogy,
    partials=[lambda x, y: log_unless_absent(x, np.log(y)), lambda x, y: _share(x, y)],
    domain=[REAL, POSITIVE],
    note="slope 0 in x and in y at (0, 0), and in x at (0, y) for y < 0",
    series=series.kinked_where(lambda x, y: np.equal(x, 0) & ~np.isfinite(np.log(y)), moves=0),
    kernel=Kernel("times_log log"),
    form=Form(sympy="Piecewise((0, Eq(x, 0)), (x*log(y), True))"),
)
elementwise(
    sc.xlog1py,
    partials=[lambda x, y: log_unless_absent(x, np.log1p(y)), lambda x, y: _share(x, 1.0 + y)],
    domain=[REAL, (-1.0, math.inf)],
    note="slope 0 in x and in y at (0, -1), and in x at (0, y) for y < -1",
    series=series.kinked_where(lambda x, y: np.equal(x, 0) & ~np.isfinite(np.log1p(y)), moves=0),
    kernel=Kernel("times_log log1p"),
    form=Form(sympy="Piecewise((0, Eq(x, 0)), (x*log(1 + y), True))"),
)
elementwise(
    sc.huber,
    partials=[lambda x, y: np.maximum(np.abs(y) - x, 0.0), lambda x, y: np.clip(y, -x, x)],
    domain=[POSITIVE, REAL],
    note="once differentiable at |y| = x; its second slope there is the inner one",
    kernel=COMPILED,
    form=Form(sympy="Piecewise((y**2/2, Abs(y) <= x), (x*(Abs(y) - x/2), True))"),
)
elementwise(
    sc.pseudo_huber,
    partials=[
        lambda out, x, y: out * (y / x) ** 2 / (x * _stretch(x, y) * (1.0 + _stretch(x, y))),
        lambda x, y: y / _stretch(x, y),
    ],
    domain=[POSITIVE, REAL],
    kernel=COMPILED,
    form=Form(sympy="x**2*(sqrt(1 + (y/x)**2) - 1)"),
)

constant(
    sc.gammasgn, note="piecewise constant: the derivative is 0", kernel=COMPILED, form=Form(sympy="sign(gamma(x))")
)
declare(
    "special.round",
    sc.round,
    CONSTANT,
    stacking=aligned,
    domain=(REAL,),
    note="piecewise constant: the derivative is 0",
    ufunc=sc.round,
)
