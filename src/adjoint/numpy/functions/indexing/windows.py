"""Indexing: windows that slide over an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.values import shape_of
from ...dispatch.arguments import as_value, axis_of, ndim_of
from ...dispatch.registry import implements
from ...dispatch.views import ViewHandle, arrayed, read_only


@implements(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(
    x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    """`np.lib.stride_tricks.sliding_window_view`: the elements of each window, on axes behind the others."""
    x = arrayed(as_value(x))
    sizes = tuple(window_shape) if np.iterable(window_shape) else (window_shape,)
    if axis is None:
        axes = tuple(range(-ndim_of(x), 0))
        if len(sizes) != len(axes):
            raise ValueError(
                f"Since axis is None, must provide window_shape for all dimensions of `x`; got {len(sizes)} "
                f"window_shape elements and `x.ndim` is {ndim_of(x)}."
            )
    else:
        axes = tuple([axis_of(a, ndim_of(x)) for a in (axis if np.iterable(axis) else (axis,))])
        if len(sizes) != len(axes):
            raise ValueError(
                f"Must provide matching length window_shape and axis; got {len(sizes)} window_shape elements and "
                f"{len(axes)} axes elements."
            )
    if any([size < 0 for size in sizes]):
        raise ValueError("`window_shape` cannot contain negative values")
    if any([size > shape_of(x)[a] for size, a in zip(sizes, axes, strict=True)]):
        raise ValueError("window shape cannot be larger than input array shape")
    bool(writeable)  # as NumPy asks, if only to refuse arrays; what overlaps is not written to here
    return ViewHandle(x, lambda base: _windows(base, sizes, axes), read_only)


def _windows(x: Any, sizes: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """Gathered along one axis after the other."""
    for k, (size, a) in enumerate(zip(sizes, axes, strict=True)):
        place = ndim_of(x) - k + a  # behind it are the axes of the windows so far
        if size > shape_of(x)[place]:
            raise ValueError("window shape cannot be larger than input array shape")
        at = np.arange(shape_of(x)[place] - size + 1)[:, None] + np.arange(size)
        x = np.moveaxis(np.take(x, at, place), place + 1, -1)
    return x
