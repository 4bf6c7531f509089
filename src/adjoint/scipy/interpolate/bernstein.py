"""Piecewise polynomials in Bernstein's basis: what `BPoly` does besides being evaluated."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import BPoly, PPoly

from ...core.values import shape_of
from ...numpy.dispatch.arguments import as_value, ndim_of
from ..options import refuse
from ..patched_methods import has_traced, method
from .piecewise import evaluate, like, raised, stored


def _widths(c: Any, x: Any) -> Any:
    """The lengths of the pieces, to divide or multiply the coefficients of one power by."""
    return np.diff(x)[(..., *[None] * (ndim_of(c) - 2))]


@method(BPoly, "derivative")
def derivative(original: Any, self: Any, nu: int = 1) -> Any:
    """`BPoly.derivative`: differences of the coefficients."""
    c, x = stored(self)
    if not has_traced(c, x):
        return original(self, nu)
    if nu < 0:
        return antiderivative(original, self, -nu)
    for _ in range(nu):
        degree = shape_of(c)[0] - 1
        c = (c[1:] - c[:-1]) * degree / _widths(c, x) if degree else c * 0.0
    return like(self, c, x)


@method(BPoly, "antiderivative")
def antiderivative(original: Any, self: Any, nu: int = 1) -> Any:
    """`BPoly.antiderivative`: continuous, and 0 at the first breakpoint."""
    c, x = stored(self)
    if not has_traced(c, x):
        return original(self, nu)
    if nu <= 0:
        return derivative(original, self, -nu)
    return raised(self, nu, _integrated)


def _integrated(c: Any, x: Any) -> Any:
    """The coefficients of the integral from the first breakpoint on."""
    raised = np.cumsum(c * _widths(c, x) / shape_of(c)[0], axis=0)
    raised = np.concatenate([raised[:1] * 0.0, raised])
    ends = np.cumsum(raised[-1], axis=0)
    return raised + np.concatenate([ends[:1] * 0.0, ends[:-1]])


@method(BPoly, "integrate")
def integrate(original: Any, self: Any, a: Any, b: Any, extrapolate: Any = None) -> Any:
    """`BPoly.integrate`: the difference of the antiderivative at the ends."""
    c, x = stored(self)
    if not has_traced(c, x, a, b):
        return original(self, a, b, extrapolate)
    outside = self.extrapolate if extrapolate is None else extrapolate
    refuse("interpolate.BPoly.integrate", outside == "periodic", "extrapolate='periodic'")
    whole = _integrated(c, x)
    ends = [
        evaluate(whole, x, np.reshape(as_value(t), (-1,)), nu=0, extrapolate=outside, bernstein=True)[0] for t in (b, a)
    ]
    return ends[0] - ends[1]


@method(BPoly, "from_derivatives")
def from_derivatives(original: Any, kind: Any, xi: Any, yi: Any, orders: Any = None, extrapolate: Any = None) -> Any:
    """`BPoly.from_derivatives`."""
    refuse("interpolate.BPoly.from_derivatives", has_traced(xi, yi), "traced data; CubicHermiteSpline is")
    return original(kind, xi, yi, orders, extrapolate)


def _extend(original: Any, self: Any, c: Any, x: Any) -> Any:
    refuse("interpolate.PPoly.extend", has_traced(c, x, *stored(self)), "traced pieces; joined coefficients are")
    return original(self, c, x)


method(PPoly, "extend")(_extend)
