"""NumPy's sums, products, means and extremes."""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from ..core.traced import Traced
from ..core.values import dtype_of, shape_of
from ..ops import product
from ..ops import reduction as ops
from ..ops.selection import where as choose
from .registry import NO_VALUE, as_value, axes_of, axis_of, deliver, given, implements, is_true, ndim_of, reduced_axes
from .shapes import same_dtype


@implements(np.sum)
def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE, where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """`np.sum`."""
    if isinstance(a, Traced) and dtype is None and out is None and initial is NO_VALUE and where is NO_VALUE:
        return a.walk.process(ops.sum, (a,), {"axis": reduced_axes(axis, len(a.shape)), "keepdims": is_true(keepdims)})
    a = same_dtype(as_value(a), dtype)
    if given(where) and where is not True:
        a = choose(where, a, 0)
    total = ops.sum(a, axis=reduced_axes(axis, ndim_of(a)), keepdims=is_true(keepdims))
    return deliver(same_dtype(total + initial if given(initial) else total, dtype), out)


@implements(np.mean)
def mean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE, *, where: Any = NO_VALUE
) -> Any:
    """`np.mean`; half precision is summed in single precision, as NumPy does."""
    a = as_value(a)
    half = dtype_of(a).char == "e" and not given(dtype)
    total = sum(a, axis, np.float32 if half else dtype, None, keepdims, where=where)
    found = total / count(total, a, axis, keepdims, where)
    return deliver(same_dtype(found, np.float16 if half else dtype), out)


def count(total: Any, a: Any, axis: Any, keepdims: Any, where: Any, ddof: float = 0) -> Any:
    """How many elements a reduction sees, less `ddof`, as a number that does not widen the total."""
    shape = shape_of(a)
    if not given(where) or where is True:
        seen = math.prod([shape[i] for i in axes_of(axis, len(shape))])
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
    a = as_value(a)
    ddof = freedom_lost(ddof, correction)
    dtype = np.float64 if dtype is None and dtype_of(a).kind in "biu" else dtype
    center = mean if given(mean) else np.mean(a, axis, dtype, keepdims=True, where=where)
    total = np.sum(squared(a - center, a), axis, dtype, keepdims=keepdims, where=where)
    return deliver(same_dtype(total / count(total, a, axis, keepdims, where, ddof), dtype), out)


def freedom_lost(ddof: float, correction: Any) -> Any:
    """By how much the count is lowered, which has two names."""
    if given(correction) and ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction if given(correction) else ddof


def squared(gap: Any, a: Any) -> Any:
    """The squares of differences; those of complex data are real."""
    return np.real(gap) ** 2 + np.imag(gap) ** 2 if dtype_of(a).kind == "c" else gap**2


@implements(np.std)
def std(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: Any = NO_VALUE, **rest: Any
) -> Any:
    """`np.std`; its slope is 0 where all elements are equal."""
    found = np.var(a, axis, dtype, None, ddof, keepdims, **rest)
    if given(dtype) and np.dtype(dtype).kind not in "fc" and ndim_of(found):
        raise TypeError(f"Cannot cast ufunc 'sqrt' output to {np.dtype(dtype)!r} with casting rule 'same_kind'")
    return deliver(same_dtype(np.sqrt(found), dtype), out)


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
            return a.walk.process(
                primitive, (a,), {"axis": reduced_axes(axis, len(a.shape)), "keepdims": is_true(keepdims)}
            )
        a = as_value(a)
        kind = dtype_of(a)
        if given(initial) and np.iscomplexobj(initial) and kind.kind not in "cb":
            raise TypeError(f"argument must be a string or a real number, not {type(initial).__name__!r}")
        if given(initial) and kind.kind in "biu":
            initial = kind.type(initial)
        if given(where) and where is not True:
            if not given(initial):
                raise ValueError(
                    f"reduction operation '{pair.__name__}' does not have an identity, so to use a where mask "
                    "one has to specify 'initial'"
                )
            a = choose(where, a, worst)
        found = primitive(a, axis=reduced_axes(axis, ndim_of(a)), keepdims=is_true(keepdims))
        return deliver(same_dtype(pair(found, initial), kind) if given(initial) else found, out)

    return reduce


