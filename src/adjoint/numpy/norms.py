"""`numpy.linalg`: norms in all their forms, and what is composed of products and inverses.

At 0 a norm has no slope but a subgradient, which is taken as 0.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.values import dtype_of, may_hold, plain, shape_of
from ..ops.declare import REAL, Whole, declare
from ..ops.linalg import identity
from ..ops.singular import svd
from ..ops.spectra import leaders
from ..rules.elementwise import Elementwise
from ..rules.stacking import aligned
from . import reductions
from .linalg import matrices
from .registry import as_value, axes_of, axis_of, given, implements, ndim_of, number


@implements(np.linalg.norm)
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """`np.linalg.norm`."""
    x = _inexact(as_value(x))
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
    x = _inexact(as_value(x))
    found = _vector_norm(x, ord, axes_of(axis, ndim_of(x)), True)
    return found if keepdims else number(np.squeeze(found, axes_of(axis, ndim_of(x))))


@implements(np.linalg.matrix_norm)
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """`np.linalg.matrix_norm`."""
    return _matrix_norm(_inexact(as_value(x)), ord, (-2, -1), keepdims)


def _inexact(x: Any) -> Any:
    return x if dtype_of(x).kind in "fc" else np.astype(x, float)


def _length(x: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    """The root of the sum of squares; the slope of sqrt(sum(x**2)) at 0 is 0."""
    squares = np.real(x) ** 2 + np.imag(x) ** 2 if dtype_of(x).kind == "c" else x * x
    return np.sqrt(reductions.sum(squares, axis=axes, keepdims=keepdims))


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
        return np.sum((x != 0).astype(dtype_of(np.abs(plain(x)))), axis=axes, keepdims=keepdims)
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
        value = np.sum(s, axis=-1) if ord == "nuc" else _extreme(s, largest=ord == 2)
        found = np.expand_dims(value, tuple(sorted(axes)))
    else:
        raise ValueError("Invalid norm order for matrices.")
    return found if keepdims else number(np.squeeze(found, tuple(sorted(axes))))


def _extreme(s: Any, *, largest: bool) -> Any:
    """The first or last singular value; a repeated one shares its slope, so that the choice of vectors is no matter."""
    share = leaders(s, largest=largest)
    return np.sum(np.where(share != 0, s, 0.0) * share, axis=-1)


@implements(np.linalg.cond)
def cond(x: Any, p: Any = None) -> Any:
    """`np.linalg.cond`: infinite for a singular matrix."""
    x = as_value(x)
    if 0 in shape_of(x)[-2:]:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    with np.errstate(all="ignore"):
        found = _ratio(_values(x), p) if p is None or p in (2, -2) else _by_inverse(x, p)
    if not may_hold(np.isnan(found)):
        return found
    return endless(found, np.isnan(found) & ~np.any(np.isnan(x), axis=(-2, -1)))


endless = declare(
    "endless",
    lambda x, y: np.where(y, np.inf, x).astype(dtype_of(x))[()],
    Elementwise([lambda x, y: np.where(y, np.nan, 1.0), None]),
    stacking=aligned,
    domain=(REAL, Whole((0, 0))),
    note="infinite where the second argument says so, without a derivative there",
)


def _ratio(s: Any, p: Any) -> Any:
    largest, smallest = _extreme(s, largest=True), _extreme(s, largest=False)
    return smallest / largest if p == -2 else largest / smallest


def _by_inverse(x: Any, p: Any) -> Any:
    """The norm times that of the inverse; a matrix that has none is left out."""
    x = _inexact(x)
    singular = np.linalg.slogdet(x)[0] == 0
    if may_hold(singular):
        x = np.where(singular[..., None, None], identity(x), x)
        return _size(x, p) * _size(np.where(singular[..., None, None], np.nan, np.linalg.inv(x)), p)
    return _size(x, p) * _size(np.linalg.inv(x), p)


def _size(x: Any, p: Any) -> Any:
    return np.sum(_values(x), axis=-1) if p == "nuc" else norm(x, p, axis=(-2, -1))


def _values(x: Any) -> Any:
    """The singular values that make a condition number: NumPy may take matrices for it whose values it refuses."""
    return svd(matrices(x), full_matrices=False, of="cond")[1]


@implements(np.linalg.matrix_power)
def matrix_power(a: Any, n: int) -> Any:
    """`np.linalg.matrix_power`, by squaring."""
    a = as_value(a)
    n = operator.index(n)
    if ndim_of(a) < 2 or shape_of(a)[-1] != shape_of(a)[-2]:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
    if n == 0:
        return np.broadcast_to(identity(a), shape_of(a)).copy()
    if n < 0:
        a, n = np.linalg.inv(a), -n
    result = None
    while n:
        if n & 1:
            result = a if result is None else result @ a
        n >>= 1
        a = a @ a if n else a
    return result


@implements(np.linalg.multi_dot)
def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Any:
    """`np.linalg.multi_dot`: the product in the order that costs least."""
    from .registry import deliver

    parts = [as_value(a) for a in arrays]
    if len(parts) < 2:
        raise ValueError("Expecting at least two arrays.")
    if len(parts) == 2:
        return np.dot(parts[0], parts[1], out)
    if any(ndim_of(p) != 2 for p in parts[1:-1]):
        raise np.linalg.LinAlgError("Array must be two-dimensional")
    first, last = ndim_of(parts[0]) == 1, ndim_of(parts[-1]) == 1
    parts[0] = parts[0][None, :] if first else parts[0]
    parts[-1] = parts[-1][:, None] if last else parts[-1]
    sizes = [shape_of(p)[0] for p in parts] + [shape_of(parts[-1])[1]]
    found = _product(parts, _splits(sizes), 0, len(parts) - 1)
    found = found[0] if first else found
    return deliver(found[..., 0] if last else found, out)


def _splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to cut each chain of factors, by dynamic programming over their lengths."""
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    cut = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            options = [(cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            cost[i, j], cut[i, j] = min(options)
    return cut


def _product(parts: list[Any], cut: dict[tuple[int, int], int], i: int, j: int) -> Any:
    if i == j:
        return parts[i]
    k = cut[i, j]
    return _product(parts, cut, i, k) @ _product(parts, cut, k + 1, j)


@implements(np.linalg.tensorsolve)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """`np.linalg.tensorsolve`."""
    a, b = as_value(a), as_value(b)
    if given(axes):
        order = list(range(ndim_of(a)))
        for k in axes:
            order.remove(k)
            order.append(k)
        a = np.transpose(a, order)
    shape = shape_of(a)[ndim_of(b) - ndim_of(a) :]  # all of them if there are as many axes on both sides, as in NumPy
    size = math.prod(shape)
    if math.prod(shape_of(a)) != size**2:
        raise np.linalg.LinAlgError(
            "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    return np.reshape(np.linalg.solve(np.reshape(a, (size, size)), np.reshape(b, (size,))), shape)


@implements(np.linalg.tensorinv)
def tensorinv(a: Any, ind: int = 2) -> Any:
    """`np.linalg.tensorinv`."""
    a = as_value(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = shape_of(a)
    if not shape:
        raise TypeError("reshape() takes exactly 1 argument (0 given)")
    size = math.prod(shape[ind:])
    return np.reshape(np.linalg.inv(np.reshape(a, (size, -1))), shape[ind:] + shape[:ind])
