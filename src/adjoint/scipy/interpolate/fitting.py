"""B-splines through data: interpolating, least squares, smoothing."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import make_interp_spline as scipys_interpolation

from ...core.traced import CONSTANTS, Traced
from ...core.values import dtype_of, shape_of
from ...numpy.dispatch.arguments import as_value, ndim_of
from ...numpy.patching.replacements import replaces
from ...ops.linalg.banded import banded_solve
from ..options import refuse
from ..patched_methods import holds, plain
from .bsplines import basis, collocation, in_order, interval, spline_of

ENDS = {"natural": [(2, 0.0)], "clamped": [(1, 0.0)]}
"""Boundary conditions that are a derivative: its order, and its value."""


def taken(x: Any, y: Any, axis: int) -> tuple[Any, Any]:
    """Places, and values along the first axis, in double precision; a recording holds for places in order."""
    x, y = as_value(x), as_value(y)
    y = np.moveaxis(np.astype(y, np.result_type(np.float64, dtype_of(y))), axis, 0)
    x = np.astype(x, np.float64)
    if not holds(np.all(np.diff(x) > 0)):
        raise ValueError("Expect x to be a 1D strictly increasing sequence.")
    return x, y


@replaces("scipy.interpolate", "make_interp_spline", in_parts=True, note="in the values, the places and the knots")
def make_interp_spline(
    x: Any, y: Any, k: int = 3, t: Any = None, bc_type: Any = None, axis: int = 0, check_finite: bool = True
) -> Any:
    """`scipy.interpolate.make_interp_spline`."""
    ends = _ends(bc_type)
    plain_ends = bc_type if isinstance(bc_type, str) or bc_type is None else _plain_ends(bc_type)
    scipys_interpolation(plain(x), plain(y), k, plain(t), plain_ends, axis, check_finite)  # its own checks
    axis = axis % ndim_of(as_value(y))
    x, y = taken(x, y, axis)
    if k == 0:
        return spline_of(np.concatenate([x, x[-1:]]), y, 0, axis=axis)
    if k == 1 and t is None:
        return spline_of(np.concatenate([x[:1], x, x[-1:]]), y, 1, axis=axis)
    if bc_type == "periodic":
        t = periodic_knots(x, k)
        return spline_of(t, periodic_coefficients(t, k, x, y), k, "periodic", axis)
    if t is None:
        t = not_a_knot(x, k) if ends == ([], []) else np.concatenate([*[x[:1]] * k, x, *[x[-1:]] * k])
    t = np.astype(as_value(t), np.float64)
    in_order(t)
    return spline_of(t, coefficients(t, k, x, y, *ends), k, axis=axis)


def _ends(bc_type: Any) -> tuple[Any, Any]:
    """The derivatives that are given at each end: pairs of order and value."""
    if bc_type is None or bc_type in ("not-a-knot", "periodic"):
        return [], []
    pair = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    first, last = [ENDS[e] if isinstance(e, str) and e in ENDS else [] if e is None or isinstance(e, str) else list(e)
                   for e in pair]  # fmt: skip
    return first, last


def _plain_ends(bc_type: Any) -> Any:
    return tuple([
        e if e is None or isinstance(e, str) else [(order, plain(value)) for order, value in e] for e in bc_type
    ])  # fmt: skip


def not_a_knot(x: Any, k: int) -> Any:
    """Knots of which the first and the last inner ones are left out."""
    half = (k + 1) // 2 if k % 2 else k // 2
    inner = x if k % 2 else (x[1:] + x[:-1]) / 2
    return np.concatenate([*[x[:1]] * (k + 1), inner[half:-half], *[x[-1:]] * (k + 1)])


def periodic_knots(x: Any, k: int) -> Any:
    """Knots on a circle."""
    if k % 2 == 0:
        x = np.concatenate([x[:1], x[1:-1] - np.diff(x)[:-1] / 2, x[-1:]])
    n, width = shape_of(x)[0], np.diff(x)
    before, after = [x[:1]], [x[-1:]]
    for i in range(k):
        before.insert(0, before[0] - width[n - 2 - i % (n - 1)])
        after.append(after[-1] + width[i % (n - 1)])
    return np.concatenate([*before[:-1], x, *after[1:]])


def periodic_coefficients(t: Any, k: int, x: Any, y: Any) -> Any:
    """Continuity of k - 1 derivatives where the ends meet, and the values."""
    n = shape_of(x)[0]
    both = np.concatenate([x[:1], x[-1:]])
    rows = [collocation(t, k, both, nu) for nu in range(1, k)]
    equal = [(r[0] - r[1])[None] for r in rows]
    matrix = np.concatenate([*equal, collocation(t, k, x)])
    right = np.concatenate([np.zeros((k - 1, *shape_of(y)[1:])), y])
    found = np.linalg.solve(matrix, np.reshape(right, (n + k - 1, -1)))
    return np.reshape(found, (n + k - 1, *shape_of(y)[1:]))


def coefficients(t: Any, k: int, x: Any, y: Any, first: Any, last: Any) -> Any:
    """Of the spline with these values and these derivatives at the ends: a banded system."""
    count = shape_of(t)[0] - k - 1
    places = [x[:1]] * len(first) + [x] + [x[-1:]] * len(last)
    orders = [order for order, _ in first] + [0] + [order for order, _ in last]
    band = Traced(np.zeros((2 * k + 1, count)), CONSTANTS, None)
    row = 0
    for where, nu in zip(places, orders, strict=True):
        left = interval(t, k, where)
        rows = row + np.arange(shape_of(where)[0])
        for a, values in enumerate(basis(t, k, where, left, nu)):
            column = left + (a - k)
            band[k + rows - column, column] = values
        row += shape_of(where)[0]
    rest = shape_of(y)[1:]
    given = [[np.broadcast_to(as_value(v), rest)[None] for _, v in end] for end in (first, last)]
    right = np.reshape(np.concatenate([*given[0], y, *given[1]]), (count, -1))
    return np.reshape(banded_solve(band, right, lower=k, upper=k), (count, *rest))


@replaces("scipy.interpolate", "make_lsq_spline", in_parts=True, note="in values, places, knots and weights")
def make_lsq_spline(
    x: Any, y: Any, t: Any, k: int = 3, w: Any = None, axis: int = 0, check_finite: bool = True, *, method: str = "qr"
) -> Any:
    """`scipy.interpolate.make_lsq_spline`."""
    axis = axis % ndim_of(as_value(y))
    x, y = as_value(x), np.moveaxis(as_value(y), axis, 0)
    t = np.astype(as_value(t), np.float64)
    in_order(t)
    x = np.astype(x, np.float64)
    if not holds(np.diff(x) >= 0):
        raise ValueError("Expect x to be a 1D non-decreasing sequence.")
    if k > 0 and not holds((x >= t[k]) & (x <= t[-k])):
        raise ValueError(f"Out of bounds w/ x = {plain(x)}.")
    return spline_of(t, least_squares(x, y, t, k, w), k, axis=axis)


def least_squares(x: Any, y: Any, t: Any, k: int, w: Any = None) -> Any:
    """The coefficients with the smallest weighted squares, by normal equations that are refined once."""
    weights = np.ones(shape_of(x)) if w is None else as_value(w)
    matrix = collocation(t, k, x) * weights[:, None]
    right = np.reshape(y, (shape_of(x)[0], -1)) * weights[:, None]
    square = np.transpose(matrix) @ matrix
    found = np.linalg.solve(square, np.transpose(matrix) @ right)
    found = found + np.linalg.solve(square, np.transpose(matrix) @ (right - matrix @ found))
    return np.reshape(found, (-1, *shape_of(y)[1:]))


@replaces("scipy.interpolate", "make_smoothing_spline", in_parts=True, note="with `lam` given")
def make_smoothing_spline(x: Any, y: Any, w: Any = None, lam: Any = None, *, axis: int = 0) -> Any:
    """`scipy.interpolate.make_smoothing_spline`: a natural spline, by the equations of Reinsch."""
    refuse("interpolate.make_smoothing_spline", lam is None, "lam=None, a search for the best one")
    axis = axis % ndim_of(as_value(y))
    x, y = taken(x, y, axis)
    weights = np.ones(shape_of(x)) if w is None else as_value(w)
    flat = np.reshape(y, (shape_of(x)[0], -1))
    h = np.diff(x)
    smooth = flat - _second_transposed(_bends(h, flat, weights, lam), h) * (lam / weights)[:, None]
    smooth = np.reshape(smooth, shape_of(y))
    t = np.concatenate([*[x[:1]] * 3, x, *[x[-1:]] * 3])
    return spline_of(t, coefficients(t, 3, x, smooth, [(2, 0.0)], [(2, 0.0)]), 3, axis=axis)


def _bends(h: Any, y: Any, weights: Any, lam: Any) -> Any:
    """The second derivatives at the inner nodes: (R + lam Q^T W^-1 Q) g = Q^T y, with five diagonals."""
    before, after = 1.0 / h[:-1], 1.0 / h[1:]
    centre = -(before + after)
    v = lam / weights
    right = np.diff(np.diff(y, axis=0) / h[:, None], axis=0)
    main = (h[:-1] + h[1:]) / 3 + before**2 * v[:-2] + centre**2 * v[1:-1] + after**2 * v[2:]
    side = h[1:-1] / 6 + centre[:-1] * before[1:] * v[1:-2] + after[:-1] * centre[1:] * v[2:-1]
    far = after[:-2] * before[2:] * v[2:-2]
    gap = h[:1] * 0.0
    band = np.stack([
        np.concatenate([gap, gap, far]), np.concatenate([gap, side]), main,
        np.concatenate([side, gap]), np.concatenate([far, gap, gap]),
    ])  # fmt: skip
    return banded_solve(band, right, lower=2, upper=2)


def _second_transposed(g: Any, h: Any) -> Any:
    """The transpose of taking second differences."""
    none = np.zeros((1, shape_of(g)[1]))
    slope = np.concatenate([none, g, none])
    steps = np.diff(slope, axis=0) / h[:, None]
    return np.diff(np.concatenate([none, steps, none]), axis=0)
