"""The compiled functions of `scipy.signal`, made of primitives."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from ...core.values import dtype_of, shape_of
from ...ops.signal.filters import convolved, recursive
from ..extension import extended

BOUNDARIES = {0: "constant", 4: "symmetric", 8: "wrap"}
"""SciPy's numbers for what is beyond the edges of an image, and what `np.pad` calls it."""


def correlate(x: Any, y: Any, out: Any, mode: int) -> Any:
    """`_correlateND`: x with the conjugate of y; 0 is valid, 1 same, 2 full.

    Unless it is valid, x has zeros behind, as many as the result of the full correlation is longer.
    """
    kernel = np.conjugate(y)[(slice(None, None, -1),) * len(shape_of(y))]
    if mode == 0:
        return convolved(x, kernel, mode="valid")
    x = x[tuple([slice(n - k + 1) for n, k in zip(shape_of(x), shape_of(y), strict=True)])]
    whole = convolved(x, kernel, mode="full")
    firsts = [(have - n) // 2 for have, n in zip(shape_of(whole), shape_of(out), strict=True)]
    return whole[tuple([slice(first, first + n) for first, n in zip(firsts, shape_of(out), strict=True)])]


def convolve_images(x: Any, y: Any, flip: int, mode: int, boundary: int, value: Any) -> Any:
    """`_convolve2d`: a convolution, or without flip a correlation, of images that go on beyond their edges."""
    kernel = y if flip else y[::-1, ::-1]
    sizes = shape_of(y)
    dtype = np.result_type(dtype_of(x), dtype_of(y))
    x, kernel = np.astype(x, dtype), np.astype(kernel, dtype)
    for axis, size in enumerate(sizes):
        before = {0: 0, 1: size - 1 - (size - 1) // 2, 2: size - 1}[mode]
        if mode == 1:
            before = size // 2 if flip else (size - 1) // 2
        after = {0: 0, 1: size - 1 - before, 2: size - 1}[mode]
        x = extended(x, axis, before, after, BOUNDARIES[boundary], value)
    return convolved(x, kernel, mode="valid")


def linear_filter(b: Any, a: Any, x: Any, axis: int = -1, zi: Any = None) -> Any:
    """`_linear_filter`: a * y = b * x + zi, where the state adds to the first samples; with it, the last state too.

    What is left of both sides beyond the last sample is the state there.
    """
    given = [np.asarray(v) for v in (b, a, x, *(() if zi is None else (zi,)))]
    dtype = np.result_type(*[dtype_of(v) for v in given])
    b, a, x = (np.astype(v, dtype) for v in given[:3])
    if len(shape_of(x)) == 0:
        raise ValueError("x must be at least 1-D")
    if not a[0] != 0:
        raise ValueError("The first element of the denominator, a[0], must not be zero.")
    b, a = b / a[0], a / a[0]
    x = np.moveaxis(x, axis, -1)
    order, n = max(len(a), len(b)) - 1, shape_of(x)[-1]
    row = (1,) * (len(shape_of(x)) - 1) + (-1,)
    whole = _longer(convolved(x, np.reshape(b, row), mode="full"), n + order)
    if zi is not None:
        state = np.moveaxis(np.astype(given[3], dtype), axis, -1)
        state = np.broadcast_to(state, (*shape_of(x)[:-1], order))
        whole = whole + _longer(state, n + order)
    y = recursive(whole[..., :n], a) if len(a) > 1 else whole[..., :n]
    found = np.moveaxis(y, -1, axis)
    if zi is None:
        return found
    rest = whole[..., n:]
    if len(a) > 1:
        rest = rest - _longer(convolved(y, np.reshape(a, row), mode="full"), n + order)[..., n:]
    return found, np.moveaxis(rest, -1, axis)


def _longer(x: Any, n: int) -> Any:
    """With zeros behind, up to n elements along the last axis, or cut there."""
    return extended(x, -1, 0, n - shape_of(x)[-1], "constant")[..., :n]


def filter_sections(sos: Any, x: Any, zi: Any) -> None:
    """`_sosfilt`: each row of x through one section after the other, in place; `zi` gets the states at the end."""
    signal, states = x + 0.0, []
    for k in range(shape_of(sos)[0]):
        signal, state = linear_filter(sos[k, :3], sos[k, 3:], signal, -1, zi[:, k])
        states.append(state)
    x[...] = signal
    zi[...] = np.stack(states, 1)


def upfirdn(h: Any, x: Any, up: int = 1, down: int = 1, axis: int = -1, mode: str = "constant", cval: Any = 0) -> Any:
    """`scipy.signal.upfirdn`: result m is the sum over j of h[p + j up] x[k - j], where m down = k up + p."""
    h, x = np.asarray(h), np.asarray(x)
    if len(shape_of(h)) != 1 or shape_of(h)[0] == 0:
        raise ValueError("h must be 1-D with non-zero length")
    up, down = int(up), int(down)
    if up < 1 or down < 1:
        raise ValueError("Both up and down must be >= 1")
    dtype = np.result_type(dtype_of(h), dtype_of(x), np.float32)
    h, x = np.astype(h, dtype), np.moveaxis(np.astype(x, dtype), axis, -1)
    n, taps = shape_of(x)[-1], -(-shape_of(h)[0] // up)
    count = ((n - 1) * up + shape_of(h)[0] - 1) // down + 1
    k, p = np.divmod(np.arange(count) * down, up)
    x = _beyond(x, taps - 1, int(max(k[-1] - n + 1, 0)), mode.lower(), cval)
    j = np.arange(taps)
    kernel = _longer(h, taps * up)[p[:, None] + j * up]
    found = np.sum(kernel * x[..., (k[:, None] - j) + taps - 1], -1)
    return np.moveaxis(found, -1, axis)


PADS = {"wrap": "wrap", "edge": "edge", "symmetric": "symmetric", "reflect": "reflect"}


def _beyond(x: Any, before: int, after: int, mode: str, value: Any) -> Any:
    """A signal that goes on beyond its ends, as `upfirdn` says."""
    n = shape_of(x)[-1]
    if mode == "constant" or mode in PADS:
        return extended(x, -1, before, after, PADS.get(mode, mode), value)
    place = np.arange(-before, n + after)
    kind = np.finfo(dtype_of(x)).dtype
    first, last = np.minimum(place, 0).astype(kind), np.maximum(place - n + 1, 0).astype(kind)
    inside = np.take(x, np.clip(place, 0, n - 1), -1)
    if mode == "smooth":
        return inside + first * (x[..., 1:2] - x[..., :1]) + last * (x[..., -1:] - x[..., -2:-1])
    if mode == "line":
        return inside + (first + last) * ((x[..., -1:] - x[..., :1]) / (n - 1))
    half = mode == "antisymmetric"
    if not half and mode != "antireflect":
        raise ValueError(f"Unknown mode: {mode}")
    period, folded = np.divmod(place, n if half else n - 1)
    turned = (period % 2).astype(bool)
    source = np.where(turned, (n - 1) - folded, folded)
    found = np.take(x, source, -1) * np.where(turned, -1.0, 1.0).astype(kind)
    if half:
        return found
    # odd around each end: every turn adds twice the end that it turns around
    rise = x[..., -1:] - x[..., :1]
    period = period.astype(kind)
    shift = np.where(turned, (period + 1) * rise + 2 * x[..., :1], period * rise)
    return found + shift


def median_of_images(image: Any, sizes: Any) -> Any:
    """`_medfilt2d`: zeros are beyond the edges."""
    from ..ndimage.leaves import ranked

    footprint = np.ones(tuple(int(n) for n in sizes), bool)
    return ranked(image, footprint, footprint.size // 2, "constant", 0.0, (0, 0))


sigtools = SimpleNamespace(
    _correlateND=correlate, _convolve2d=convolve_images, _linear_filter=linear_filter, _medfilt2d=median_of_images
)
"""`scipy.signal._sigtools`."""


def spline_at(order: int) -> Any:
    """`cspline1d_eval`, `qspline1d_eval`: a spline, mirrored at its ends, of given coefficients."""
    from ..ndimage.splines import NEAREST, placed

    def evaluate(cj: Any, newx: Any, dx: Any = 1.0, x0: Any = 0) -> Any:
        cj, c = np.asarray(cj), (np.asarray(newx) - x0) / dx
        if shape_of(cj)[0] == 0:
            raise ValueError("Spline coefficients 'cj' must not be empty.")
        last = shape_of(cj)[0] - 1
        if last > 0:  # mirrored at the ends, beyond which the last coefficients count on
            turn = np.floor(c / (2 * last))
            c = c - turn * (2 * last)
            c = np.where(c > last, 2 * last - c, c)
        at, weights, _ = placed(c, last + 1, order, NEAREST)
        return np.astype(np.sum(cj[at] * weights, 0), dtype_of(cj) if order == 3 else dtype_of(c))

    return evaluate


class Points:
    """`cKDTree`, as far as it finds the points near one: for a few of them, each is asked."""

    def __init__(self, points: Any) -> None:
        self.points = points

    def query_ball_point(self, point: Any, r: float) -> list[int]:
        """Which points are at most so far away."""
        far = np.sqrt(np.sum((self.points - point) ** 2, -1))
        return [k for k in range(shape_of(far)[0]) if far[k] <= r]
