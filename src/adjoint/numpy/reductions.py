"""NumPy's sums, products, means and extremes."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ..core.traced import Traced
from ..core.values import dtype_of, shape_of
from ..ops import product
from ..ops import reduction as ops
from ..ops.selection import where as choose
from .registry import NO_VALUE, as_value, axes_of, axis_of, deliver, given, implements, is_true, ndim_of
from .shapes import same_dtype


@implements(np.sum)
def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE, where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """`np.sum`."""
    if isinstance(a, Traced) and dtype is None and out is None and initial is NO_VALUE and where is NO_VALUE:
        return a.walk.process(ops.sum, (a,), {"axis": axes_of(axis, len(a.shape)), "keepdims": is_true(keepdims)})
    a = same_dtype(as_value(a), dtype)
    if given(where) and where is not True:
        a = choose(where, a, 0)
    total = ops.sum(a, axis=axes_of(axis, ndim_of(a)), keepdims=is_true(keepdims))
    return deliver(total + initial if given(initial) else total, out)


@implements(np.mean)
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
) -> Any:
    """`np.mean`; half precision is summed in single precision, as NumPy does."""
    a = as_value(a)
    half = dtype_of(a) == np.float16 and not given(dtype)
    total = np.sum(a, axis, np.float32 if half else dtype, None, keepdims, where=where)
    found = total / count(total, a, axis, keepdims, where)
    return deliver(np.astype(found, np.float16) if half else found, out)


def count(total: Any, a: Any, axis: Any, keepdims: Any, where: Any, ddof: float = 0) -> Any:
    """How many elements a reduction sees, less `ddof`, as a number that does not widen the total."""
    shape = shape_of(a)
    if not given(where) or where is True:
        seen = int(np.prod([shape[i] for i in axes_of(axis, len(shape))]))
        return builtins.max(seen - ddof, 0)
    seen = np.sum(np.broadcast_to(where, shape), axis, keepdims=is_true(keepdims))
    real = np.zeros((), dtype_of(total)).real.dtype if dtype_of(total).kind in "fc" else np.dtype(float)
    return np.astype(np.maximum(seen - ddof, 0), real)


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
    return deliver(total / count(total, a, axis, keepdims, where, ddof), out)


@implements(np.std)
def std(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: Any = NO_VALUE, **rest: Any
) -> Any:
    """`np.std`; its slope is 0 where all elements are equal."""
    return deliver(np.sqrt(np.var(a, axis, dtype, None, ddof, keepdims, **rest)), out)


def _extreme(primitive: Any, pair: Any, worst: float) -> Any:
    def reduce(
        a: Any,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = NO_VALUE,
        initial: Any = NO_VALUE,
        where: Any = NO_VALUE,
    ) -> Any:
        if isinstance(a, Traced) and out is None and initial is NO_VALUE and where is NO_VALUE:
            return a.walk.process(primitive, (a,), {"axis": axes_of(axis, len(a.shape)), "keepdims": is_true(keepdims)})
        a = as_value(a)
        if given(where) and where is not True:
            if not given(initial):
                raise ValueError(
                    f"reduction operation '{pair.__name__}' does not have an identity, so to use a where mask "
                    "one has to specify 'initial'"
                )
            a = choose(where, a, worst)
        found = primitive(a, axis=axes_of(axis, ndim_of(a)), keepdims=is_true(keepdims))
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
    """`np.prod`: right at zeros in every order."""
    a = same_dtype(as_value(a), dtype)
    if given(where) and where is not True:
        a = choose(where, a, 1)
    total = product.prod(a, axis=axes_of(axis, ndim_of(a)), keepdims=is_true(keepdims))
    return deliver(total * initial if given(initial) else total, out)


def by_halves(ufunc: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    """Reduce with an associative ufunc, pairs first: as many steps as the length has binary digits."""
    axes, shape = axes_of(axis, ndim_of(a)), shape_of(a)
    rest = [i for i in range(len(shape)) if i - len(shape) not in axes]
    length = int(np.prod([shape[i] for i in axes]))
    if len(shape) > 1:
        a = np.transpose(a, [i + len(shape) for i in axes] + rest)
    line = np.reshape(a, (length, *[shape[i] for i in rest]))
    while (n := shape_of(line)[0]) > 1:
        paired = ufunc(line[0 : n - n % 2 : 2], line[1::2])
        line = np.concatenate([paired, line[n - 1 :]], 0) if n % 2 else paired
    if length:
        total = line[0]
    elif ufunc.identity is None:
        raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no identity")
    else:
        total = np.full(shape_of(line)[1:], ufunc.identity, dtype_of(a))
    wide = tuple([1 if i - len(shape) in axes else n for i, n in enumerate(shape)])
    return np.reshape(total, wide) if is_true(keepdims) else total


def scanned(ufunc: Any, a: Any, axis: int) -> Any:
    """Accumulate with an associative ufunc: after each round every element has absorbed twice as many before it."""
    line, distance = np.moveaxis(a, axis, 0), 1
    while distance < shape_of(line)[0]:
        line = np.concatenate([line[:distance], ufunc(line[:-distance], line[distance:])], 0)
        distance *= 2
    return np.moveaxis(line, 0, axis)


@implements(np.cumprod)
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """`np.cumprod`: right at zeros in every order."""
    a = same_dtype(as_value(a), dtype)
    a, axis = (np.reshape(a, (-1,)), 0) if axis is None else (a, axis)
    return deliver(scanned(np.multiply, a, axis_of(axis, ndim_of(a))), out)


def _cumulative(accumulate: Any, first: int) -> Any:
    def run(x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False) -> Any:
        if axis is None:
            if ndim_of(x) != 1:
                raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
            axis = 0
        found = accumulate(x, axis, dtype)
        if include_initial:
            shape = list(shape_of(found))
            shape[axis] = 1
            found = np.concatenate([np.full(shape, first, dtype_of(found)), found], axis)
        return deliver(found, out)

    return run


implements(np.cumulative_sum)(_cumulative(np.cumsum, 0))
implements(np.cumulative_prod)(_cumulative(np.cumprod, 1))


def _constant(primitive: Any) -> Any:
    def reduce(a: Any, axis: Any = None, out: Any = None, keepdims: Any = NO_VALUE, **rest: Any) -> Any:
        a = as_value(a)
        if given(rest.get("where")):
            a = np.where(rest["where"], a, primitive.name == "all")
        return deliver(primitive(a, axis=axes_of(axis, ndim_of(a)), keepdims=is_true(keepdims)), out)

    return reduce


implements(np.any)(_constant(ops.any))
implements(np.all)(_constant(ops.all))


def _place(primitive: Any) -> Any:
    def find(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
        a = as_value(a)
        if axis is None:
            found = primitive(np.reshape(a, (-1,)), axis=-1, keepdims=False)
            return deliver(np.reshape(found, (1,) * ndim_of(a)) if is_true(keepdims) else found, out)
        return deliver(primitive(a, axis=axis_of(axis, ndim_of(a)), keepdims=is_true(keepdims)), out)

    return find


implements(np.argmax)(_place(ops.argmax))
implements(np.argmin)(_place(ops.argmin))


@implements(np.argsort)
def argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    """`np.argsort`."""
    a, axis = (np.reshape(a, (-1,)), -1) if axis is None else (a, axis)
    return ops.argsort(a, axis=axis_of(axis, ndim_of(a)))
