"""The compiled filters of `scipy.ndimage`, made of primitives: each gives its result to the array `output`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError, message
from ...core.values import dtype_of, shape_of
from ...ops.signal.filters import convolved
from ..extension import extended, windows

PADS = {0: "edge", 1: "wrap", 2: "symmetric", 3: "reflect", 4: "constant", 5: "wrap", 6: "constant"}
"""SciPy's numbers for what is beyond the edges, and what `np.pad` calls it."""


def correlate1d(x: Any, weights: Any, axis: int, output: Any, mode: int, cval: Any, origin: int) -> None:
    """The correlation along one axis."""
    kernel = np.reshape(weights[::-1], [-1 if k == axis else 1 for k in range(len(shape_of(x)))])
    before = shape_of(weights)[0] // 2 + origin
    x = extended(x, axis, before, shape_of(weights)[0] - 1 - before, PADS[mode], cval)
    output[...] = convolved(x, kernel, mode="valid")


def correlate(x: Any, weights: Any, output: Any, mode: int, cval: Any, origins: Sequence[int]) -> None:
    """The correlation along all axes."""
    flip = (slice(None, None, -1),) * len(shape_of(weights))
    output[...] = convolved(_framed(x, shape_of(weights), mode, cval, origins), weights[flip], mode="valid")


def _framed(x: Any, sizes: Sequence[int], mode: int | str, cval: Any, origins: Sequence[int]) -> Any:
    """The array with all that windows of these sizes reach beyond its edges."""
    pad = mode if isinstance(mode, str) else PADS[mode]
    for axis, (size, origin) in enumerate(zip(sizes, origins, strict=True)):
        before = size // 2 + int(origin)
        x = extended(x, axis, before, size - 1 - before, pad, cval)
    return x


def uniform_filter1d(x: Any, size: int, axis: int, output: Any, mode: int, cval: Any, origin: int) -> None:
    """The mean along one axis."""
    correlate1d(x, np.full(size, 1.0 / size), axis, output, mode, cval, origin)


def min_or_max_filter1d(
    x: Any, size: int, axis: int, output: Any, mode: int, cval: Any, origin: int, minimum: int
) -> None:
    """The least or the largest element along one axis."""
    before = size // 2 + origin
    x = extended(x, axis, before, size - 1 - before, PADS[mode], cval)
    sizes = [size if k == axis else 1 for k in range(len(shape_of(x)))]
    output[...] = (np.min if minimum else np.max)(np.stack(windows(x, sizes)), 0)


def min_or_max_filter(
    x: Any, footprint: Any, structure: Any, output: Any, mode: int, cval: Any, origins: Sequence[int], minimum: int
) -> None:
    """The least or the largest element within a footprint, below or above a structure that rides on it."""
    found = np.stack(_within(x, footprint, mode, cval, origins))
    if structure is not None:
        heights = np.reshape(structure[np.nonzero(footprint)], (-1,) + (1,) * len(shape_of(x)))
        found = found - heights if minimum else found + heights
    output[...] = (np.min if minimum else np.max)(found, 0)


def _within(x: Any, footprint: Any, mode: int | str, cval: Any, origins: Sequence[int]) -> list[Any]:
    """For each place of a footprint, the elements there."""
    framed = _framed(x, shape_of(footprint), mode, cval, origins)
    chosen = np.ravel(np.asarray(footprint, bool))
    return [w for w, is_in in zip(windows(framed, shape_of(footprint)), chosen, strict=True) if is_in]


def ranked(x: Any, footprint: Any, rank: int, mode: int | str, cval: Any, origins: Sequence[int]) -> Any:
    """The element of this rank within a footprint, for each place."""
    return np.sort(np.stack(_within(x, footprint, mode, cval, origins)), 0)[int(rank)]


def rank_filter(x: Any, rank: int, footprint: Any, output: Any, mode: int, cval: Any, origins: Sequence[int]) -> None:
    """`ranked`, into the output."""
    output[...] = ranked(x, footprint, rank, mode, cval, origins)


