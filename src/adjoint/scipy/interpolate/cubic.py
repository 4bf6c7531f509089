"""Cubic interpolation: the coefficients of `CubicSpline`, `PchipInterpolator`, `Akima1DInterpolator` and Hermite's.

SciPy builds each object from plain values first, which makes its own checks; the coefficients are then found again by
NumPy's functions, with derivatives in the nodes and the values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import Akima1DInterpolator, CubicHermiteSpline, CubicSpline, PchipInterpolator

from ...core.values import dtype_of, shape_of
from ...numpy.dispatch.arguments import as_value, ndim_of
from ...numpy.patching.replacements import runs_through
from ...ops.linalg.banded import banded_solve
from ..patched_methods import has_traced, holds, method, plain
from .piecewise import checked, store


def taken(x: Any, y: Any, axis: int, *others: Any) -> tuple[Any, Any, Any]:
    """Nodes, and values along the first axis, in double precision; a recording holds for nodes in order."""
    x, y = (as_value(v) for v in (x, y))
    kind = np.result_type(np.float64, dtype_of(y), *[dtype_of(as_value(o)) for o in others])
    x, y = np.astype(x, np.float64), np.moveaxis(np.astype(y, kind), axis, 0)
    if not holds(np.all(np.diff(x) > 0)):
        raise ValueError("`x` must be strictly increasing sequence.")
    if not holds(np.all(np.isfinite(y))):
        raise ValueError("`y` must contain only finite values.")
    width = np.reshape(np.diff(x), (-1,) + (1,) * (ndim_of(y) - 1))
    return x, y, width


def hermite(y: Any, slopes: Any, width: Any) -> Any:
    """The coefficients of the cubic pieces with these values and slopes at their ends."""
    secant = np.diff(y, axis=0) / width
    bend = (slopes[:-1] + slopes[1:] - 2 * secant) / width
    return np.stack([bend / width, (secant - slopes[:-1]) / width - bend, slopes[:-1], y[:-1]])


@method(CubicHermiteSpline, "__init__")
def hermite_spline(original: Any, self: Any, x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: Any = None) -> None:
    """`CubicHermiteSpline(x, y, dydx)`."""
    checked(original, self, (x, y, dydx), {"axis": axis, "extrapolate": extrapolate})
    if has_traced(x, y, dydx):
        x, y, width = taken(x, y, axis, dydx)
        store(self, hermite(y, np.moveaxis(as_value(dydx), axis, 0), width), x)


@method(PchipInterpolator, "__init__")
def pchip(original: Any, self: Any, x: Any, y: Any, axis: int = 0, extrapolate: Any = None) -> None:
    """`PchipInterpolator(x, y)`: slopes by Fritsch and Carlson; where one is cut to 0, so is its derivative."""
    checked(original, self, (x, y), {"axis": axis, "extrapolate": extrapolate})
    if has_traced(x, y):
        x, y, width = taken(x, y, axis)
        store(self, hermite(y, pchip_slopes(y, width), width), x)


def pchip_slopes(y: Any, width: Any) -> Any:
    """Weighted harmonic means of the neighbouring secants; 0 where these do not agree in sign."""
    secant = np.diff(y, axis=0) / width
    if shape_of(y)[0] == 2:
        return np.concatenate([secant, secant])
    before, after = secant[:-1], secant[1:]
    cut = (np.sign(before) != np.sign(after)) | (before == 0) | (after == 0)
    first, second = 2 * width[1:] + width[:-1], width[1:] + 2 * width[:-1]
    mean = (first / np.where(cut, 1.0, before) + second / np.where(cut, 1.0, after)) / (first + second)
    inner = np.where(cut, 0.0, 1.0 / mean)
    ends = [_pchip_end(width[i], width[j], secant[i], secant[j]) for i, j in ((0, 1), (-1, -2))]
    return np.concatenate([ends[0][None], inner, ends[1][None]])


def _pchip_end(near: Any, far: Any, first: Any, second: Any) -> Any:
    """A one-sided estimate, bounded so that the shape is kept."""
    slope = ((2 * near + far) * first - near * second) / (near + far)
    steep = (np.sign(first) != np.sign(second)) & (np.abs(slope) > 3.0 * np.abs(first))
    return np.where(np.sign(slope) != np.sign(first), 0.0, np.where(steep, 3.0 * first, slope))


@method(Akima1DInterpolator, "__init__")
def akima(
    original: Any, self: Any, x: Any, y: Any, axis: int = 0, *, method: str = "akima", extrapolate: Any = None
) -> None:
    """`Akima1DInterpolator(x, y)`."""
    checked(original, self, (x, y), {"axis": axis, "method": method, "extrapolate": extrapolate})
    if has_traced(x, y):
        x, y, width = taken(x, y, axis)
        store(self, hermite(y, akima_slopes(y, width, method), width), x)


def akima_slopes(y: Any, width: Any, method: str) -> Any:
    """Means of the neighbouring secants, weighted by how much those further out change."""
    m = np.diff(y, axis=0) / width
    if shape_of(y)[0] == 2:
        return np.concatenate([m, m])
    left = 2.0 * m[:1] - m[1:2]
    right = 2.0 * m[-1:] - m[-2:-1]
    m = np.concatenate([2.0 * left - m[:1], left, m, right, 2.0 * right - m[-1:]])
    change = np.abs(np.diff(m, axis=0))
    if method == "makima":
        change = change + 0.5 * np.abs(m[1:] + m[:-1])
    ahead, behind = change[2:], change[:-2]
    both = ahead + behind
    known = both > 1e-9 * np.max(both, keepdims=True)
    share = np.where(known, behind, 0.0) / np.where(known, both, 1.0)
    return np.where(known, m[1:-2] + share * (m[2:-1] - m[1:-2]), 0.5 * (m[3:] + m[:-3]))


@method(CubicSpline, "__init__")
def cubic_spline(
    original: Any, self: Any, x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None
) -> None:
    """`CubicSpline(x, y)`."""
    values = [] if isinstance(bc_type, str) else [v[1] for v in bc_type if not isinstance(v, str)]
    if not has_traced(x, y, *values):
        original(self, x, y, axis, bc_type, extrapolate)
        return
    plain_bc = bc_type if not values else tuple([v if isinstance(v, str) else _plain_end(v) for v in bc_type])
    checked(original, self, (x, y), {"axis": axis, "bc_type": plain_bc, "extrapolate": extrapolate})
    x, y, width = taken(x, y, axis, *values)
    ends = [bc_type, bc_type] if isinstance(bc_type, str) else list(bc_type)
    ends = [ENDS.get(e, e) if isinstance(e, str) else (e[0], as_value(e[1])) for e in ends]
    slopes = periodic_slopes(y, width) if ends[0] == "periodic" else spline_slopes(x, y, width, ends)
    store(self, hermite(y, slopes, width), x)


ENDS: dict[str, Any] = {"clamped": (1, 0.0), "natural": (2, 0.0)}
"""Boundary conditions that are a derivative: its order, and its value."""


def _plain_end(end: Any) -> Any:
    return end[0], plain(end[1])


def spline_slopes(x: Any, y: Any, width: Any, ends: list[Any]) -> Any:
    """The slopes at the nodes that make the second derivative continuous."""
    n = shape_of(x)[0]
    secant, h = np.diff(y, axis=0) / width, np.diff(x)
    if n == 2:
        ends = [(1, secant[0]) if e == "not-a-knot" else e for e in ends]
    if n == 3 and ends == ["not-a-knot"] * 2:
        return _parabola(width, secant)
    first = _end(ends[0], h, width, secant, y, 1.0)
    last = _end(ends[1], h[::-1], width[::-1], -secant[::-1], y, -1.0)
    if n == 2:
        middle, upper, lower, right = h[:0], h[:0], h[:0], secant[:0]
    else:
        middle, upper, lower = 2 * (h[:-1] + h[1:]), h[:-1], h[1:]
        right = 3 * (width[1:] * secant[:-1] + width[:-1] * secant[1:])
    none = h[:1] * 0.0
    rows = [
        np.concatenate([none, first[1], upper]),
        np.concatenate([first[0], middle, last[0]]),
        np.concatenate([lower, last[1], none]),
    ]
    right = np.concatenate([first[2], right, -last[2]])
    found = banded_solve(np.stack(rows), np.reshape(right, (n, -1)), lower=1, upper=1)
    return np.reshape(found, shape_of(y))


def _end(end: Any, h: Any, width: Any, secant: Any, y: Any, sign: float) -> tuple[Any, Any, Any]:
    """The first equation: the coefficients of the first slope and the second, and the right-hand side.

    For the other end everything is turned round, so that slopes change their sign.
    """
    one = h[:1] * 0.0 + 1.0
    if isinstance(end, str):
        d, across = h[:1] + h[1:2], width[:1] + width[1:2]
        right = ((width[:1] + 2 * across) * width[1:2] * secant[:1] + width[:1] ** 2 * secant[1:2]) / across
        return h[1:2], d, right
    order, value = end
    value = np.broadcast_to(value, shape_of(y)[1:])[None]
    if order == 1:
        return one, one * 0.0, sign * value
    return 2 * h[:1], h[:1], -0.5 * value * width[:1] ** 2 + 3 * secant[:1] * width[:1]


def _parabola(width: Any, secant: Any) -> Any:
    """The slopes of the parabola through three points."""
    middle = (width[1] * secant[0] + width[0] * secant[1]) / (width[0] + width[1])
    return np.stack([2 * secant[0] - middle, middle, 2 * secant[1] - middle])


def periodic_slopes(y: Any, width: Any) -> Any:
    """The slopes of a periodic spline: one more unknown than a band has, which is eliminated first."""
    n = shape_of(y)[0]
    secant = np.diff(y, axis=0) / width
    if n == 2:
        return np.concatenate([secant, secant])
    if n == 3:
        mean = np.sum(secant / width, axis=0) / np.sum(1.0 / width, axis=0)
        return np.broadcast_to(mean, shape_of(y))
    h = np.reshape(width, (-1,))
    before = np.concatenate([h[-1:], h[:-1]])
    diagonal, upper, lower = 2 * (before + h), before, h  # of the n - 1 equations; the neighbours of the ends wrap
    previous_width, previous = np.roll(width, 1, axis=0), np.roll(secant, 1, axis=0)
    right = np.reshape(3 * (width * previous + previous_width * secant), (n - 1, -1))
    none = h[:1] * 0.0
    inner = np.stack(
        [
            np.concatenate([none, upper[: n - 3]]),
            diagonal[: n - 2],
            np.concatenate([lower[1 : n - 2], none]),
        ]
    )
    corner = np.concatenate([-lower[:1], h[: n - 4] * 0.0, -upper[n - 3 : n - 2]])
    both = np.concatenate([right[:-1], corner[:, None]], 1)
    found = banded_solve(inner, both, lower=1, upper=1)
    given, turn = found[:, :-1], found[:, -1:]
    below, beside = upper[n - 2], lower[n - 2]
    last = (right[-1] - beside * given[-1] - below * given[0]) / (diagonal[n - 2] + below * turn[0] + beside * turn[-1])
    slopes = given + turn * last
    whole = np.concatenate([slopes, last[None], slopes[:1]])
    return np.reshape(whole, shape_of(y))


runs_through(
    "scipy.interpolate", "CubicSpline", "CubicHermiteSpline", "Akima1DInterpolator", "PchipInterpolator",
    "pchip_interpolate", note="in values, nodes and places",
)  # fmt: skip
