"""Interpolation on rectangular grids: `RegularGridInterpolator`, `interpn`, `NdBSpline`.

A place on a line of the grid belongs to the cell above it, the last line to the last cell: so do slopes there.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy.interpolate import NdBSpline, RegularGridInterpolator

from ...core.values import dtype_of, shape_of
from ...numpy.dispatch.arguments import as_value, ndim_of
from ...numpy.dispatch.opaque_calls import as_constant
from ...numpy.patching.replacements import Answer, divert, replaces, runs_through
from ..patched_methods import at, has_traced, holds, method, plain
from .bsplines import basis, interval
from .cubic import hermite, pchip_slopes
from .fitting import coefficients, not_a_knot
from .piecewise import pieces, power_sum

DEGREES = {"slinear": 1, "cubic": 3, "quintic": 5, "slinear_legacy": 1, "cubic_legacy": 3, "quintic_legacy": 5}
"""Methods that are tensor products of splines."""


def places_of(xi: Any, ndim: int) -> Any:
    """Places as an array whose last axis is that of the coordinates."""
    if isinstance(xi, tuple) and len(xi) == 1:
        xi = xi[0]
    if isinstance(xi, tuple):
        return np.stack(np.broadcast_arrays(*[as_value(x) for x in xi]), axis=-1)
    xi = as_value(xi)
    return np.reshape(xi, (-1, ndim)) if ndim_of(xi) <= 1 else xi


@method(RegularGridInterpolator, "__init__")
def construct(
    original: Any, self: Any, points: Any, values: Any, method: str = "linear", bounds_error: bool = True,
    fill_value: Any = np.nan, *, solver: Any = None, solver_args: Any = None,
) -> None:  # fmt: skip
    """`RegularGridInterpolator(points, values)`: SciPy checks the arguments, traced ones take their place."""
    again = tuple([plain(p) for p in points])
    original(
        self, again, plain(values), method, bounds_error, plain(fill_value), solver=solver, solver_args=solver_args
    )
    if has_traced(fill_value):
        self.fill_value = fill_value
    if not has_traced(list(points), values):
        return
    turned = self._descending_dimensions
    grid = [np.astype(as_value(p), np.float64) for p in points]
    self._grid = tuple([p[::-1] if d in turned else p for d, p in enumerate(grid)])
    for p in self._grid:
        if not holds(np.diff(p) > 0):
            raise ValueError("The points must be strictly ascending or descending")
    values = np.astype(as_value(values), dtype_of(self._values))
    self._values = np.flip(values, turned) if turned else values
    if method in self._SPLINE_METHODS_ndbspl:
        self._spline = tensor_spline(self._grid, self._values, DEGREES[method], self, solver, solver_args)


def tensor_spline(
    grid: Any, values: Any, degree: Any, self: Any = None, solver: Any = None, solver_args: Any = None
) -> Any:
    """The tensor product of splines through the values, axis by axis.

    SciPy's iterative solvers stop at a tolerance; the numbers are theirs, the derivatives those of the solution.
    """
    c, knots = values, []
    degrees = degree if isinstance(degree, tuple) else (degree,) * len(grid)
    for axis, (x, k) in enumerate(zip(grid, degrees, strict=True)):
        t = not_a_knot(x, k) if k > 1 else np.concatenate([x[:1], x, x[-1:]])
        knots.append(t)
        if k > 1:
            c = np.moveaxis(coefficients(t, k, x, np.moveaxis(c, axis, 0), [], []), 0, axis)
    if degrees[0] > 1 and self is not None and getattr(solver, "__name__", "") != "spsolve":

        def difference(exact: Any, table: Any, *lines: Any) -> Any:
            how = {} if solver is None else {"solver": solver}
            plain_object = RegularGridInterpolator(
                lines, table, _method_of(degrees[0]), solver_args=solver_args or None, **how
            )
            return plain_object._spline._c - exact

        c = c + as_constant("scipy.interpolate.RegularGridInterpolator", difference, (c, values, *grid), {})
    made = NdBSpline(tuple([plain(t) for t in knots]), np.zeros(shape_of(c), dtype_of(c)), degrees)
    made._c, made._traced_knots = c, tuple(knots)
    return made


def _method_of(k: int) -> str:
    return {1: "slinear", 3: "cubic", 5: "quintic"}[k]


@method(NdBSpline, "__init__")
def construct_spline(original: Any, self: Any, t: Any, c: Any, k: Any, *, extrapolate: Any = None) -> None:
    """`NdBSpline(t, c, k)`."""
    original(self, tuple([plain(knots) for knots in t]), plain(c), k, extrapolate=extrapolate)
    if has_traced(list(t), c):
        self._traced_knots = tuple([np.astype(as_value(knots), np.float64) for knots in t])
        self._c = np.astype(as_value(c), dtype_of(self._c))


def _knots(original: Any, self: Any) -> Any:
    """`NdBSpline.t`: the knots that were given, not their plain values."""
    known = getattr(self, "_traced_knots", None)
    return original(self) if known is None else known


divert(NdBSpline.t.fget, Answer(ours=_knots, calls_back=True), "scipy NdBSpline.t")


@method(NdBSpline, "__call__")
def call_spline(original: Any, self: Any, xi: Any, *, nu: Any = None, extrapolate: Any = None) -> Any:
    """`NdBSpline.__call__`."""
    known = getattr(self, "_traced_knots", None)
    if known is None and not has_traced(xi, self._c):
        return original(self, xi, nu=nu, extrapolate=extrapolate)
    knots = tuple([np.asarray(t) for t in self.t]) if known is None else known
    xi = np.astype(as_value(xi), np.float64)
    extrapolate = self.extrapolate if extrapolate is None else bool(extrapolate)
    orders = [0] * len(knots) if nu is None else [int(n) for n in nu]
    found = tensor_sum(knots, self._c, [int(k) for k in self.k], np.reshape(xi, (-1, len(knots))), orders, extrapolate)
    return np.reshape(found, (*shape_of(xi)[:-1], *shape_of(self._c)[len(knots) :]))


def tensor_sum(knots: Any, c: Any, degrees: list[int], x: Any, orders: list[int], extrapolate: bool) -> Any:
    """A tensor product of splines at places x, a row for each: one axis of coefficients after the other is summed."""
    count = len(knots)
    windows, weights, unknown = [], [], np.any(np.isnan(x), axis=-1)
    for d, (t, k) in enumerate(zip(knots, degrees, strict=True)):
        left = interval(t, k, x[:, d])
        lead = [1] * count
        lead[d] = k + 1
        windows.append(np.reshape(left[:, None] + np.arange(-k, 1), (-1, *lead)))
        weights.append(np.stack(basis(t, k, x[:, d], left, orders[d]), axis=1))
        if not extrapolate:
            unknown = unknown | (x[:, d] < t[k]) | (x[:, d] > t[shape_of(t)[0] - k - 1])
    found = at(c, *windows) if count > 1 else at(c, windows[0])
    for weight in weights:
        rest = (1,) * (ndim_of(found) - 2)
        found = np.sum(found * np.reshape(weight, (*shape_of(weight), *rest)), axis=1)
    return np.where(np.reshape(unknown, (-1, *[1] * (ndim_of(found) - 1))), np.nan, found)


@method(RegularGridInterpolator, "__call__")
def call(original: Any, self: Any, xi: Any, method: Any = None, *, nu: Any = None) -> Any:
    """`RegularGridInterpolator.__call__`."""
    if not has_traced(xi, self._values, list(self._grid), self.fill_value):
        return original(self, xi, method, nu=nu)
    method = self.method if method is None else method
    if method not in self._ALL_METHODS or (nu is not None and method not in self._SPLINE_METHODS_ndbspl):
        return original(self, plain(xi), method, nu=nu)  # SciPy's own error
    count = len(self._grid)
    xi = np.astype(places_of(xi, count), np.float64)
    x = np.reshape(xi, (-1, count))
    beyond: Any = False
    for d, p in enumerate(self._grid):
        beyond = beyond | (x[:, d] < p[0]) | (x[:, d] > p[-1])
    if self.bounds_error and not holds(~beyond):
        raise ValueError("One of the requested xi is out of bounds")
    found = _found(self, x, method, nu)
    rest = shape_of(self._values)[count:]
    extra = (1,) * len(rest)
    if not self.bounds_error and self.fill_value is not None:
        found = np.where(np.reshape(beyond, (-1, *extra)), self.fill_value, found)
    found = np.where(np.reshape(np.any(np.isnan(x), axis=-1), (-1, *extra)), np.nan, found)
    return np.reshape(found, (*shape_of(xi)[:-1], *rest))


def _found(self: Any, x: Any, method: str, nu: Any) -> Any:
    if method in ("linear", "nearest"):
        return (linear if method == "linear" else nearest)(self._grid, self._values, x)
    if method == "pchip":
        return np.astype(monotone(self._grid, self._values, x), dtype_of(self._values))
    spline = self._spline
    if spline is None or self.method != method:
        spline = tensor_spline(self._grid, self._values, DEGREES[method])
    found = spline(x, nu=nu)
    return np.astype(found, dtype_of(self._values)) if method.endswith("legacy") else found


def cells(grid: Any, x: Any) -> tuple[list[Any], list[Any]]:
    """For each axis the cell of every place, and how far it is in it, as a part of its length."""
    numbers, shares = [], []
    for d, p in enumerate(grid):
        if shape_of(p)[0] == 1:
            numbers.append(np.zeros(shape_of(x)[0], int))
            shares.append(x[:, d] * 0.0)
            continue
        k = pieces(p, x[:, d])
        low = at(p, k)
        numbers.append(k)
        shares.append((x[:, d] - low) / (at(p, k + 1) - low))
    return numbers, shares


def linear(grid: Any, values: Any, x: Any) -> Any:
    """The mean of the corners of a cell, weighted linearly along each axis."""
    numbers, shares = cells(grid, x)
    extra = (1,) * (ndim_of(values) - len(grid))
    total: Any = 0.0
    for corner in itertools.product((0, 1), repeat=len(grid)):
        if any([up and shape_of(p)[0] == 1 for up, p in zip(corner, grid, strict=True)]):
            continue
        weight: Any = 1.0
        for up, share in zip(corner, shares, strict=True):
            weight = weight * (share if up else 1.0 - share)
        picked = at(values, *[k + up for k, up in zip(numbers, corner, strict=True)])
        total = total + picked * np.reshape(weight, (-1, *extra))
    return total


def nearest(grid: Any, values: Any, x: Any) -> Any:
    """The value at the nearest corner: constant in the places."""
    numbers, shares = cells(grid, x)
    return at(values, *[np.where(s <= 0.5, k, k + 1) for k, s in zip(numbers, shares, strict=True)])


def monotone(grid: Any, values: Any, x: Any) -> Any:
    """Monotone cubics along one axis after the other, the last one first, for every place by itself."""
    count = len(grid)
    axes = [*range(count - 1, -1, -1), *range(count, ndim_of(values))]
    table = np.transpose(values, axes)[:, None]  # the axis that is next, the places, the others
    table = np.broadcast_to(table, (shape_of(table)[0], shape_of(x)[0], *shape_of(table)[2:]))
    rows = np.arange(shape_of(x)[0])
    for d in range(count - 1, -1, -1):
        p, t = grid[d], x[:, d]
        width = np.reshape(np.diff(p), (-1,) + (1,) * (ndim_of(table) - 1))
        c = hermite(table, pchip_slopes(table, width), width)
        k = pieces(p, t)
        s = np.reshape(t - at(p, k), (-1,) + (1,) * (ndim_of(table) - 2))
        table = power_sum(at(c, slice(None), k, rows), s, 0)
        if d:
            table = np.swapaxes(table, 0, 1)
    return table


@replaces("scipy.interpolate", "interpn", in_parts=True, note="all methods but splinef2d")
def interpn(
    points: Any, values: Any, xi: Any, method: str = "linear", bounds_error: bool = True, fill_value: Any = np.nan
) -> Any:
    """`scipy.interpolate.interpn`."""
    if method == "splinef2d":
        from scipy.interpolate import RectBivariateSpline

        xi = places_of(xi, 2)
        found = RectBivariateSpline(points[0], points[1], values).ev(xi[..., 0], xi[..., 1])
        inside: Any = True
        for d in (0, 1):
            inside = inside & (xi[..., d] >= points[d][0]) & (xi[..., d] <= points[d][-1])
        if bounds_error and not holds(inside):
            raise ValueError("One of the requested xi is out of bounds")
        return np.astype(np.where(inside, found, fill_value), dtype_of(xi))
    return RegularGridInterpolator(points, values, method, bounds_error, fill_value)(xi)


runs_through("scipy.interpolate", "RegularGridInterpolator", "NdBSpline", note="in values, nodes and places")
