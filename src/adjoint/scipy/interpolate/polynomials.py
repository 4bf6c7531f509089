"""Polynomials through points: barycentric, Krogh's, Lagrange's, and Padé's approximants."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import BarycentricInterpolator, KroghInterpolator

from ...core.values import dtype_of, shape_of
from ...numpy.dispatch.arguments import as_value
from ...numpy.patching.replacements import refuses, replaces, runs_through
from ...ops.barycentric import barycentric, slopes_of
from ..options import refuse
from ..patched_methods import has_traced, holds, method, plain
from .piecewise import placed


def _store(self: Any, xi: Any, yi: Any, axis: int) -> None:
    """Give an interpolator traced nodes and values; values along the first axis, in columns."""
    self.xi = np.astype(as_value(xi), np.float64)
    if yi is not None:
        yi = as_value(yi)
        moved = np.moveaxis(np.astype(yi, np.result_type(dtype_of(yi), np.float64)), axis, 0)
        self.yi = np.reshape(moved, (shape_of(yi)[axis], -1))
    for name in ("c", "wi"):  # plain, so that who reads them would lose derivatives
        if hasattr(self, name):
            delattr(self, name)


@method(KroghInterpolator, "__init__")
def krogh(original: Any, self: Any, xi: Any, yi: Any, axis: int = 0) -> None:
    """`KroghInterpolator(xi, yi)`."""
    original(self, plain(xi), plain(yi), axis)
    if has_traced(xi, yi):
        _store(self, xi, yi, axis)
        x = self.xi
        same = np.equal(x[:, None], x) & ~np.eye(shape_of(x)[0], dtype=bool)
        refuse("interpolate.KroghInterpolator", not holds(~same), "repeated nodes")


@method(BarycentricInterpolator, "__init__")
def construct(
    original: Any, self: Any, xi: Any, yi: Any = None, axis: int = 0, *, wi: Any = None, rng: Any = None, **old: Any
) -> None:
    """`BarycentricInterpolator(xi, yi)`."""
    seed = np.random.default_rng(0) if rng is None and not old else rng  # the order in which weights are multiplied
    original(self, plain(xi), plain(yi), axis, wi=plain(wi), rng=seed, **old)
    if has_traced(xi, yi):
        refuse("interpolate.BarycentricInterpolator", wi is not None, "wi=")
        _store(self, xi, yi, axis)


@method(BarycentricInterpolator, "set_yi")
def set_yi(original: Any, self: Any, yi: Any, axis: Any = None) -> None:
    """`BarycentricInterpolator.set_yi`."""
    original(self, plain(yi), axis)
    if has_traced(yi):
        _store(self, self.xi, yi, self._y_axis)


def _values(self: Any, x: Any, order: int) -> Any:
    """The derivative of some order at places in a row."""
    y = self.yi
    for _ in range(order):
        y = slopes_of(self.xi) @ y
    return barycentric(np.astype(np.reshape(x, (-1,)), np.float64), self.xi, y)


def _is_met(self: Any, x: Any) -> bool:
    return isinstance(self, (KroghInterpolator, BarycentricInterpolator)) and has_traced(x, self.xi, self.yi)


def _at(self: Any, x: Any, order: int) -> Any:
    _check(self)
    x = as_value(x)
    return placed(_values(self, x, order), shape_of(x), self._y_extra_shape, self._y_axis if shape_of(x) else 0)


def _check(self: Any) -> None:
    nodes = np.asarray(plain(self.xi))
    refuse(f"interpolate.{type(self).__name__}", len(np.unique(nodes)) != len(nodes), "repeated nodes")


@method(KroghInterpolator, "__call__")
@method(BarycentricInterpolator, "__call__")
def call(original: Any, self: Any, x: Any) -> Any:
    """`BarycentricInterpolator.__call__`, and that of Krogh's, which other classes inherit too."""
    return _at(self, x, 0) if _is_met(self, x) else original(self, x)


@method(KroghInterpolator, "derivative")
@method(BarycentricInterpolator, "derivative")
def derivative(original: Any, self: Any, x: Any, der: int = 1) -> Any:
    """`KroghInterpolator.derivative`, `BarycentricInterpolator.derivative`."""
    return _at(self, x, der) if _is_met(self, x) else original(self, x, der)


@method(KroghInterpolator, "derivatives")
def derivatives(original: Any, self: Any, x: Any, der: Any = None) -> Any:
    """`KroghInterpolator.derivatives`, `BarycentricInterpolator.derivatives`."""
    if not _is_met(self, x):
        return original(self, x, der)
    return np.stack([_at(self, x, k) for k in range(self.n if der is None else der)])


runs_through("scipy.interpolate", "KroghInterpolator", "BarycentricInterpolator", note="in values, nodes and places")
runs_through("scipy.interpolate", "krogh_interpolate", "barycentric_interpolate", note="in values, nodes and places")


def polynomial(c: Any) -> Any:
    """`np.poly1d` with these coefficients, all of them: one that is 0 may move."""
    found = np.poly1d(np.zeros(1))
    vars(found)["coeffs"] = c
    return found


@replaces("scipy.interpolate", "lagrange", in_parts=True)
def lagrange(x: Any, w: Any) -> Any:
    """`scipy.interpolate.lagrange`."""
    x, w = as_value(x), as_value(w)
    total: Any = 0.0
    for j in range(shape_of(x)[0]):
        term: Any = w[j][None] * 1.0
        for k in range(shape_of(x)[0]):
            if k != j:
                apart = x[j] - x[k]
                none = np.zeros(1)
                term = (np.concatenate([term, none]) - x[k] * np.concatenate([none, term])) / apart
        total = total + term
    return polynomial(total)


@replaces("scipy.interpolate", "pade", in_parts=True)
def pade(an: Any, m: int, n: Any = None) -> Any:
    """`scipy.interpolate.pade`."""
    an = as_value(an) * 1.0
    if n is None:
        n = shape_of(an)[0] - 1 - m
    size = m + n
    an = an[: size + 1]
    padded = np.concatenate([an, np.zeros(1, dtype_of(an))])
    places = np.arange(size + 1)[:, None] - 1 - np.arange(m)
    below = -padded[np.where(places >= 0, places, size + 1)]
    found = np.linalg.solve(np.concatenate([np.eye(size + 1, n + 1, dtype=dtype_of(an)), below], 1), an)
    return polynomial(found[: n + 1][::-1]), polynomial(
        np.concatenate([np.ones(1, dtype_of(an)), found[n + 1 :]])[::-1]
    )


refuses(
    "scipy.interpolate", "approximate_taylor_polynomial",
    reason="it approximates derivatives that are there exactly",
    fix="Use  ad.taylor(f, x, degree).",
)  # fmt: skip
refuses(
    "scipy.interpolate", "AAA", "FloaterHormannInterpolator",
    reason="the poles and support points of its rational function are not followed",
    fix="Use  BarycentricInterpolator  or  CubicSpline.",
)  # fmt: skip
