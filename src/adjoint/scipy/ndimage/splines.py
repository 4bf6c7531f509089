"""Interpolation of images by splines, at coordinates that may be traced: the compiled part of `map_coordinates`.

The value at c is the sum of the coefficients around it, each times the B-spline there, which is a polynomial in the
distance of c from the knot before it. Which coefficients these are is decided at the point; beyond the edges it is said
by the mode. At a knot the slope is the one of the side that SciPy's own choice of coefficients belongs to.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.values import shape_of

NEAREST, WRAP, REFLECT, MIRROR, CONSTANT, GRID_WRAP, GRID_CONSTANT = range(7)


def _weights(u: Any, order: int) -> list[Any]:
    """The B-splines that are not zero at a distance u behind a knot, from the first coefficient to the last."""
    found = [u * 0.0 + 1.0]
    for k in range(1, order + 1):
        new = []
        for m in range(k + 1):
            left = (u + m) * found[m] if m < k else 0.0
            right = (k + 1 - m - u) * found[m - 1] if m > 0 else 0.0
            new.append((left + right) / k)
        found = new
    return found[::-1]


def placed(c: Any, n: int, order: int, mode: int) -> tuple[Any, Any, Any]:
    """Along an axis: which coefficients count, with an axis in front, their weights, and which places are inside.

    The last is None where everything is; with `GRID_CONSTANT`, it is said for each coefficient.
    """
    inside = None
    if mode == NEAREST:
        c = np.clip(c, -2.0 - order, n + 1.0 + order)  # beyond, the last coefficient counts alone
    elif mode == WRAP:
        turn = np.floor(c / (n - 1)) if n > 1 else 0.0 * c
        outside = (c < 0) | (c > n - 1)
        c = c - np.where(outside, turn * (n - 1), 0.0)
    elif mode == CONSTANT:
        inside = (c >= 0) & (c <= n - 1)
        c = np.where(inside, c, 0.0)
    half = 0.0 if order % 2 else 0.5
    knot = np.floor(c + half)
    weights = np.stack(_weights(c + half - knot, order))
    first = knot.astype(np.int64) - order // 2
    at = first + np.reshape(np.arange(order + 1), (-1,) + (1,) * len(shape_of(first)))
    if mode == GRID_CONSTANT:
        inside = (at >= 0) & (at < n)
    return _folded(at, n, mode), weights, inside


def _folded(at: Any, n: int, mode: int) -> Any:
    """Which coefficient stands at a place, also beyond the edges."""
    if mode in (NEAREST, GRID_CONSTANT):
        return np.clip(at, 0, n - 1)
    if mode == GRID_WRAP:
        return at % n
    if mode == REFLECT:
        at = at % (2 * n)
        return np.minimum(at, 2 * n - 1 - at)
    if n == 1:
        return at * 0
    at = at % (2 * n - 2)
    return np.minimum(at, 2 * n - 2 - at)


def geometric_transform(
    filtered: Any, mapping: Any, coordinates: Any, matrix: Any, offset: Any, output: Any, order: int, mode: int,
    cval: Any, npad: int, arguments: Any, keywords: Any,
) -> None:  # fmt: skip
    """The image at coordinates that are given, or found from those of the output by a matrix or the user's function."""
    shape = shape_of(output)
    if mapping is not None:
        rows = [mapping(tuple(at), *arguments, **keywords) for at in np.ndindex(*shape)]
        coordinates = np.reshape(np.stack([np.stack([np.asarray(c) for c in row]) for row in rows], -1), (-1, *shape))
    elif coordinates is None:
        grid = np.stack([np.ravel(g) for g in np.indices(shape, float)])
        coordinates = np.reshape(matrix @ grid + np.reshape(offset, (-1, 1)), (-1, *shape))
    axes = [placed(coordinates[axis] + float(npad), n, order, mode) for axis, n in enumerate(shape_of(filtered))]
    rank, tail = len(axes), len(shape)

    def spread(x: Any, axis: int) -> Any:
        """With the axis of coefficients at its place among those of the other axes."""
        return np.reshape(x, (1,) * axis + (order + 1,) + (1,) * (rank - 1 - axis) + shape_of(x)[-tail:])

    found = filtered[tuple([spread(at, axis) for axis, (at, _, _) in enumerate(axes)])]
    insides = [inside for _, _, inside in axes]
    if mode == GRID_CONSTANT:
        for axis, inside in enumerate(insides):
            found = np.where(spread(inside, axis), found, cval)
    for axis, (_, weights, _) in enumerate(axes):
        found = found * spread(weights, axis)
    found = np.sum(found, tuple(range(rank)))
    if mode == CONSTANT:
        for inside in insides:
            found = np.where(inside, found, cval)
    output[...] = found


def zoom_shift(
    filtered: Any, zoom: Any, shift: Any, output: Any, order: int, mode: int, cval: Any, npad: int, grid_mode: bool
) -> None:
    """The image at coordinates of which each depends on one axis of the output: along one axis after the other."""
    found, insides = filtered, []
    rank = len(shape_of(output))
    for axis, n in enumerate(shape_of(output)):
        c: Any = np.arange(n, dtype=float)
        if shift is not None:
            c = c + shift[axis]
        if zoom is not None:
            c = (c + 0.5) * zoom[axis] - 0.5 if grid_mode else c * zoom[axis]
        at, weights, inside = placed(c + float(npad), shape_of(filtered)[axis], order, mode)
        across = (order + 1, n) + (1,) * (rank - 1 - axis)
        picked = np.reshape(
            np.take(found, at, axis), (*shape_of(found)[:axis], *at.shape, *shape_of(found)[axis + 1 :])
        )
        if mode == GRID_CONSTANT:
            picked = np.where(np.reshape(inside, across), picked, cval)
        found = np.sum(picked * np.reshape(weights, across), axis)
        insides.append(None if inside is None else np.reshape(inside, across[1:]) if mode == CONSTANT else None)
    for inside in insides:
        if inside is not None:
            found = np.where(inside, found, cval)
    output[...] = found


MODES = ("nearest", "wrap", "reflect", "mirror", "constant", "grid-wrap", "grid-constant")


def spline_filter1d(x: Any, order: int, axis: int, output: Any, mode: int) -> None:
    """The coefficients of the spline along one axis."""
    from ...ops.signal.splines import coefficients

    output[...] = coefficients(x, degree=order, axis=axis - len(shape_of(x)), mode=MODES[mode])
