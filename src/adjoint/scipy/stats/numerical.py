"""What SciPy finds numerically, as steps with rules: integrals of a density, roots of a distribution function, draws.

With F(x, p) the distribution function of parameters p, and f its density:

    d cdf = f dx + (dF/dp) dp,    d ppf = (dq - (dF/dp) dp) / f,    d rvs = -(dF/dp) dp / f.

The values are SciPy's own. dF/dp is a derivative of SciPy's formula of F, or where SciPy integrates, the integral of
df/dp over the smaller tail, by the double exponential rule (about 10 digits for the densities of SciPy's).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.primitive import Primitive
from ...core.traced import LOCAL
from ...ops.shape import stopped
from ...rules.opaque import Opaque
from ...rules.stacking import aligned
from ...transforms.jvp import jvp


class Quadrature(NamedTuple):
    """Where an integrand is looked at, and the weights: from 0 to infinity, and from 0 to 1 with all digits near 0."""

    tail: tuple[Any, Any]
    piece: tuple[Any, Any]


def _places(step: float) -> Quadrature:
    """The double exponential rule: its digits double when its step is halved."""
    t = np.arange(-4.5, 4.5 + 2 * step, step)
    far = np.exp(1.2 * np.sinh(t))
    u = np.arange(-3.5, 3.5 + step, step)
    inner = 0.5 * np.pi * np.sinh(u)
    near = 1.0 / (1.0 + np.exp(2.0 * inner))
    return Quadrature(
        (far, step * far * 1.2 * np.cosh(t)), (near, step * 0.25 * np.pi * np.cosh(u) / np.cosh(inner) ** 2)
    )


PLACES = _places(1 / 16)
FINE = _places(1 / 64)
"""For numbers of a whole distribution, of which parts cancel, and whose mass may be spread over many decades."""


def step(name: str, value: Callable[..., Any], tangent: Callable[..., Any]) -> Primitive:
    """A step of each element: its value by plain code, its tangent by `tangent(tangents, out, args)`."""

    def evaluate(*args: Any) -> Any:
        depth, LOCAL.depth = LOCAL.depth, 0  # inside it nothing is traced
        try:
            wide = np.broadcast_arrays(*[np.asarray(a, float) for a in args])
            with np.errstate(all="ignore"):
                found = value(*[np.atleast_1d(a) for a in wide])
            return np.asarray(found, float).reshape(wide[0].shape)[()]
        finally:
            LOCAL.depth = depth

    def push(tangents: Sequence[Any], out: Any, args: Sequence[Any], params: Any) -> Any:
        return tangent(tangents, out, args)

    return Primitive(name, evaluate, derivative=Opaque(jvp=push), stacking=aligned)


def along(function: Callable[..., Any], args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The derivative of a function in those of its arguments that move; 0 if none does."""
    moving = [k for k, t in enumerate(tangents) if t is not None]
    if not moving:
        return 0.0

    def moved(*values: Any) -> Any:
        full = list(args)
        for k, v in zip(moving, values, strict=True):
            full[k] = v
        return function(*full)

    given = [np.asarray(args[k]) * np.float64(1.0) for k in moving]
    pushed = [np.broadcast_to(tangents[k], np.shape(g)) for k, g in zip(moving, given, strict=True)]
    return jvp(moved, tuple(given), tuple(pushed))[1]