def rank_filter_of_line(x: Any, rank: int, size: int, output: Any, mode: int, cval: Any, origin: int) -> None:
    """The same for one axis."""
    if size > shape_of(x)[0] and PADS[mode] not in ("edge", "constant"):
        raise UnsupportedError(
            message(
                "A rank filter whose window is longer than the signal is not differentiated.",
                got=f"a window of {size} for {shape_of(x)[0]} elements",
                fix='Use  mode="nearest"  or  mode="constant",  or a shorter window: beyond the ends SciPy looks at '
                "elements that the other modes do not mean.",
            )
        )
    output[...] = ranked(x, np.ones(size, bool), rank, mode, cval, [origin])


def generic_filter(
    x: Any, function: Callable[..., Any], footprint: Any, output: Any, mode: int, cval: Any, origins: Sequence[int],
    arguments: Any, keywords: Any,
) -> None:  # fmt: skip
    """The user's function of the elements within a footprint, called for each place."""
    _check(function, "scipy.ndimage.generic_filter")
    found = np.reshape(np.stack(_within(x, footprint, mode, cval, origins), -1), (-1, int(np.sum(footprint))))
    values = [function(found[k], *arguments, **keywords) for k in range(shape_of(found)[0])]
    output[...] = np.reshape(np.stack([np.asarray(v) for v in values]), shape_of(x))


def generic_filter1d(
    x: Any, function: Callable[..., Any], size: int, axis: int, output: Any, mode: int, cval: Any, origin: int,
    arguments: Any, keywords: Any,
) -> None:  # fmt: skip
    """The user's function, which fills one line, called for each line."""
    from ..module_copies import handles

    _check(function, "scipy.ndimage.generic_filter1d")
    before, n = size // 2 + origin, shape_of(x)[axis]
    framed = np.moveaxis(extended(x, axis, before, size - 1 - before, PADS[mode], cval), axis, -1)
    lines = np.reshape(framed, (-1, shape_of(framed)[-1]))
    filled = []
    for k in range(shape_of(lines)[0]):
        line = vars(handles())["zeros"](n)
        function(lines[k], line, *arguments, **keywords)
        filled.append(np.asarray(line))
    found = np.reshape(np.stack(filled), (*shape_of(framed)[:-1], n))
    output[...] = np.moveaxis(found, -1, axis)


def _check(function: Any, name: str) -> None:
    """Compiled callbacks see memory only."""
    if not callable(function):
        raise UnsupportedError(
            message(
                f"{name} cannot call compiled code with traced values.",
                got=f"a {type(function).__name__}",
                fix="Pass a Python function.",
            )
        )


def gaussian_kernel(sigma: Any, order: int, radius: int) -> Any:
    """`_gaussian_kernel1d`: a normal curve at whole numbers with the sum 1, times the polynomial of its derivative."""
    if order < 0:
        raise ValueError("order must be non-negative")
    x = np.arange(-radius, radius + 1).astype(float)
    curve = np.exp(-0.5 / (sigma * sigma) * x**2)
    curve = curve / np.sum(curve)
    before: Any = np.zeros_like(x)
    polynomial: Any = np.ones_like(
        x
    )  # of each derivative: p' - x p / sigma**2, of these -(x p_n + n p_(n-1)) / sigma**2
    for n in range(order):
        polynomial, before = -(x * polynomial + n * before) / (sigma * sigma), polynomial
    return polynomial * curve


def selecting(select: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """`_select`, which sorts the elements by their labels: here each label is selected by itself."""

    def selected(x: Any, labels: Any = None, index: Any = None, **wanted: bool) -> list[Any]:
        if labels is None or index is None or np.isscalar(index):
            return select(x, labels, index, **wanted)
        labels = np.broadcast_to(np.asarray(labels), shape_of(x))
        index = np.asarray(index)
        zero = np.zeros((), dtype_of(x))
        nothing = [0 if "positions" in name else zero for name, is_wanted in wanted.items() if is_wanted]
        if wanted.get("find_median"):  # SciPy's answer for a label that is not there: the first element it has sorted
            nothing = [np.min(x[labels == np.min(labels)])]
        rows = [
            select(x, labels, one, **wanted) if np.any(labels == one) else nothing for one in np.ravel(index).tolist()
        ]
        return [np.reshape(np.stack([np.asarray(v) for v in row]), shape_of(index)) for row in zip(*rows, strict=True)]

    return selected
