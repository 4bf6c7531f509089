"""Linear algebra: products of vectors and matrices, and the generalized ufuncs with their axes."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.traced import Traced
from ....core.values import dtype_of, is_python, shape_of
from ....ops.declare import composed
from ....ops.shape import astype
from ...dispatch.arguments import as_value, axis_of, given, is_true, ndim_of, number
from ...dispatch.assignment import deliver
from ...dispatch.registry import implements
from ...dispatch.views import arrayed

NUMPY = tuple(map(int, np.__version__.split(".")[:2]))
"""The version, as two numbers."""


@implements(np.dot, exact=True)
def dot(a: Any, b: Any, out: Any = None) -> Any:
    """`np.dot`: the last axis of the first with the last but one of the second."""
    a, b = as_value(a), as_value(b)
    one, other = ndim_of(a), ndim_of(b)
    if one == 0 or other == 0:
        a, b = (astype(x, dtype=dtype_of(x)) if is_python(x) else x for x in (a, b))
        return number(
            deliver(np.multiply(a, b), out)
        )  # a matrix asks for this product when it is multiplied by a number
    if one <= 2 and other <= 2:
        return a @ b if out is None else deliver(a @ b, out)
    return deliver(np.tensordot(a, b, (-1, max(-2, -other))), out)


@implements(np.inner)
def inner(a: Any, b: Any, /) -> Any:
    """`np.inner`: over the last axes, without conjugation."""
    a, b = (np.asarray(x)[()] if is_python(x) and not isinstance(x, Traced) else as_value(x) for x in (a, b))
    return np.multiply(a, b) if ndim_of(a) == 0 or ndim_of(b) == 0 else number(np.tensordot(a, b, (-1, -1)))


@implements(np.linalg.outer)
def linalg_outer(x1: Any, x2: Any, /) -> Any:
    """`np.linalg.outer`, of vectors alone."""
    x1, x2 = as_value(x1), as_value(x2)
    if ndim_of(x1) != 1 or ndim_of(x2) != 1:
        raise ValueError(
            f"Input arrays must be one-dimensional, but they are x1.ndim={ndim_of(x1)} and x2.ndim={ndim_of(x2)}."
        )
    return outer(x1, x2)


@implements(np.outer)
def outer(a: Any, b: Any, out: Any = None) -> Any:
    """`np.outer`, of the flattened arrays."""
    return deliver(np.reshape(a, (-1, 1)) * np.reshape(b, (1, -1)), out)


@implements(np.vdot)
def vdot(a: Any, b: Any, /) -> Any:
    """`np.vdot`: flattened, the first conjugated."""
    return np.reshape(_conjugated(as_value(a)), (-1,)) @ np.reshape(as_value(b), (-1,))


@composed(np.vecdot)
def vecdot(x: Any, y: Any) -> Any:
    """`np.vecdot`: over the last axis, the first conjugated."""
    x, y = as_value(x), as_value(y)
    return number(np.matmul(_conjugated(x)[..., None, :], y[..., :, None])[..., 0, 0])


composed(np.matvec)(lambda x, y: np.matmul(x, as_value(y)[..., :, None])[..., 0])


composed(np.vecmat)(lambda x, y: np.matmul(_conjugated(as_value(x))[..., None, :], y)[..., 0, :])


def _conjugated(x: Any) -> Any:
    """The conjugate; of truth values NumPy would make integers."""
    return np.conjugate(x) if dtype_of(x).kind == "c" else x


@implements(np.linalg.vecdot)
def linalg_vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """`np.linalg.vecdot`."""
    return np.vecdot(x1, x2, axis=operator.index(axis))


@implements(np.linalg.matmul)
def linalg_matmul(x1: Any, x2: Any, /) -> Any:
    """`np.linalg.matmul`."""
    return np.matmul(x1, x2)


@implements(np.tensordot, np.linalg.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """`np.tensordot`, as one matrix product."""
    a, b = as_value(a), as_value(b)
    if isinstance(axes, (int, np.integer)):
        axes = (range(-int(axes), 0), range(int(axes)))
    first, second = ([x] if isinstance(x, (int, np.integer)) else list(x) for x in axes)
    summed_a = [axis_of(x, ndim_of(a)) + ndim_of(a) for x in first]
    summed_b = [axis_of(x, ndim_of(b)) + ndim_of(b) for x in second]
    shape_a, shape_b = shape_of(a), shape_of(b)
    if [shape_a[i] for i in summed_a] != [shape_b[i] for i in summed_b]:
        raise ValueError("shape-mismatch for sum")
    rows = [i for i in range(len(shape_a)) if i not in summed_a]
    columns = [i for i in range(len(shape_b)) if i not in summed_b]
    length = math.prod([shape_a[i] for i in summed_a])
    high, wide = (tuple([s[i] for i in kept]) for s, kept in ((shape_a, rows), (shape_b, columns)))
    left = np.reshape(np.transpose(a, rows + summed_a), (math.prod(high), length))
    right = np.reshape(np.transpose(b, summed_b + columns), (length, math.prod(wide)))
    return np.reshape(left @ right, high + wide)


@implements(np.kron)
def kron(a: Any, b: Any) -> Any:
    """`np.kron`: every element times the whole other array."""
    a, b = as_value(a), as_value(b)
    rank = max(ndim_of(a), ndim_of(b))
    high, low = ((1,) * (rank - ndim_of(x)) + shape_of(x) for x in (a, b))
    spread_a = np.reshape(a, tuple([m for n in high for m in (n, 1)]))
    spread_b = np.reshape(b, tuple([m for n in low for m in (1, n)]))
    return np.reshape(spread_a * spread_b, tuple([m * n for m, n in zip(high, low, strict=True)]))


@implements(np.cross)
def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Any:
    """`np.cross`, of vectors of three (or, as long as NumPy takes them, two) components."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = as_value(a), as_value(b)
    a, b = np.moveaxis(a, axis_of(axisa, ndim_of(a)), -1), np.moveaxis(b, axis_of(axisb, ndim_of(b)), -1)
    sizes = (shape_of(a)[-1], shape_of(b)[-1])
    if not set(sizes) <= ({3} if NUMPY >= (2, 5) else {2, 3}):
        raise ValueError(
            f"Both input arrays must be (arrays of) 3-dimensional vectors, but they are {sizes} dimensional."
        )
    a0, a1, b0, b1 = a[..., 0], a[..., 1], b[..., 0], b[..., 1]
    last = a0 * b1 - a1 * b0
    if sizes == (2, 2):
        return arrayed(last)
    a2 = a[..., 2] if sizes[0] == 3 else 0.0 * a0
    b2 = b[..., 2] if sizes[1] == 3 else 0.0 * b0
    return np.moveaxis(np.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, last], -1), -1, axisc)