def distribution_slope(dist: Any, x: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """dF at a place that stays, along tangents of the shapes."""
    return along(lambda *shapes: dist._cdf(x, *shapes), args, tangents)


def integrated(dist: Any, original: Callable[..., Any], upper: bool = False) -> Primitive:
    """The distribution function of a distribution that has a density alone."""
    sign = -1.0 if upper else 1.0

    def tangent(tangents: Sequence[Any], out: Any, args: Sequence[Any]) -> Any:
        x, *shapes = args
        found: Any = 0.0
        if tangents[0] is not None:
            found = sign * dist._pdf(x, *shapes) * tangents[0]
        below = np.less(out, 0.5) if not upper else np.greater_equal(out, 0.5)
        return found + sign * along(lambda *p: signed_tail(dist, x, p, stopped(below)), shapes, tangents[1:])

    return step(f"{dist.name}.{'sf' if upper else 'cdf'}", original, tangent)


def signed_tail(dist: Any, x: Any, shapes: Sequence[Any], below: Any) -> Any:
    """The integral of the density up to x, or minus that from x on."""
    low, high = dist._get_support(*shapes)
    start, end = np.where(below, low, x), np.where(below, x, high)
    return np.where(below, 1.0, -1.0) * integral(lambda t, *p: dist._pdf(t, *p), start, end, shapes)


def integral(
    function: Callable[..., Any], low: Any, high: Any, shapes: Sequence[Any], width: Any = 1.0, at: Quadrature = PLACES
) -> Any:
    """The integral of a function of each element; one of its ends may be infinite, and its mass about a width away."""
    wide = [np.expand_dims(s, -1) for s in shapes]
    width = np.expand_dims(width, -1)
    low, high = np.expand_dims(low, -1), np.expand_dims(high, -1)
    left, right = np.isinf(low), np.isinf(high)
    total: Any = 0.0
    if np.any(left | right):
        end = np.where(left, high, np.where(right, low, 0.0))
        places = end + np.where(left, -width, width) * at.tail[0]
        total = _summed(function, places, width * at.tail[1], end, wide)
    if not np.all(left | right):
        start, end = np.where(left | right, 0.0, low), np.where(left | right, 1.0, high)
        half = 0.5 * (end - start)
        ends = (start + half * at.piece[0], end - half * at.piece[0])
        parts = [_summed(function, places, at.piece[1], start + half, wide) for places in ends]
        total = np.where((left | right)[..., 0], total, (parts[0] + parts[1]) * half[..., 0])
    return total


def _summed(function: Callable[..., Any], places: Any, weights: Any, inside: Any, shapes: Sequence[Any]) -> Any:
    """The weighted sum without terms that add nothing: far out, and at the ends, the formula may overflow."""
    with np.errstate(all="ignore"):
        seen = np.abs(stopped(function(stopped(places), *[stopped(s) for s in shapes]))) * weights
        seen = np.where(np.isfinite(seen), seen, 0.0)
        counts = (seen > NOTHING * np.max(seen, axis=-1, keepdims=True)) & np.not_equal(places, inside)
        terms = np.where(counts, function(np.where(counts, places, stopped(inside)), *shapes), 0.0)
        return np.sum(terms * weights, axis=-1)


NOTHING = 1e-30
"""Terms that are smaller than the largest one by this are left out."""


def solved(dist: Any, original: Callable[..., Any], upper: bool = False) -> Primitive:
    """The quantile function, the inverse of the distribution function or of the survival function."""
    sign = -1.0 if upper else 1.0

    def tangent(tangents: Sequence[Any], out: Any, args: Sequence[Any]) -> Any:
        _, *shapes = args
        rise = 0.0 if tangents[0] is None else sign * tangents[0]
        return (rise - distribution_slope(dist, out, shapes, tangents[1:])) / dist._pdf(out, *shapes)

    return step(f"{dist.name}.{'isf' if upper else 'ppf'}", original, tangent)


KINKS: dict[str, Callable[..., Any]] = {"crystalball": lambda beta, m: -beta, "skewcauchy": lambda a: 0.0 * a}
"""Where the density of a distribution has a kink, at which its integral is split."""


def whole(dist: Any, name: str, original: Callable[..., Any], integrand: Callable[..., Any]) -> Primitive:
    """A number of a distribution that is an integral over its support, split at the median."""

    def total(*shapes: Any) -> Any:
        size = np.broadcast_shapes(*[np.shape(s) for s in shapes])
        kink = KINKS.get(dist.name)
        half = np.full(size, 0.5)
        middle = kink(*shapes) + 0.0 * half if kink else stopped(dist._ppf(half, *[stopped(s) for s in shapes]))
        low, high = (-np.pi, np.pi) if dist.name == "vonmises" else dist._get_support(*shapes)
        low, high = low + 0.0 * middle, high + 0.0 * middle
        left, right = [_width(dist, level, middle, shapes) for level in (half - REACH, half + REACH)]
        below = integral(integrand, low, middle, shapes, left, FINE)
        return below + integral(integrand, middle, high, shapes, right, FINE)

    def tangent(tangents: Sequence[Any], out: Any, args: Sequence[Any]) -> Any:
        return along(total, args, tangents)

    return step(f"{dist.name}.{name}", original, tangent)


REACH = 0.4
"""Of the mass, how much is between the median and a place that is taken for the width of a distribution on its side."""


def _width(dist: Any, level: Any, middle: Any, shapes: Sequence[Any]) -> Any:
    """How far most of the mass on one side of the middle is from it; 1 where that is no number."""
    away = np.abs(stopped(dist._ppf(level, *[stopped(s) for s in shapes])) - stopped(middle))
    return np.where(np.isfinite(away) & (away > 0.0), away, 1.0)
