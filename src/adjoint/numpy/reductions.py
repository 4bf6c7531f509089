"""NumPy's sums, means and extremes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.values import dtype_of, shape_of
from ..ops import reduction as ops
from ..ops.selection import where as choose
from .registry import NO_VALUE, as_value, axes_of, axis_of, deliver, given, implements, ndim_of
from .shapes import same_dtype


@implements(np.sum)
def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE, where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """`np.sum`."""
    a = same_dtype(as_value(a), dtype)
    if given(where):
        a = choose(where, a, 0.0)
    total = ops.sum(a, axis=axes_of(axis, ndim_of(a)), keepdims=keepdims is True)
    return deliver(total + initial if given(initial) else total, out)


@implements(np.mean)
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
) -> Any:
    """`np.mean`."""
    a = as_value(a)
    return deliver(np.sum(a, axis, dtype, None, keepdims, where=where) / count(a, axis, keepdims, where), out)


def count(a: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    """How many elements a reduction sees."""
    shape = shape_of(a)
    if not given(where):
        return int(np.prod([shape[i] for i in axes_of(axis, len(shape))]))
    return np.sum(np.broadcast_to(where, shape), axis, keepdims=keepdims is True)


@implements(np.var)
def var(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: Any = NO_VALUE, *,
    where: Any = NO_VALUE, mean: Any = NO_VALUE, correction: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """`np.var`."""
    a = same_dtype(as_value(a), dtype)
    ddof = correction if given(correction) else ddof
    center = mean if given(mean) else np.mean(a, axis, keepdims=True, where=where)
    gap = a - center
    power = np.real(gap) ** 2 + np.imag(gap) ** 2 if dtype_of(gap).kind == "c" else gap**2
    total = np.sum(power, axis, keepdims=keepdims, where=where)
    return deliver(total / np.maximum(count(a, axis, keepdims, where) - ddof, 0), out)


@implements(np.std)
def std(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: Any = NO_VALUE, **rest: Any) -> Any:
    """`np.std`; its slope is 0 where all elements are equal."""
    return deliver(np.sqrt(np.var(a, axis, dtype, None, ddof, keepdims, **rest)), out)


def _extreme(primitive: Any, pair: Any, worst: float) -> Any:
    def reduce(
        a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, initial: Any = NO_VALUE, where: Any = NO_VALUE
    ) -> Any:
        a = as_value(a)
        if given(where):
            a = choose(where, a, worst)
        found = primitive(a, axis=axes_of(axis, ndim_of(a)), keepdims=keepdims is True)
        return deliver(pair(found, initial) if given(initial) else found, out)

    return reduce


implements(np.max, np.amax)(_extreme(ops.max, np.maximum, -np.inf))
implements(np.min, np.amin)(_extreme(ops.min, np.minimum, np.inf))


@implements(np.cumsum)
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """`np.cumsum`."""
    a = same_dtype(as_value(a), dtype)
    a, axis = (np.reshape(a, (-1,)), 0) if axis is None else (a, axis)
    return deliver(ops.cumsum(a, axis=axis_of(axis, ndim_of(a))), out)


@implements(np.prod)
def prod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE, where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """`np.prod`, by halves: right at zeros in every order."""
    a = same_dtype(as_value(a), dtype)
    if given(where):
        a = choose(where, a, 1.0)
    axes = axes_of(axis, ndim_of(a))
    shape = shape_of(a)
    rest = [i - len(shape) for i in range(len(shape)) if i - len(shape) not in axes]
    line = np.transpose(a, [*rest, *axes]) if axes else a
    line = np.reshape(line, (*[shape[i] for i in rest], -1 if 0 not in shape else int(np.prod([shape[i] for i in axes]))))
    while shape_of(line)[-1] > 1:
        n = shape_of(line)[-1]
        paired = line[..., 0 : n - n % 2 : 2] * line[..., 1::2]
        line = np.concatenate([paired, line[..., n - 1 :]], -1) if n % 2 else paired
    total = line[..., 0] if shape_of(line)[-1] else np.ones(shape_of(line)[:-1], dtype_of(a))
    if keepdims is True:
        total = np.reshape(total, tuple([1 if i - len(shape) in axes else n for i, n in enumerate(shape)]))
    return deliver(total * initial if given(initial) else total, out)


def _constant(primitive: Any) -> Any:
    def reduce(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, **rest: Any) -> Any:
        a = as_value(a)
        if given(rest.get("where")):
            a = np.where(rest["where"], a, primitive.name == "all")
        return deliver(primitive(a, axis=axes_of(axis, ndim_of(a)), keepdims=keepdims is True), out)

    return reduce


implements(np.any)(_constant(ops.any))
implements(np.all)(_constant(ops.all))


def _place(primitive: Any) -> Any:
    def find(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
        a = as_value(a)
        if axis is None:
            found = primitive(np.reshape(a, (-1,)), axis=-1, keepdims=False)
            return deliver(np.reshape(found, (1,) * ndim_of(a)) if keepdims is True else found, out)
        return deliver(primitive(a, axis=axis_of(axis, ndim_of(a)), keepdims=keepdims is True), out)

    return find


implements(np.argmax)(_place(ops.argmax))
implements(np.argmin)(_place(ops.argmin))


@implements(np.argsort)
def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """`np.argsort`."""
    a, axis = (np.reshape(a, (-1,)), -1) if axis is None else (a, axis)
    return ops.argsort(a, axis=axis_of(axis, ndim_of(a)))


