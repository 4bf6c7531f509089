"""Spherical Bessel functions. SciPy has them as plain functions; their slopes have no division by the argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import scipy.special as sc

from ...core.entry.facts import Form
from ...core.primitive import Primitive
from ...rules.elementwise import Elementwise
from ...rules.stacking import aligned
from ..declare import POSITIVE, WholeNumbers, declare, where


def _spherical(function: Callable[..., Any], below: float, above: float, sympy: str = "") -> Primitive:
    """The slope is (below * n * f(n-1) + above * (n+1) * f(n+1)) / (2n+1)."""

    def slope(n: Any, z: Any) -> Any:
        lower = where(n == 0, 0, n - 1)
        return (below * n * primitive(lower, z) + above * (n + 1) * primitive(n + 1, z)) / (2 * n + 1)

    primitive = declare(
        function.__name__,
        function,
        Elementwise([None, lambda x, y: slope(x, y)]),
        stacking=aligned,
        domain=(WholeNumbers((0, 3)), POSITIVE),
        form=Form(source=f"scipy.special.{function.__name__}({{all}})", sympy=sympy),
    )
    return primitive


spherical_jn = _spherical(sc.spherical_jn, 1.0, -1.0, sympy="jn")
spherical_yn = _spherical(sc.spherical_yn, 1.0, -1.0, sympy="yn")
spherical_in = _spherical(sc.spherical_in, 1.0, 1.0)
spherical_kn = _spherical(sc.spherical_kn, -1.0, -1.0)
