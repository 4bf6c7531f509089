"""Mathematical functions: sums and products, with and without nan."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.traced import Traced
from ....core.values import dtype_of, shape_of
from ....ops import product, reduction
from ....ops.selection import where as choose
from ...dispatch.arguments import (
    NO_VALUE,
    along,
    as_value,
    axis_of,
    given,
    is_true,
    ndim_of,
    of_reduction,
    reduced_axes,
    same_dtype,
)
from ...dispatch.assignment import deliver
from ...dispatch.registry import implements


@implements(np.sum, exact=True, by_column=True)
def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE, where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """`np.sum`."""
    if isinstance(a, Traced) and dtype is None and out is None and initial is NO_VALUE and where is NO_VALUE:
        return a.traced_by.process(reduction.sum, (a,), of_reduction(axis, a, keepdims))
    a = same_dtype(as_value(a), dtype)
    if given(where) and where is not True:
        a = choose(where, a, 0)
    total = reduction.sum(a, axis=reduced_axes(axis, ndim_of(a)), keepdims=is_true(keepdims))
    return deliver(same_dtype(total + initial if given(initial) else total, dtype), out)


@implements(np.prod, by_column=True)
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


@implements(np.cumsum, exact=True, by_column=True)
def cumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """`np.cumsum`."""
    a, axis = along(same_dtype(as_value(a), dtype), axis)
    return deliver(same_dtype(reduction.cumsum(a, axis=axis), dtype), out)


@implements(np.cumprod, by_column=True)
def cumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """`np.cumprod`: right at zeros in every order."""
    a = as_value(a)
    if dtype is None and dtype_of(a).kind in "biu":
        dtype = np.multiply.reduce(np.ones(1, dtype_of(a))).dtype  # small integers are multiplied as large ones
    a, axis = along(same_dtype(a, dtype), axis)
    return deliver(same_dtype(scanned(np.multiply, a, axis), dtype), out)


def scanned(ufunc: Any, a: Any, axis: int) -> Any:
    """Accumulate with an associative ufunc: after each round every element has absorbed twice as many before it."""
    line, distance = np.moveaxis(a, axis, 0), 1
    while distance < shape_of(line)[0]:
        line = np.concatenate([line[:distance], ufunc(line[:-distance], line[distance:])], 0)
        distance *= 2
    return np.moveaxis(line, 0, axis)


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


def filled(a: Any, fill: Any) -> Any:
    """The array with a number in the place of each nan."""
    return np.where(np.isnan(a), fill, a)


@implements(np.nansum)
def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE, where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """`np.nansum`."""
    return np.sum(filled(as_value(a), 0), axis, dtype, out, keepdims, initial, where)


@implements(np.nanprod)
def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = NO_VALUE,
    initial: Any = NO_VALUE, where: Any = NO_VALUE,
) -> Any:  # fmt: skip
    """`np.nanprod`."""
    return np.prod(filled(as_value(a), 1), axis, dtype, out, keepdims, initial, where)


@implements(np.nancumsum)
def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """`np.nancumsum`."""
    return np.cumsum(filled(as_value(a), 0), axis, dtype, out)


@implements(np.nancumprod)
def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    """`np.nancumprod`."""
    return np.cumprod(filled(as_value(a), 1), axis, dtype, out)
