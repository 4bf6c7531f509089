"""FITPACK's splines in two variables, and triangulated data."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from scipy.interpolate import (
    BivariateSpline,
    CloughTocher2DInterpolator,
    LinearNDInterpolator,
    NearestNDInterpolator,
    RectBivariateSpline,
    interp1d,
)

from ...core.errors import UnsupportedError, message
from ...core.values import dtype_of, shape_of
from ...numpy.dispatch.arguments import as_value, ndim_of, same_dtype
from ...numpy.dispatch.conversions import places
from ...numpy.dispatch.opaque_calls import as_constant
from ...numpy.patching.replacements import REPLACEMENTS, refuses, replaces, runs_through, set_attribute
from ..options import refuse
from ..patched_methods import at, has_traced, holds, method, plain
from .fitpack import refuse_search
from .grids import places_of, tensor_spline, tensor_sum

F = TypeVar("F", bound=Callable[..., Any])


def on_surface(tck: Any, degrees: Any, x: Any, y: Any, orders: tuple[int, int]) -> Any:
    """A surface at pairs of places in rows; outside as at the edge."""
    tx, ty, c = tck
    kx, ky = degrees
    sizes = [shape_of(t)[0] - k - 1 for t, k in ((tx, kx), (ty, ky))]
    c = np.reshape(c, sizes)
    x, y = (np.clip(v, t[k], t[n]) for v, t, k, n in ((x, tx, kx, sizes[0]), (y, ty, ky, sizes[1])))
    return tensor_sum((tx, ty), c, [kx, ky], np.stack([x, y], axis=1), list(orders), True)


@method(BivariateSpline, "__call__")
def call(original: Any, self: Any, x: Any, y: Any, dx: int = 0, dy: int = 0, grid: bool = True) -> Any:
    """`BivariateSpline.__call__`, on a grid or at pairs."""
    if not has_traced(x, y, list(self.tck[:3])):
        return original(self, x, y, dx, dy, grid)
    return _on_places(self.tck[:3], self.degrees, as_value(x), as_value(y), (dx, dy), grid)


def _on_places(tck: Any, degrees: Any, x: Any, y: Any, orders: tuple[int, int], grid: bool) -> Any:
    x, y = (same_dtype(v, np.float64) for v in (x, y))
    if grid:
        for v, name in ((x, "x"), (y, "y")):
            if not holds(np.diff(np.ravel(v)) >= 0):
                raise ValueError(f"{name} must be strictly increasing when `grid` is True")
        x, y = (np.ravel(v) for v in (x, y))
        shape: tuple[int, ...] = (shape_of(x)[0], shape_of(y)[0])
        x, y = np.broadcast_to(x[:, None], shape), np.broadcast_to(y, shape)
    else:
        x, y = np.broadcast_arrays(x, y)
        shape = shape_of(x)
    return np.reshape(on_surface(tck, degrees, np.reshape(x, (-1,)), np.reshape(y, (-1,)), orders), shape)


def _integral_or_derivative(original: Any, self: Any, *args: Any) -> Any:
    refuse("interpolate.BivariateSpline", has_traced(*args, *self.tck[:3]), "integral() or partial_derivative()")
    return original(self, *args)


method(BivariateSpline, "integral")(_integral_or_derivative)
method(BivariateSpline, "partial_derivative")(_integral_or_derivative)


@method(RectBivariateSpline, "__init__")
def construct(
    original: Any, self: Any, x: Any, y: Any, z: Any, bbox: Any = (None,) * 4, kx: int = 3, ky: int = 3, s: Any = 0,
    maxit: int = 20,
) -> None:  # fmt: skip
    """`RectBivariateSpline(x, y, z)`."""
    original(self, plain(x), plain(y), plain(z), list(bbox), kx, ky, s, maxit)
    if has_traced(x, y, z):
        refuse_search("RectBivariateSpline", s != 0 or tuple(bbox) != (None,) * 4)
        x, y = (np.astype(as_value(v), np.float64) for v in (x, y))
        spline = tensor_spline((x, y), np.astype(as_value(z), np.float64), (kx, ky))
        self.tck = (*spline._traced_knots, np.reshape(spline._c, (-1,)))


@replaces("scipy.interpolate", "bisplev", calls_back=True, note="in places and coefficients")
def bisplev(original: Any, x: Any, y: Any, tck: Any, dx: int = 0, dy: int = 0) -> Any:
    """`scipy.interpolate.bisplev`."""
    if not has_traced(x, y, list(tck[:3])):
        return original(x, y, tck, dx, dy)
    found = _on_places(
        [as_value(v) for v in tck[:3]], tck[3:], np.atleast_1d(as_value(x)), np.atleast_1d(as_value(y)), (dx, dy), True
    )
    shape = [n for v, n in zip((x, y), shape_of(found), strict=True) if ndim_of(as_value(v))]
    return np.reshape(found, shape)


FITTED = (
    "BivariateSpline", "SmoothBivariateSpline", "LSQBivariateSpline", "SmoothSphereBivariateSpline",
    "LSQSphereBivariateSpline", "RectSphereBivariateSpline",
)  # fmt: skip
runs_through("scipy.interpolate", *FITTED, note="in places; its data has to be plain")
runs_through("scipy.interpolate", "RectBivariateSpline", note="in values, nodes and places, with s=0")


# Triangulated data: which triangle a place is in is constant.


def _method_of(kind: Any, name: str) -> Callable[[F], F]:
    """Take over a method of a class that is compiled, for which there is no function to divert."""

    def register(ours: F) -> F:
        original = getattr(kind, name)

        @functools.wraps(original)
        def chosen(self: Any, *args: Any, **kwargs: Any) -> Any:
            return ours(original, self, *args, **kwargs)

        set_attribute(kind, name, chosen)
        return ours

    return register


def _decided(points: Any) -> Any:
    """Points that triangles or neighbours are found among, once: a recording holds for exactly these."""
    if isinstance(points, tuple):
        return tuple([_decided(p) for p in points])
    return np.asarray(places(as_value(points))) if has_traced(points) else points


@_method_of(LinearNDInterpolator, "__init__")
def construct_linear(
    original: Any, self: Any, points: Any, values: Any = None, fill_value: Any = np.nan, rescale: bool = False
) -> None:
    """`LinearNDInterpolator(points, values)`."""
    original(self, _decided(points), plain(values), plain(fill_value), rescale)
    if has_traced(points, values, fill_value):
        refuse("interpolate.LinearNDInterpolator", rescale, "rescale=True")
        refuse(
            "interpolate.LinearNDInterpolator", not hasattr(points, "shape") and has_traced(points), "a tuple of points"
        )
        table = np.asarray(self.points) if not has_traced(points) else as_value(points)
        vars(self)["_traced"] = (table, as_value(values), fill_value)


@_method_of(LinearNDInterpolator, "__call__")
def call_linear(original: Any, self: Any, *args: Any, **options: Any) -> Any:
    """`LinearNDInterpolator.__call__`: at an edge the slope is that of the triangle that SciPy finds there."""
    known = vars(self).get("_traced")
    if known is None and not has_traced(list(args)):
        return original(self, *args, **options)
    refuse(
        "interpolate.LinearNDInterpolator", known is None and getattr(self, "scale", None) is not None, "rescale=True"
    )
    points, values, outside = known or (np.asarray(self.points), np.asarray(self.values), self.fill_value)
    if known is None:
        values = np.reshape(values, (shape_of(points)[0], *self.values_shape))
    xi = np.astype(places_of(args if len(args) > 1 else args[0], shape_of(points)[1]), np.float64)
    tolerance = options.get("simplex_tolerance", 1.0)
    refuse("interpolate.LinearNDInterpolator", tolerance != 1.0, "simplex_tolerance=")
    return triangulated(self.tri, points, values, outside, xi)


def triangulated(tri: Any, points: Any, values: Any, outside: Any, xi: Any) -> Any:
    """The values at the corners of the triangle around each place, in its barycentric coordinates."""
    n = shape_of(points)[1]
    x = np.reshape(xi, (-1, n))
    simplex = as_constant("scipy.spatial.Delaunay.find_simplex", lambda p: tri.find_simplex(p), (x,), {})
    corners = at(np.asarray(tri.simplices), np.maximum(simplex, 0))
    vertices = at(points, corners)
    edges = np.swapaxes(vertices[:, 1:] - vertices[:, :1], 1, 2)
    shares = np.linalg.solve(edges, (x - vertices[:, 0])[..., None])[..., 0]
    shares = np.concatenate([1.0 - np.sum(shares, axis=1, keepdims=True), shares], 1)
    rest = (1,) * (ndim_of(values) - 1)
    found = np.sum(at(values, corners) * np.reshape(shares, (-1, n + 1, *rest)), axis=1)
    found = np.where(np.reshape(simplex < 0, (-1, *rest)), outside, found)
    return np.reshape(found, (*shape_of(xi)[:-1], *shape_of(values)[1:]))


@method(NearestNDInterpolator, "__init__")
def construct_nearest(
    original: Any, self: Any, x: Any, y: Any, rescale: bool = False, tree_options: Any = None
) -> None:
    """`NearestNDInterpolator(x, y)`."""
    original(self, _decided(x), plain(y), rescale, tree_options)
    if has_traced(y):
        self.values = as_value(y)


@method(NearestNDInterpolator, "__call__")
def call_nearest(original: Any, self: Any, *args: Any, **query_options: Any) -> Any:
    """`NearestNDInterpolator.__call__`: linear in the values, constant in the places."""
    if not has_traced(self.values, list(args)):
        return original(self, *args, **query_options)
    refuse("interpolate.NearestNDInterpolator", "distance_upper_bound" in query_options, "distance_upper_bound=")
    xi = places_of(args if len(args) > 1 else args[0], self.points.shape[1])
    flat = np.reshape(xi, (-1, self.points.shape[1]))

    def nearest(p: Any) -> Any:
        return self.tree.query(self._scale_x(p), **query_options)[1]

    numbers = as_constant("scipy.interpolate.NearestNDInterpolator", nearest, (flat,), {})
    found = at(self.values, numbers)
    found = found if dtype_of(found).kind == "c" else np.astype(found, np.float64)
    return np.reshape(found, (*shape_of(xi)[:-1], *shape_of(self.values)[1:]))


@replaces("scipy.interpolate", "griddata", in_parts=True, note="linear and nearest; along one axis cubic too")
def griddata(
    points: Any, values: Any, xi: Any, method: str = "linear", fill_value: Any = np.nan, rescale: bool = False,
    **options: Any,
) -> Any:  # fmt: skip
    """`scipy.interpolate.griddata`."""
    points = np.stack(np.broadcast_arrays(*points), axis=-1) if isinstance(points, tuple) else as_value(points)
    if ndim_of(points) == 1 or shape_of(points)[-1] == 1:
        outside = "extrapolate" if method == "nearest" else fill_value
        line = interp1d(np.ravel(points), values, method, 0, bounds_error=False, fill_value=outside)
        return line(xi[0] if isinstance(xi, tuple) else xi)
    refuse("interpolate.griddata", method == "cubic", "method='cubic' for scattered points; RBFInterpolator is smooth")
    if method == "nearest":
        return NearestNDInterpolator(points, values, rescale)(xi)
    return LinearNDInterpolator(points, values, fill_value, rescale)(xi, **options)


runs_through("scipy.interpolate", "LinearNDInterpolator", note="in values, points and places; triangles are constant")
runs_through("scipy.interpolate", "NearestNDInterpolator", note="in the values; constant in places")
refuses(
    "scipy.interpolate", "CloughTocher2DInterpolator", "Rbf",
    reason="its slopes and radii are found by compiled code that is not followed",
    fix="Use  RBFInterpolator,  which differentiates in values, points and places.",
)  # fmt: skip
refuses(
    "scipy.interpolate", "NdPPoly",
    reason="pieces in several variables are not followed",
    fix="Use  NdBSpline  or  RegularGridInterpolator.",
)  # fmt: skip
refuses(
    "scipy.interpolate", "interp2d",
    reason="SciPy has removed it",
    fix="Use  RectBivariateSpline  or  RegularGridInterpolator.",
)  # fmt: skip


@_method_of(CloughTocher2DInterpolator, "__init__")
@_method_of(CloughTocher2DInterpolator, "__call__")
def refuse_cubic(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    """`CloughTocher2DInterpolator`, which is compiled."""
    if has_traced(*args, kwargs):
        answer = REPLACEMENTS["scipy.interpolate"]["CloughTocher2DInterpolator"]
        raise UnsupportedError(
            message(
                f"scipy.interpolate.CloughTocher2DInterpolator is not differentiated: {answer.note}.", fix=answer.fix
            )
        )
    return original(self, *args, **kwargs)
