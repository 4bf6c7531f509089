"""B-splines by the recurrence of Cox and de Boor, with derivatives in places, coefficients and knots.

A place on a knot belongs to the interval on its right, the end of the spline to the last interval: so do slopes there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import BSpline

from ...core.traced import CONSTANTS, Traced
from ...core.values import dtype_of, shape_of
from ...numpy.dispatch.arguments import as_value, ndim_of
from ...numpy.patching.replacements import runs_through
from ..patched_methods import at, has_traced, holds, method, plain
from .piecewise import placed, wrapped


def holder(spline: Any) -> tuple[Any, str, str]:
    """The object that holds the arrays of a B-spline, and their names there."""
    inner = getattr(spline, "_delegate_to", spline)
    return (inner, "_t", "_c") if hasattr(inner, "_c") else (inner, "t", "c")


def stored(spline: Any) -> tuple[Any, Any]:
    """Knots and coefficients."""
    inner, t, c = holder(spline)
    return getattr(inner, t), getattr(inner, c)


def spline_of(t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0, kind: Any = BSpline) -> Any:
    """A B-spline with these knots and coefficients, which may be traced."""
    blank = np.zeros(shape_of(c), np.result_type(dtype_of(c), np.float64))
    made = kind.construct_fast(np.zeros(shape_of(t)), blank, k, extrapolate, axis)
    inner, t_name, c_name = holder(made)
    setattr(inner, t_name, t)
    setattr(inner, c_name, c)
    return made


def interval(t: Any, k: int, x: Any) -> Any:
    """The number of the knot before each place, among those that the spline is defined between."""
    last = shape_of(t)[0] - k - 2
    return np.clip(np.searchsorted(t, x, side="right") - 1, k, last)


def basis(t: Any, k: int, x: Any, left: Any, nu: int = 0) -> list[Any]:
    """The nu-th derivatives of the k + 1 basis functions that are not 0 between knots `left` and `left + 1`."""
    if nu > k:
        return [x * 0.0] * (k + 1)
    found: list[Any] = [x * 0.0 + 1.0]
    for degree in range(1, k + 1):
        raised: list[Any] = [x * 0.0] * (degree + 1)
        for n in range(1, degree + 1):
            start, end = at(t, left + (n - degree)), at(t, left + n)
            empty = start == end
            share = np.where(empty, 0.0, found[n - 1]) / np.where(empty, 1.0, end - start)
            if degree > k - nu:
                raised[n - 1], raised[n] = raised[n - 1] - degree * share, degree * share
            else:
                raised[n - 1], raised[n] = raised[n - 1] + share * (end - x), share * (x - start)
        found = raised
    return found


def evaluate(t: Any, c: Any, k: int, x: Any, *, nu: int = 0, extrapolate: Any = True) -> Any:
    """The nu-th derivative of a spline at places x, in a row; nan outside if nothing is extrapolated."""
    n = shape_of(t)[0] - k - 1
    if extrapolate == "periodic":
        x, extrapolate = wrapped(x, t[k], t[n]), False
    left = interval(t, k, x)
    rest = (1,) * (ndim_of(c) - 1)
    parts = basis(t, k, x, left, nu)
    found = sum([np.reshape(b, (-1, *rest)) * at(c, left + (a - k)) for a, b in enumerate(parts)])
    unknown = np.isnan(x)
    if not extrapolate:
        unknown = unknown | (x < t[k]) | (x > t[n])
    return np.where(np.reshape(unknown, (-1, *rest)), np.nan, found)


@method(BSpline, "__init__")
def construct(original: Any, self: Any, t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> None:
    """`BSpline(t, c, k)`: SciPy checks the arguments, then traced ones take the place of the plain ones."""
    original(self, plain(t), plain(c), k, extrapolate, axis)
    if has_traced(t, c):
        inner, t_name, c_name = holder(self)
        t, c = np.astype(as_value(t), np.float64), as_value(c)
        in_order(t)
        setattr(inner, t_name, t)
        setattr(inner, c_name, np.moveaxis(np.astype(c, dtype_of(getattr(inner, c_name))), self.axis, 0))


def in_order(t: Any) -> None:
    """Let a recording hold for knots in order only."""
    if not holds(np.all(np.diff(t) >= 0)):
        raise ValueError("Knots must be in a non-decreasing order.")


@method(BSpline, "__call__")
def call(original: Any, self: Any, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
    """`BSpline.__call__`."""
    t, c = stored(self)
    if not has_traced(t, c, x) or nu < 0:
        return original(self, x, nu, extrapolate)
    x = as_value(x)
    extrapolate = self.extrapolate if extrapolate is None else extrapolate
    row = np.astype(np.reshape(x, (-1,)), np.float64)
    return placed(evaluate(t, c, self.k, row, nu=nu, extrapolate=extrapolate), shape_of(x), shape_of(c)[1:], self.axis)


def differentiated(t: Any, c: Any, k: int, n: int) -> tuple[Any, Any, int]:
    """Knots, coefficients and degree of a derivative; as many coefficients as knots, as FITPACK has them."""
    c = padded(t, c)
    for _ in range(n):
        width = (t[k + 1 : -1] - t[1 : -k - 1])[(..., *[None] * (ndim_of(c) - 1))]
        c = (c[1 : -1 - k] - c[: -2 - k]) * k / width
        c = np.concatenate([c, np.zeros((k, *shape_of(c)[1:]))])
        t, k = t[1:-1], k - 1
    return t, c, k


def antidifferentiated(t: Any, c: Any, k: int, n: int) -> tuple[Any, Any, int]:
    """Knots, coefficients and degree of an integral that starts at 0."""
    c = padded(t, c)
    for _ in range(n):
        width = (t[k + 1 :] - t[: -k - 1])[(..., *[None] * (ndim_of(c) - 1))]
        c = np.cumsum(c[: -k - 1] * width, axis=0) / (k + 1)
        c = np.concatenate([np.zeros((1, *shape_of(c)[1:])), c, *[c[-1:]] * (k + 2)])
        t, k = np.concatenate([t[:1], t, t[-1:]]), k + 1
    return t, c, k


def padded(t: Any, c: Any) -> Any:
    """Coefficients, as many as there are knots: those behind the last basis function are 0."""
    missing = shape_of(t)[0] - shape_of(c)[0]
    return np.concatenate([c, np.zeros((missing, *shape_of(c)[1:]))]) if missing > 0 else c


@method(BSpline, "derivative")
def derivative(original: Any, self: Any, nu: int = 1) -> Any:
    """`BSpline.derivative`."""
    t, c = stored(self)
    if not has_traced(t, c):
        return original(self, nu)
    change = differentiated if nu >= 0 else antidifferentiated
    return spline_of(*change(t, c, self.k, abs(nu)), self.extrapolate, self.axis)


@method(BSpline, "antiderivative")
def antiderivative(original: Any, self: Any, nu: int = 1) -> Any:
    """`BSpline.antiderivative`."""
    t, c = stored(self)
    if not has_traced(t, c):
        return original(self, nu)
    extrapolate = False if self.extrapolate == "periodic" else self.extrapolate
    return spline_of(*antidifferentiated(t, c, self.k, nu), extrapolate, self.axis)


@method(BSpline, "integrate")
def integrate(original: Any, self: Any, a: Any, b: Any, extrapolate: Any = None) -> Any:
    """`BSpline.integrate`: the difference of the antiderivative at the ends."""
    t, c = stored(self)
    if not has_traced(t, c, a, b):
        return original(self, a, b, extrapolate)
    extrapolate = self.extrapolate if extrapolate is None else extrapolate
    return integral(t, c, self.k, as_value(a), as_value(b), extrapolate)


def integral(t: Any, c: Any, k: int, a: Any, b: Any, extrapolate: Any) -> Any:
    """The integral of a spline between two places."""
    whole = antidifferentiated(t, c, k, 1)
    first, last = t[k], t[shape_of(t)[0] - k - 1]

    def up_to(x: Any) -> Any:
        return np.reshape(evaluate(*whole, np.reshape(x, (-1,))), shape_of(c)[1:])

    if extrapolate != "periodic":
        if not extrapolate:
            a, b = (np.clip(x, first, last) for x in (a, b))
        return up_to(b) - up_to(a)
    period = last - first
    turns_a, turns_b = (np.floor((x - first) / period) for x in (a, b))
    part = up_to(b - turns_b * period) - up_to(a - turns_a * period)
    return part + (turns_b - turns_a) * (up_to(last) - up_to(first))


def collocation(t: Any, k: int, x: Any, nu: int = 0) -> Any:
    """The matrix whose rows are the basis functions at each place."""
    n, m = shape_of(t)[0] - k - 1, shape_of(x)[0]
    left = interval(t, k, x)
    matrix = Traced(np.zeros((m, n)), CONSTANTS, None)
    rows = np.arange(m)
    for a, values in enumerate(basis(t, k, x, left, nu)):
        matrix[rows, left + (a - k)] = values
    return matrix


@method(BSpline, "design_matrix")
def design_matrix(original: Any, kind: Any, x: Any, t: Any, k: int, extrapolate: Any = False) -> Any:
    """`BSpline.design_matrix`: a sparse matrix with traced elements."""
    if not has_traced(x, t):
        return original(kind, x, t, k, extrapolate)
    from scipy.sparse import csr_array

    from ..sparse.matrices import joined, made

    x, t = (np.astype(as_value(v), np.float64) for v in (x, t))
    n, m = shape_of(t)[0] - k - 1, shape_of(x)[0]
    if extrapolate == "periodic":
        x = wrapped(x, t[k], t[n])
    elif not extrapolate and not holds((x >= t[k]) & (x <= t[n])):
        return original(kind, plain(x), plain(t), k, extrapolate)  # SciPy's own error
    left = interval(t, k, x)
    columns = np.reshape(left[:, None] + np.arange(-k, 1), (-1,))
    values = np.reshape(np.stack(basis(t, k, x, left), axis=1), (-1,))
    return made(*joined(np.repeat(np.arange(m), k + 1), columns, values, (m, n)), csr_array)


runs_through("scipy.interpolate", "BSpline", note="in coefficients, knots and places")