@implements(np.linalg.cross)
def linalg_cross(x1: Any, x2: Any, /, *, axis: Any = -1) -> Any:
    """`np.linalg.cross`."""
    x1, x2 = as_value(x1), as_value(x2)
    axis = -1 if axis is None and NUMPY >= (2, 5) else axis
    if (sizes := (shape_of(x1)[axis], shape_of(x2)[axis])) != (3, 3):
        raise ValueError(f"Both input arrays must be (arrays of) 3-dimensional vectors, but they are {sizes}")
    return cross(x1, x2, axis=axis)


def with_axes(product: Callable[..., Any], signature: str, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """A generalized ufunc with `axes=`, `axis=` or `keepdims=`: its axes moved to the end and back."""
    ranks = [part.count(",") + 1 if part else 0 for part in _core(signature)]
    values, keepdims = [as_value(x) for x in inputs], is_true(keywords.get("keepdims"))
    axes: Any = keywords.get("axes")
    if given(keywords.get("axis")):
        axes = [(keywords["axis"],)] * len(inputs) + [(keywords["axis"],) if keepdims else ()]
    if not given(axes):
        axes = [tuple(range(-rank, 0)) for rank in ranks[:-1]]
    axes = [(a,) if isinstance(a, (int, np.integer)) else tuple(a) for a in axes]
    if any(ndim_of(v) < rank for v, rank in zip(values, ranks, strict=False)):
        return product(*values)
    moved = [np.moveaxis(v, a, tuple(range(-len(a), 0))) for v, a in zip(values, axes, strict=False)]
    result = product(*moved)
    if keepdims:
        return np.expand_dims(result, axes[-1])
    target = axes[len(inputs)] if len(axes) > len(inputs) else tuple(range(-ranks[-1], 0))
    return np.moveaxis(result, tuple(range(-ranks[-1], 0)), target)


def _core(signature: str) -> list[str]:
    """The part of each operand and of the result in a signature such as "(n?,k),(k,m?)->(n?,m?)"."""
    return [part.strip("()") for part in signature.replace("->", ";").replace("),(", ");(").split(";")]
