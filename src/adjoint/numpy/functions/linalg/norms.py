"""Linear algebra: norms. At 0 a norm has no slope but a subgradient, which is taken as 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core.values import concrete, dtype_of
from ....ops.linalg.spectra import leaders
from ...dispatch.arguments import as_value, axes_of, axis_of, ndim_of, number
from ...dispatch.registry import implements
from ..mathematical import sums


@implements(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.linalg.norm`."""
    x = inexact(as_value(x))
    n = ndim_of(x)
    if axis is None and (ord is None or (n == 1 and ord == 2) or (n == 2 and ord in ("f", "fro"))):
        return _length(x, axes_of(None, n), keepdims)
    if axis is None:
        axis = tuple(range(n))
    axes = tuple([axis_of(a, n) for a in axis]) if isinstance(axis, tuple) else (axis_of(int(axis), n),)
    if len(axes) == 1:
        return _vector_norm(x, ord, axes, keepdims)
    if len(axes) == 2:
        return _matrix_norm(x, ord, axes, keepdims)
    raise ValueError("Improper number of dimensions to norm.")


@implements(np.linalg.vector_norm)
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """`np.linalg.vector_norm`."""
    if not (axis is None or isinstance(axis, (int, np.integer, tuple))):
        raise TypeError("'axis' must be None, an integer or a tuple of integers")
    x = inexact(as_value(x))
    found = _vector_norm(x, ord, axes_of(axis, ndim_of(x)), True)
    return found if keepdims else number(np.squeeze(found, axes_of(axis, ndim_of(x))))


@implements(np.linalg.matrix_norm)
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """`np.linalg.matrix_norm`."""
    return _matrix_norm(inexact(as_value(x)), ord, (-2, -1), keepdims)


def inexact(x: Any) -> Any:
    """Integers and truth values as floating-point numbers."""
    return x if dtype_of(x).kind in "fc" else np.astype(x, float)


def _length(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """The root of the sum of squares; the slope of sqrt(sum(x**2)) at 0 is 0."""
    squares = np.real(x) ** 2 + np.imag(x) ** 2 if dtype_of(x).kind == "c" else x * x
    return np.sqrt(sums.sum(squares, axis=axes, keepdims=keepdims))


def _vector_norm(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    if ord is None or ord == 2:
        return _length(x, axes, keepdims)
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord == np.inf:
        return np.max(np.abs(x), axis=axes, keepdims=keepdims)
    if ord == -np.inf:
        return np.min(np.abs(x), axis=axes, keepdims=keepdims)
    if ord == 0:
        return np.sum((x != 0).astype(dtype_of(np.abs(concrete(x)))), axis=axes, keepdims=keepdims)
    if ord == 1:
        return np.sum(np.abs(x), axis=axes, keepdims=keepdims)
    size = np.abs(x)
    if ord < 0:
        gone = np.any(size == 0, axis=axes, keepdims=True)
        total = np.sum(np.where(gone, 1.0, size) ** ord, axis=axes, keepdims=True)
        lost = np.where(np.any(np.isnan(size), axis=axes, keepdims=True), np.nan, 0.0)
        root = np.where(gone, np.astype(lost, dtype_of(size)), total ** (1.0 / ord))
        return root if keepdims else number(np.squeeze(root, axes))
    if ord < 1:
        return np.sum(size**ord, axis=axes, keepdims=keepdims) ** (1.0 / ord)
    total = np.sum(size**ord, axis=axes, keepdims=True)
    gone = total == 0
    root = np.where(gone, 0.0, np.where(gone, 1.0, total) ** (1.0 / ord))
    return root if keepdims else number(np.squeeze(root, axes))


def _matrix_norm(x: Any, ord: Any, axes: Sequence[int], keepdims: bool) -> Any:
    row, column = axes
    if row == column:
        raise ValueError("Duplicate axes given.")
    if ord in (None, "fro", "f"):
        return _length(x, tuple(sorted(axes)), keepdims)
    if ord in (1, -1, np.inf, -np.inf):
        summed, rest = (row, column) if abs(ord) == 1 else (column, row)
        sums = np.sum(np.abs(x), axis=summed, keepdims=True)
        pick = np.max if ord > 0 else np.min
        found = pick(sums, axis=rest, keepdims=True)
    elif ord in (2, -2, "nuc"):
        s = np.linalg.svdvals(np.moveaxis(x, (row, column), (-2, -1)))
        value = np.sum(s, axis=-1) if ord == "nuc" else extreme_value(s, largest=ord == 2)
        found = np.expand_dims(value, tuple(sorted(axes)))
    else:
        raise ValueError("Invalid norm order for matrices.")
    return found if keepdims else number(np.squeeze(found, tuple(sorted(axes))))


def extreme_value(s: Any, *, largest: bool) -> Any:
    """The first or last singular value; a repeated one shares its slope, so that the choice of vectors is no matter."""
    share = leaders(s, largest=largest)
    return np.sum(np.where(share != 0, s, 0.0) * share, axis=-1)
