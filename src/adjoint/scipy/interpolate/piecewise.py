"""Piecewise polynomials, `PPoly` and `BPoly`: evaluated by NumPy's functions, so that all about them has a slope.

A place on a breakpoint belongs to the piece on its right, the last breakpoint to the last piece: so do slopes there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.interpolate import BPoly, PPoly

from ...core.values import dtype_of, shape_of
from ...numpy.dispatch.arguments import as_value, ndim_of
from ...numpy.dispatch.conversions import places
from ...numpy.patching.replacements import runs_through
from ..options import refuse
from ..patched_methods import at, has_traced, holds, method, plain, plainly

COEFFICIENTS = {True: ("_c", "_x"), False: ("c", "x")}
"""What the arrays are called: SciPy 1.17 hides them."""


def holder(spline: Any) -> tuple[Any, str, str]:
    """The object that holds the arrays of a piecewise polynomial, and their names there."""
    inner = getattr(spline, "_delegate_to", spline)
    return inner, *COEFFICIENTS[hasattr(inner, "_c")]


def stored(spline: Any) -> tuple[Any, Any]:
    """Coefficients and breakpoints."""
    inner, c, x = holder(spline)
    return getattr(inner, c), getattr(inner, x)


def store(spline: Any, c: Any, x: Any) -> None:
    """Give a piecewise polynomial its coefficients and breakpoints, which may be traced."""
    inner, c_name, x_name = holder(spline)
    setattr(inner, c_name, c)
    setattr(inner, x_name, x)


def like(spline: Any, c: Any, x: Any, kind: Any = None, axis: int | None = None) -> Any:
    """Another piecewise polynomial, with these coefficients and breakpoints."""
    kind = type(spline) if kind is None else kind
    axis = spline.axis if axis is None else axis
    made = kind.construct_fast(np.zeros(shape_of(c), dtype_of(c)), np.zeros(shape_of(x)), spline.extrapolate, axis)
    store(made, c, x)
    return made


def pieces(x: Any, t: Any) -> Any:
    """The piece that each place is in, for breakpoints in either order."""
    last = shape_of(x)[0] - 2
    if not holds(x[-1] >= x[0]):
        x, t = -x, -t
    return np.clip(np.searchsorted(x, t, side="right") - 1, 0, last)


def wrapped(t: Any, start: Any, end: Any) -> Any:
    """Places moved into a period, by a number of periods that is constant."""
    return start + (t - start) % (end - start)


def power_sum(c: Any, s: Any, nu: int) -> Any:
    """The nu-th derivative of the polynomials with these coefficients, highest first, summed as SciPy does."""
    order = shape_of(c)[0]
    total: Any = np.zeros(np.broadcast_shapes(shape_of(c)[1:], shape_of(s)), dtype_of(c))
    power: Any = 1.0
    for k in range(nu, order):
        factor = math.perm(k, nu)
        term = c[order - 1 - k] * power
        total = total + (term * float(factor) if factor != 1 else term)
        power = power * s
    return total


def bernstein_sum(c: Any, s: Any, width: Any, nu: int) -> Any:
    """The nu-th derivative of polynomials in the Bernstein basis."""
    for _ in range(nu):
        degree = shape_of(c)[0] - 1
        if degree == 0:
            return c[0] * 0.0 + s * 0.0
        c = (c[1:] - c[:-1]) * degree / width
    degree = shape_of(c)[0] - 1
    return sum([math.comb(degree, k) * s**k * (1.0 - s) ** (degree - k) * c[k] for k in range(degree + 1)])


def evaluate(c: Any, x: Any, t: Any, *, nu: int, extrapolate: Any, bernstein: bool = False) -> Any:
    """The nu-th derivative at places t, in a row; nan outside if nothing is extrapolated."""
    if extrapolate == "periodic":
        t, extrapolate = wrapped(t, x[0], x[-1]), False
    k = pieces(x, t)
    rest = (1,) * (ndim_of(c) - 2)
    s, picked = np.reshape(t - at(x, k), (-1, *rest)), at(c, slice(None), k)
    if bernstein:
        width = np.reshape(at(x, k + 1) - at(x, k), (-1, *rest))
        found = bernstein_sum(picked, s / width, width, nu)
    else:
        found = power_sum(picked, s, nu)
    unknown = np.isnan(t)
    if not extrapolate:
        low, high = np.minimum(x[0], x[-1]), np.maximum(x[0], x[-1])
        unknown = unknown | (t < low) | (t > high)
    return np.where(np.reshape(unknown, (-1, *rest)), np.nan, found)


def placed(found: Any, lead: tuple[int, ...], rest: tuple[int, ...], axis: int) -> Any:
    """The results in the shape of the places, which take the place of the axis that was interpolated along."""
    found = np.reshape(found, (*lead, *rest))
    if axis == 0:
        return found
    n = len(lead)
    order = [*range(n, n + axis), *range(n), *range(n + axis, n + len(rest))]
    return np.transpose(found, order)


@method(PPoly, "__call__")
def call(original: Any, self: Any, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
    """`PPoly.__call__`, of splines too."""
    c, breaks = stored(self)
    if not has_traced(c, breaks, x):
        return original(self, x, nu, extrapolate)
    t = as_value(x)
    if nu < 0:
        return original(self, plain(x), nu, extrapolate)  # SciPy's own error
    found = evaluate(
        c, breaks, np.astype(np.reshape(t, (-1,)), np.float64),
        nu=nu, extrapolate=self.extrapolate if extrapolate is None else extrapolate, bernstein=isinstance(self, BPoly),
    )  # fmt: skip
    return placed(found, shape_of(t), shape_of(c)[2:], self.axis)


if BPoly.__call__ is not PPoly.__call__:  # two classes without a common one, from SciPy 1.18 on
    method(BPoly, "__call__")(call)


@method(PPoly, "__init__")
def construct(original: Any, self: Any, c: Any, x: Any, extrapolate: Any = None, axis: int = 0) -> None:
    """`PPoly(c, x)`: SciPy checks the arguments, then traced ones take the place of the plain ones."""
    original(self, plain(c), plain(x), extrapolate, axis)
    if has_traced(c, x):
        kept, breaks = stored(self)
        c, x = as_value(c), np.astype(as_value(x), np.float64)
        c = np.moveaxis(np.moveaxis(c, axis + 1, 0), axis + 1, 0) if axis else c
        store(self, np.astype(c, dtype_of(kept)), x if has_traced(x) else breaks)


if BPoly.__init__ is not PPoly.__init__:
    method(BPoly, "__init__")(construct)


@method(PPoly, "derivative")
def derivative(original: Any, self: Any, nu: int = 1) -> Any:
    """`PPoly.derivative`."""
    c, x = stored(self)
    if not has_traced(c, x):
        return original(self, nu)
    if nu < 0:
        return antiderivative(original, self, -nu)
    order = shape_of(c)[0]
    if nu >= order:
        return like(self, c[:1] * 0.0, x)
    factors = np.array([math.perm(k, nu) for k in range(order - 1, nu - 1, -1)], float)
    return like(self, c[: order - nu] * factors[(..., *[None] * (ndim_of(c) - 1))], x)


@method(PPoly, "antiderivative")
def antiderivative(original: Any, self: Any, nu: int = 1) -> Any:
    """`PPoly.antiderivative`: continuous, and 0 at the first breakpoint."""
    c, x = stored(self)
    if not has_traced(c, x):
        return original(self, nu)
    if nu <= 0:
        return derivative(original, self, -nu)
    return raised(self, nu, integrated)


def raised(self: Any, nu: int, integrated: Any) -> Any:
    """The antiderivative of some order, by a function that integrates coefficients once."""
    c, x = stored(self)
    for _ in range(nu):
        c = integrated(c, x)
    made = like(self, c, x)
    made.extrapolate = False if self.extrapolate == "periodic" else self.extrapolate  # its integral is not periodic
    return made


def integrated(c: Any, x: Any) -> Any:
    """The coefficients of the integral from the first breakpoint on."""
    order, rest = shape_of(c)[0], [None] * (ndim_of(c) - 2)
    degrees = np.arange(order, 0, -1.0)[(..., None, *rest)]
    raised = c / degrees
    width = np.diff(x)[(..., *rest)]
    steps = power_sum(np.concatenate([raised, raised[:1] * 0.0]), width, 0)
    starts = np.concatenate([steps[:1] * 0.0, np.cumsum(steps, axis=0)[:-1]])
    return np.concatenate([raised, starts[None]])


@method(PPoly, "integrate")
def integrate(original: Any, self: Any, a: Any, b: Any, extrapolate: Any = None) -> Any:
    """`PPoly.integrate`: the difference of the antiderivative at the ends."""
    c, x = stored(self)
    if not has_traced(c, x, a, b):
        return original(self, a, b, extrapolate)
    return _integral(c, x, as_value(a), as_value(b), self.extrapolate if extrapolate is None else extrapolate)


def _integral(c: Any, x: Any, a: Any, b: Any, extrapolate: Any) -> Any:
    whole = integrated(c, x)

    def up_to(t: Any, outside: Any) -> Any:
        return np.reshape(evaluate(whole, x, np.reshape(t, (-1,)), nu=0, extrapolate=outside), shape_of(c)[2:])

    if extrapolate != "periodic":
        return up_to(b, bool(extrapolate)) - up_to(a, bool(extrapolate))
    period = x[-1] - x[0]
    turns_a, turns_b = (np.floor((t - x[0]) / period) for t in (a, b))
    part = up_to(b - turns_b * period, True) - up_to(a - turns_a * period, True)
    return part + (turns_b - turns_a) * up_to(x[-1], True)


@method(PPoly, "solve")
def solve(original: Any, self: Any, y: Any = 0.0, discontinuity: bool = True, extrapolate: Any = None) -> Any:
    """`PPoly.solve`, `PPoly.roots`: SciPy's roots, moved by steps of Newton's that give them their derivatives."""
    c, x = stored(self)
    if not has_traced(c, x, y):
        return original(self, y, discontinuity, extrapolate)
    refuse("interpolate.PPoly.solve", ndim_of(c) > 2, "several polynomials at once")
    level = as_value(y)
    copy = like(self, np.asarray(places(c)), np.asarray(places(x)))
    return _moved(c, x, original(copy, float(places(level)), discontinuity, extrapolate), level)


def _moved(c: Any, x: Any, roots: Any, level: Any) -> Any:
    """Roots with derivatives: each step of Newton's doubles the order up to which they are right."""
    scale = np.max(np.abs(plain(c)), initial=0.0) + abs(plain(level))
    for _ in range(3):
        height = evaluate(c, x, roots, nu=0, extrapolate=True) - level
        jumps = bool(np.any(np.abs(plain(height)) > 1e-6 * scale))
        refuse("interpolate.PPoly.solve", jumps, "roots where the polynomial jumps")
        roots = roots - height / evaluate(c, x, roots, nu=1, extrapolate=True)
    return roots


def checked(original: Any, self: Any, args: Any, kwargs: dict[str, Any]) -> None:
    """Let SciPy build the object from plain values, with its own checks."""
    again, words = plainly(args, kwargs)
    original(self, *again, **words)


runs_through("scipy.interpolate", "PPoly", "BPoly", note="in coefficients, breakpoints and places")
