"""Interpolation along one axis: `interp1d`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import interp1d

from ...core.values import dtype_of, shape_of
from ...numpy.dispatch.arguments import as_value
from ...numpy.patching.replacements import runs_through
from ..patched_methods import at, has_traced, holds, method, plain
from .fitting import make_interp_spline
from .piecewise import placed

DEGREES = {"zero": 0, "slinear": 1, "quadratic": 2, "cubic": 3}
"""Kinds that are splines."""


@method(interp1d, "__init__")
def construct(
    original: Any, self: Any, x: Any, y: Any, kind: Any = "linear", axis: int = -1, copy: bool = True,
    bounds_error: Any = None, fill_value: Any = np.nan, assume_sorted: bool = False,
) -> None:  # fmt: skip
    """`interp1d(x, y)`: SciPy checks the arguments, then traced ones take the place of the plain ones."""
    outside = tuple([plain(v) for v in fill_value]) if isinstance(fill_value, tuple) else plain(fill_value)
    original(self, plain(x), plain(y), kind, axis, copy, bounds_error, outside, assume_sorted)
    if has_traced(fill_value):
        pair = fill_value if isinstance(fill_value, tuple) else (fill_value, fill_value)
        rest = shape_of(self._fill_value_below)
        self._fill_value_below, self._fill_value_above = (np.broadcast_to(as_value(v), rest) for v in pair)
    if not has_traced(x, y):
        return
    x, y = as_value(x), np.astype(as_value(y), dtype_of(self.y))
    if not assume_sorted:
        order = np.argsort(x, kind="stable")
        x, y = at(x, order), np.moveaxis(at(np.moveaxis(y, axis, 0), order), 0, axis)
    self.x, self.y = x, y
    self._y = np.reshape(np.moveaxis(y, axis, 0), (shape_of(x)[0], -1))
    if self._kind == "spline":
        self._spline = make_interp_spline(x, self._y, k=DEGREES.get(kind, kind), check_finite=False)
    if self._extrapolate is False and self._kind in ("previous", "next") and isinstance(fill_value, str):
        ends = (np.nan, self._y[-1]) if self._kind == "previous" else (self._y[0], np.nan)
        rest = shape_of(self._fill_value_below)
        self._fill_value_below, self._fill_value_above = (v if v is np.nan else np.reshape(v, rest) for v in ends)


@method(interp1d, "__call__")
def call(original: Any, self: Any, x: Any) -> Any:
    """`interp1d.__call__`: at a knot the slope of linear pieces is the right one, as that of `np.interp`."""
    inside = [getattr(self, name, None) for name in ("x", "y", "_fill_value_below", "_fill_value_above")]
    if not isinstance(self, interp1d) or not has_traced(x, *inside):
        return original(self, x)
    t = as_value(x)
    row = np.reshape(t, (-1,))
    row = row if dtype_of(row).kind in "fc" else np.astype(row, np.float64)
    found = _outside(original, self, row, _inside(self, row))
    return placed(found, shape_of(t), self._y_extra_shape, self._y_axis if shape_of(t) else 0)


def _inside(self: Any, t: Any) -> Any:
    """What the pieces give at each place, also beyond the ends."""
    n = shape_of(self.x)[0]
    if self._kind == "spline":
        return self._spline(t)
    if self._kind == "linear":
        k = np.clip(np.searchsorted(self.x, t, side="right"), 1, n - 1)
        low, high = at(self.x, k - 1), at(self.x, k)
        share = ((t - low) / (high - low))[:, None]
        return at(self._y, k - 1) * (1.0 - share) + at(self._y, k) * share
    if self._kind in ("nearest", "nearest-up"):
        middle = self.x[1:] / 2.0 + self.x[:-1] / 2.0
        return at(self._y, np.searchsorted(middle, t, side=self._side))
    back = np.searchsorted(self.x, t, side="right" if self._kind == "previous" else "left")
    return at(self._y, np.clip(back - (self._kind == "previous"), 0, n - 1))


def _outside(original: Any, self: Any, t: Any, found: Any) -> Any:
    """The values with what is filled in beyond the ends, or SciPy's error."""
    if self._extrapolate:
        return found
    below, above = t < self.x[0], t > self.x[-1]
    if self.bounds_error and not holds(~(below | above)):
        raise ValueError("A value in x_new is outside of the interpolation range.")
    kind = dtype_of(found)
    ends = (self._fill_value_below, self._fill_value_above)
    low, high = (np.astype(np.reshape(as_value(v), (1, -1)), kind) for v in ends)
    return np.where(below[:, None], low, np.where(above[:, None], high, found))


runs_through("scipy.interpolate", "interp1d", note="in values, nodes and places")