implements(np.max, np.amax)(_extreme(ops.max, np.maximum, -np.inf))
implements(np.min, np.amin)(_extreme(ops.min, np.minimum, np.inf))


@implements(np.cumsum)
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """`np.cumsum`."""
    a, axis = _line(same_dtype(as_value(a), dtype), axis)
    return deliver(same_dtype(ops.cumsum(a, axis=axis), dtype), out)


def _line(a: Any, axis: Any) -> tuple[Any, int]:
    """The array and the axis to go along; the elements in a row for None, and a row of one for a number."""
    a = np.reshape(a, (-1,)) if axis is None or ndim_of(a) == 0 else a
    return a, axis_of(0 if axis is None else axis, ndim_of(a))


@implements(np.prod)
def prod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE, where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """`np.prod`: right at zeros in every order."""
    a = same_dtype(as_value(a), dtype)
    if given(where) and where is not True:
        a = choose(where, a, 1)
    total = product.prod(a, axis=reduced_axes(axis, ndim_of(a)), keepdims=is_true(keepdims))
    return deliver(same_dtype(total * initial if given(initial) else total, dtype), out)


def by_halves(ufunc: Any, a: Any, axis: Any, keepdims: Any) -> Any:
    """Reduce with an associative ufunc, pairs first: as many steps as the length has binary digits."""
    axes, shape = reduced_axes(axis, ndim_of(a)), shape_of(a)
    rest = [i for i in range(len(shape)) if i - len(shape) not in axes]
    length = math.prod([shape[i] for i in axes])
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
    a = as_value(a)
    if dtype is None and dtype_of(a).kind in "biu":
        dtype = np.multiply.reduce(np.ones(1, dtype_of(a))).dtype  # small integers are multiplied as large ones
    a, axis = _line(same_dtype(a, dtype), axis)
    return deliver(same_dtype(scanned(np.multiply, a, axis), dtype), out)


def _cumulative(accumulate: Any, first: int) -> Any:
    def run(x: Any, /, *, axis: Any = None, dtype: Any = None, out: Any = None, include_initial: bool = False) -> Any:
        x = np.atleast_1d(as_value(x))
        if axis is None:
            if ndim_of(x) != 1:
                raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
            axis = 0
        axis = axis_of(axis[0] if type(axis) is tuple and len(axis) == 1 else axis, ndim_of(x))
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
        return deliver(primitive(a, axis=reduced_axes(axis, ndim_of(a)), keepdims=is_true(keepdims)), out)

    return reduce


implements(np.any)(_constant(ops.any))
implements(np.all)(_constant(ops.all))


def _place(primitive: Any) -> Any:
    def find(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
        a = as_value(a)
        if axis is None or (ndim_of(a) == 0 and axis_of(axis, 1)):
            found = primitive(np.reshape(a, (-1,)), axis=-1, keepdims=False)
            return deliver(np.reshape(found, (1,) * ndim_of(a)) if is_true(keepdims) else found, out)
        return deliver(primitive(a, axis=axis_of(axis, ndim_of(a)), keepdims=is_true(keepdims)), out)

    return find


implements(np.argmax)(_place(ops.argmax))
implements(np.argmin)(_place(ops.argmin))


@implements(np.argsort)
def argsort(
    a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None, descending: Any = NO_VALUE
) -> Any:
    """`np.argsort`."""
    a, axis = _line(as_value(a), axis)
    if kind is not None and str(kind)[:1].lower() not in ("q", "h", "s", "m"):
        raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})")
    return ops.argsort_down(a, axis=axis) if is_true(descending) else ops.argsort(a, axis=axis)
