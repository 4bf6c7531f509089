"""Array manipulation: rearranging elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.values import shape_of
from ....ops import shape as ops
from ...dispatch.arguments import as_value, axes_of, axis_of, ndim_of
from ...dispatch.registry import implements
from ...dispatch.views import view_of


@implements(np.flip, exact=True)
def flip(m: Any, axis: Any = None) -> Any:
    """`np.flip`."""
    axes = axes_of(axis, ndim_of(m))
    return view_of(m, lambda base: ops.flip(base, axis=axes), lambda base, new: ops.flip(new, axis=axes))


@implements(np.flipud)
def flipud(m: Any) -> Any:
    """`np.flipud`."""
    if ndim_of(m) < 1:
        raise ValueError("Input must be >= 1-d.")
    return np.flip(m, 0)


@implements(np.fliplr)
def fliplr(m: Any) -> Any:
    """`np.fliplr`."""
    if ndim_of(m) < 2:
        raise ValueError("Input must be >= 2-d.")
    return np.flip(m, 1)


@implements(np.roll, exact=True)
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    """`np.roll`."""
    a = as_value(a)
    if axis is None:
        return np.reshape(roll(np.reshape(a, (-1,)), shift, 0), shape_of(a))
    pairs = np.broadcast(shift, axis)
    if pairs.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    total: dict[int, int] = {}
    for steps, where in pairs:
        where = axis_of(where.item() if isinstance(where, np.generic) else where, ndim_of(a))
        total[where] = total.get(where, 0) + int(steps)
    if not shape_of(a):
        raise ValueError("an array without axes cannot be rolled along an axis")
    return ops.roll(a, shift=tuple(total.values()), axis=tuple(total)) if total else np.copy(a)


@implements(np.rot90)
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    """`np.rot90`."""
    axes, n = tuple(axes), ndim_of(m)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    if axes[0] == axes[1] or abs(axes[0] - axes[1]) == n:
        raise ValueError("Axes must be different.")
    if any(not -n <= a < n for a in axes):
        raise ValueError(f"Axes={axes} out of range for array of ndim={n}.")
    k %= 4
    if k % 2 == 0:
        return np.flip(m, axes) if k else m[...]
    return np.swapaxes(np.flip(m, axes[1]), *axes) if k == 1 else np.flip(np.swapaxes(m, *axes), axes[1])
