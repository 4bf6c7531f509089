"""FITPACK's splines: evaluated as B-splines, and fitted where the knots are not searched for."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import (
    InterpolatedUnivariateSpline,
    LSQUnivariateSpline,
    PPoly,
    UnivariateSpline,
)

from ...core.errors import UnsupportedError, message
from ...core.values import shape_of
from ...numpy.dispatch.arguments import as_value
from ...numpy.patching.replacements import refuses, replaces, runs_through
from ..options import refuse
from ..patched_methods import has_traced, holds, method, plain
from .bsplines import antidifferentiated, differentiated, evaluate, integral, spline_of, stored
from .fitting import coefficients, least_squares, make_interp_spline, not_a_knot, taken
from .piecewise import like

SEARCHED = "Use  make_smoothing_spline(x, y, lam=...),  or  make_lsq_spline  with knots of your own."


def refuse_search(name: str, asked: bool = True) -> None:
    """Refuse a fit that searches for its knots and its smoothing."""
    if asked:
        raise UnsupportedError(
            message(
                f"scipy.interpolate.{name} is not differentiated in its data with smoothing: "
                "it searches for knots and for a factor up to a tolerance.",
                fix=SEARCHED,
            )
        )


def parts(tck: Any) -> tuple[Any, Any, int]:
    """Knots, coefficients and degree of a tuple or a B-spline."""
    if hasattr(tck, "tck"):
        t, c = stored(tck)
        return t, c, tck.k
    t, c, k = tck
    return as_value(t), c if isinstance(c, (list, tuple)) else as_value(c), k


def met(tck: Any, *others: Any) -> bool:
    """Whether a traced value is in a spline or among these."""
    found = parts(tck)
    return has_traced(found[0], found[1], *others)


def at_places(tck: Any, x: Any, nu: int, ext: int) -> Any:
    """A spline at places of any shape: outside extrapolated, 0, an error, or as at the ends."""
    t, c, k = parts(tck)
    if isinstance(c, (list, tuple)):
        return [at_places((t, one, k), x, nu, ext) for one in c]
    x = as_value(x)
    row = np.astype(np.reshape(x, (-1,)), np.float64)
    first, last = t[k], t[shape_of(t)[0] - k - 1]
    outside = (row < first) | (row > last)
    if ext == 2 and not holds(~outside):
        raise ValueError("Found x value not in the domain")
    found = evaluate(t, c, k, np.clip(row, first, last) if ext == 3 else row, nu=nu)
    if ext == 1:
        found = np.where(outside, 0.0, found)
    return np.reshape(found, shape_of(x))


@replaces("scipy.interpolate", "splev", calls_back=True, note="in places, knots and coefficients")
def splev(original: Any, x: Any, tck: Any, der: int = 0, ext: int = 0) -> Any:
    """`scipy.interpolate.splev`."""
    return at_places(tck, x, der, ext) if met(tck, x) else original(x, tck, der, ext)


@replaces("scipy.interpolate", "splint", calls_back=True)
def splint(original: Any, a: Any, b: Any, tck: Any, full_output: bool = False) -> Any:
    """`scipy.interpolate.splint`."""
    if not met(tck, a, b):
        return original(a, b, tck, full_output)
    t, c, k = parts(tck)
    return integral(t, c[: shape_of(t)[0] - k - 1], k, as_value(a), as_value(b), False)


@replaces("scipy.interpolate", "spalde", calls_back=True)
def spalde(original: Any, x: Any, tck: Any) -> Any:
    """`scipy.interpolate.spalde`: all derivatives at a place, or a list of them for each place."""
    if not met(tck, x):
        return original(x, tck)
    k = parts(tck)[2]
    found = np.stack([at_places(tck, x, nu, 0) for nu in range(k + 1)], axis=-1)
    return [found[i] for i in range(shape_of(x)[0])] if shape_of(as_value(x)) else found


def _changed(original: Any, change: Any, tck: Any, n: int) -> Any:
    if not met(tck):
        return original(tck, n)
    t, c, k = change(*parts(tck), n)
    return spline_of(t, c, k, tck.extrapolate) if hasattr(tck, "tck") else (t, c, k)


@replaces("scipy.interpolate", "splder", calls_back=True)
def splder(original: Any, tck: Any, n: int = 1) -> Any:
    """`scipy.interpolate.splder`."""
    return _changed(original, differentiated if n >= 0 else antidifferentiated, tck, n)


@replaces("scipy.interpolate", "splantider", calls_back=True)
def splantider(original: Any, tck: Any, n: int = 1) -> Any:
    """`scipy.interpolate.splantider`."""
    return _changed(original, antidifferentiated, tck, n)


def fitted(x: Any, y: Any, w: Any, k: int, inner: Any = None) -> tuple[Any, Any, int]:
    """Knots, coefficients and degree of the interpolating spline, or with knots of that of least squares."""
    if inner is not None:
        x, y = np.astype(as_value(x), np.float64), as_value(y)
        t = np.concatenate([*[x[:1]] * (k + 1), as_value(inner), *[x[-1:]] * (k + 1)])
        c = least_squares(x, y, t, k, w)
    else:
        x, y = taken(x, y, 0)
        t = not_a_knot(x, k)
        c = coefficients(t, k, x, y, [], [])
    return t, np.concatenate([c, np.zeros(k + 1)]), k


@replaces("scipy.interpolate", "splrep", in_parts=True, note="interpolating (s=0), or with knots given")
def splrep(
    x: Any, y: Any, w: Any = None, xb: Any = None, xe: Any = None, k: int = 3, task: int = 0, s: Any = None,
    t: Any = None, full_output: int = 0, per: int = 0, quiet: int = 1,
) -> Any:  # fmt: skip
    """`scipy.interpolate.splrep`."""
    interpolates = (s is None and w is None) or (s is not None and s == 0)
    refuse_search("splrep", (not interpolates and t is None) or bool(per) or bool(full_output) or xb is not None)
    return fitted(x, y, w, k, t)


@replaces("scipy.interpolate", "make_splrep", in_parts=True, note="interpolating (s=0)")
def make_splrep(
    x: Any, y: Any, *, w: Any = None, xb: Any = None, xe: Any = None, k: int = 3, s: Any = 0, t: Any = None,
    nest: Any = None, **how: Any,
) -> Any:  # fmt: skip
    """`scipy.interpolate.make_splrep`."""
    refuse_search("make_splrep", s != 0 or t is not None or bool(how.get("bc_type")))
    return make_interp_spline(x, y, k)


for _name in ("splprep", "make_splprep", "bisplrep", "generate_knots"):
    refuses(
        "scipy.interpolate", _name,
        reason="it searches for knots and for a smoothing factor up to a tolerance",
        fix=SEARCHED,
    )  # fmt: skip
refuses(
    "scipy.interpolate", "sproot",
    reason="FITPACK finds the roots one by one",
    fix="Use  PPoly.from_spline(tck).roots(),  which differentiates.",
)  # fmt: skip
refuses(
    "scipy.interpolate", "insert",
    reason="FITPACK moves the coefficients in place",
    fix="Evaluate the spline, or make a new one with the knots:  make_lsq_spline.",
)  # fmt: skip


@method(PPoly, "from_spline")
def from_spline(original: Any, kind: Any, tck: Any, extrapolate: Any = None) -> Any:
    """`PPoly.from_spline`: the derivatives at each knot over factorials."""
    if not met(tck):
        return original(kind, tck, extrapolate)
    t, c, k = parts(tck)
    t = np.astype(t, np.float64)
    rows: list[Any] = []
    left, scale = t[:-1], 1.0
    for nu in range(k + 1):
        scale = scale * max(nu, 1)
        rows.insert(0, evaluate(t, c, k, left, nu=nu) / scale)
    blank = PPoly(np.zeros((k + 1, shape_of(left)[0])), np.asarray(plain(t)), extrapolate)
    return like(blank, np.stack(rows), t, kind)


@method(UnivariateSpline, "__init__")
def construct(
    original: Any, self: Any, x: Any, y: Any, w: Any = None, bbox: Any = (None, None), k: int = 3, s: Any = None,
    ext: Any = 0, check_finite: bool = False,
) -> None:  # fmt: skip
    """`UnivariateSpline(x, y, s=0)`."""
    original(self, plain(x), plain(y), plain(w), list(bbox), k, s, ext, check_finite)
    if has_traced(x, y, w):
        refuse_search("UnivariateSpline", s is None or s != 0 or tuple(bbox) != (None, None))
        self._eval_args = fitted(x, y, None, k)


@method(InterpolatedUnivariateSpline, "__init__")
def interpolated(
    original: Any, self: Any, x: Any, y: Any, w: Any = None, bbox: Any = (None, None), k: int = 3, ext: Any = 0,
    check_finite: bool = False,
) -> None:  # fmt: skip
    """`InterpolatedUnivariateSpline(x, y)`."""
    original(self, plain(x), plain(y), plain(w), list(bbox), k, ext, check_finite)
    if has_traced(x, y, w):
        refuse_search("InterpolatedUnivariateSpline", tuple(bbox) != (None, None))
        self._eval_args = fitted(x, y, None, k)


@method(LSQUnivariateSpline, "__init__")
def by_least_squares(
    original: Any, self: Any, x: Any, y: Any, t: Any, w: Any = None, bbox: Any = (None, None), k: int = 3,
    ext: Any = 0, check_finite: bool = False,
) -> None:  # fmt: skip
    """`LSQUnivariateSpline(x, y, t)`."""
    original(self, plain(x), plain(y), plain(t), plain(w), list(bbox), k, ext, check_finite)
    if has_traced(x, y, t, w):
        refuse_search("LSQUnivariateSpline", tuple(bbox) != (None, None))
        self._eval_args = fitted(x, y, w, k, t)


MODES = {"extrapolate": 0, "zeros": 1, "raise": 2, "const": 3}


@method(UnivariateSpline, "__call__")
def call(original: Any, self: Any, x: Any, nu: int = 0, ext: Any = None) -> Any:
    """`UnivariateSpline.__call__`."""
    if not met(self._eval_args, x):
        return original(self, x, nu, ext)
    ext = self.ext if ext is None else ext
    return at_places(self._eval_args, x, nu, MODES.get(ext, ext))


@method(UnivariateSpline, "integral")
def of_univariate(original: Any, self: Any, a: Any, b: Any) -> Any:
    """`UnivariateSpline.integral`."""
    return splint(None, a, b, self._eval_args) if met(self._eval_args, a, b) else original(self, a, b)


@method(UnivariateSpline, "derivatives")
def all_derivatives(original: Any, self: Any, x: Any) -> Any:
    """`UnivariateSpline.derivatives`."""
    return spalde(None, x, self._eval_args) if met(self._eval_args, x) else original(self, x)


@method(UnivariateSpline, "derivative")
def derivative(original: Any, self: Any, n: int = 1) -> Any:
    """`UnivariateSpline.derivative`."""
    if not met(self._eval_args):
        return original(self, n)
    return UnivariateSpline._from_tck(differentiated(*parts(self._eval_args), n), self.ext)


@method(UnivariateSpline, "antiderivative")
def antiderivative(original: Any, self: Any, n: int = 1) -> Any:
    """`UnivariateSpline.antiderivative`."""
    if not met(self._eval_args):
        return original(self, n)
    return UnivariateSpline._from_tck(antidifferentiated(*parts(self._eval_args), n), self.ext)


@method(UnivariateSpline, "get_coeffs")
def get_coeffs(original: Any, self: Any) -> Any:
    """`UnivariateSpline.get_coeffs`."""
    t, c, k = self._eval_args
    return c[: shape_of(t)[0] - k - 1] if met(self._eval_args) else original(self)


@method(UnivariateSpline, "get_knots")
def get_knots(original: Any, self: Any) -> Any:
    """`UnivariateSpline.get_knots`."""
    t, _, k = self._eval_args
    return t[k : shape_of(t)[0] - k] if met(self._eval_args) else original(self)


@method(UnivariateSpline, "get_residual")
def get_residual(original: Any, self: Any) -> Any:
    """`UnivariateSpline.get_residual`."""
    refuse("interpolate.UnivariateSpline.get_residual", met(self._eval_args), "traced data; the sum of squares is")
    return original(self)


@method(UnivariateSpline, "roots")
def roots(original: Any, self: Any) -> Any:
    """`UnivariateSpline.roots`: as those of its pieces."""
    if not met(self._eval_args):
        return original(self)
    return from_spline(None, PPoly, self._eval_args).roots(extrapolate=False)


runs_through("scipy.interpolate", "UnivariateSpline", note="in places; in its data with s=0")
runs_through(
    "scipy.interpolate",
    "InterpolatedUnivariateSpline",
    "LSQUnivariateSpline",
    note="in values, nodes, knots and places",
)
