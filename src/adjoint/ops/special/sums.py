"""What SciPy has as plain functions: Lambert's W, harmonics, and the top that softmax subtracts."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sc

from ...core.entry.facts import Form
from ...rules.elementwise import Elementwise
from ...rules.stacking import aligned
from ..declare import CONSTANT, POSITIVE, REAL, WholeNumbers, declare, where


def _sph_harm_y_slope(n: Any, m: Any, theta: Any, phi: Any) -> Any:
    """The slope in theta, from the neighbours in m; it has no pole at theta = 0.

    SciPy's functions are even in theta, as they use the size of sin(theta), so their slope changes its sign.
    """
    up, down = (n - m) * (n + m + 1), (n + m) * (n - m + 1)
    above = sph_harm_y(n, where(up > 0, m + 1, m), theta, phi)
    below = sph_harm_y(n, where(down > 0, m - 1, m), theta, phi)
    turn = np.exp(1j * phi)
    half = where(np.sin(theta) < 0, -0.5, 0.5)
    return half * (np.sqrt(1.0 * up) * above / turn - np.sqrt(1.0 * down) * below * turn)


peak = declare(
    "peak",
    lambda x, *, axis: np.max(x, axis=axis, keepdims=True),
    CONSTANT,
    note="what is subtracted before exp, so it does not matter: a constant",
    form=Form(source="np.max({0}, axis={axis}, keepdims=True)", sympy="x"),
)
lambertw = declare(
    "lambertw",
    sc.lambertw,
    Elementwise([lambda out: np.exp(-out) / (1.0 + out), None, None]),
    stacking=aligned,
    domain=(POSITIVE, WholeNumbers((0, 1)), (1e-9, 1e-8)),
    form=Form(source="scipy.special.lambertw({all})", sympy="LambertW(x, y)"),
)
sph_harm_y = declare(
    "sph_harm_y",
    lambda n, m, theta, phi: sc.sph_harm_y(n, m, theta, phi),
    Elementwise([None, None, lambda x, y, z, w: _sph_harm_y_slope(x, y, z, w), lambda out, y: 1j * y * out]),
    stacking=aligned,
    domain=(WholeNumbers((2, 4)), WholeNumbers((-2, 2)), (0.0, 3.0), REAL),
    form=Form(source="scipy.special.sph_harm_y({all})"),
)
