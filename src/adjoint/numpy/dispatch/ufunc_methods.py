"""The methods of universal functions: reduce, accumulate, outer, at, reduceat."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.primitive import Primitive
from ...core.values import dtype_of, shape_of
from ...ops.reduction import logsumexp
from ..functions.mathematical.sums import scanned
from .arguments import NO_VALUE, as_value, axis_of, given, is_plain_number, is_true, ndim_of, reduced_axes, same_dtype
from .assignment import deliver, store, update_at
from .lookup import implementation_of
from .ufuncs import call_with_keywords, cast_to

REDUCTIONS: dict[Any, Callable[..., Any]] = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.max,
    np.minimum: np.min,
    np.logical_and: np.all,
    np.logical_or: np.any,
}
LOGICAL = (np.logical_and, np.logical_or)
ACCUMULATIONS: dict[Any, Callable[..., Any]] = {np.add: np.cumsum, np.multiply: np.cumprod}
ASSOCIATIVE = frozenset((np.logaddexp, np.logaddexp2, np.hypot, np.fmax, np.fmin, np.maximum, np.minimum))


def reduce(primitive: Primitive, ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`np.add.reduce(x, axis)`: the named reduction, or one step after the other."""
    kwargs = _named(kwargs, inputs[1:], ("axis", "dtype", "out", "keepdims", "initial", "where"))
    kwargs["axis"] = kwargs.get("axis", 0)
    x = as_value(inputs[0])
    if ufunc in (np.maximum, np.minimum):
        x = same_dtype(x, kwargs.pop("dtype", None))
    if ufunc in REDUCTIONS:
        if ufunc in LOGICAL:
            kwargs.pop("dtype", None)  # which can be that of truth values only
        ours: Any = implementation_of(REDUCTIONS[ufunc])  # NumPy's would not find it by a mask or an `out=`
        return ours(x, **kwargs)
    x = _operand(ufunc, x, kwargs.get("dtype"))
    axis, keepdims, out = kwargs["axis"], is_true(kwargs.get("keepdims")), kwargs.get("out")
    where, initial = kwargs.get("where", True), kwargs.get("initial", NO_VALUE)
    if not given(initial) and given(where) and where is not True:
        initial = ufunc.identity
        if initial is None:
            raise ValueError(
                f"reduction operation '{ufunc.__name__}' does not have an identity, so to use a where mask one has to "
                "specify 'initial'"
            )
    if ufunc in ASSOCIATIVE and (not given(where) or where is True) and np.prod(shape_of(x)):
        if ufunc is np.logaddexp:
            found = logsumexp(x, axis=reduced_axes(axis, ndim_of(x)), keepdims=keepdims)
        else:
            found = by_halves(ufunc, x, axis, keepdims)
        return deliver(ufunc(cast_to(initial, dtype_of(x)), found) if given(initial) else found, out)
    axes = reduced_axes(axis, ndim_of(x))
    if len(axes) > 1 and ufunc not in ASSOCIATIVE:
        raise ValueError(
            f"reduction operation '{ufunc.__name__}' is not reorderable, so at most one axis may be specified"
        )
    return deliver(_folded(ufunc, x, axes, keepdims, initial, where), out)


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


def _folded(ufunc: Any, x: Any, axes: tuple[int, ...], keepdims: bool, initial: Any, where: Any) -> Any:
    """Reduce one element after the other, in NumPy's order."""
    shape = shape_of(x)
    rest = [i for i in range(len(shape)) if i - len(shape) not in axes]
    order = [i + len(shape) for i in axes] + rest
    kept = tuple([shape[i] for i in rest])

    def lined(v: Any) -> Any:
        return np.reshape(np.transpose(v, order), (math.prod([shape[i] for i in axes]), *kept))

    steps = lined(x)
    mask = None if not given(where) or where is True else lined(np.broadcast_to(where, shape))
    count, first = shape_of(steps)[0], 0
    if given(initial):
        total = np.broadcast_to(cast_to(initial, dtype_of(x)), kept)
    elif count:
        total, first = steps[0], 1
    elif ufunc.identity is None:
        raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no identity")
    else:
        total = np.full(kept, ufunc.identity, dtype_of(x))
    for i in range(first, count):
        joined = ufunc(total, steps[i])
        total = joined if mask is None else np.where(mask[i], joined, total)
    wide = tuple([1 if i - len(shape) in axes else n for i, n in enumerate(shape)])
    return np.reshape(total, wide) if keepdims else total


def accumulate(primitive: Primitive, ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`np.add.accumulate(x, axis)`."""
    kwargs = _named(kwargs, inputs[1:], ("axis", "dtype", "out"))
    axis, out = kwargs.get("axis", 0), kwargs.get("out")
    x = as_value(inputs[0])
    if ufunc not in ACCUMULATIONS:
        x = _operand(ufunc, x, kwargs.get("dtype"))
    x = same_dtype(x, kwargs.get("dtype"))
    axis = _one_axis(axis, x)
    if ufunc in ACCUMULATIONS:
        return deliver(ACCUMULATIONS[ufunc](x, axis), out)
    if ufunc in ASSOCIATIVE:
        return deliver(scanned(ufunc, x, axis_of(axis, ndim_of(x))), out)
    steps = np.moveaxis(x, axis, 0)
    totals = [steps[0]]
    for i in range(1, shape_of(steps)[0]):
        totals.append(primitive(totals[-1], steps[i]))
    return deliver(np.moveaxis(np.stack(totals), 0, axis), out)


def _operand(ufunc: Any, x: Any, dtype: Any) -> Any:
    """The array in the dtype in which it is reduced; integers become what the function makes of them."""
    if given(dtype) or ufunc is np.ldexp:
        return same_dtype(x, dtype)
    return same_dtype(x, ufunc.resolve_dtypes((dtype_of(x), dtype_of(x), None))[-1])


def _one_axis(axis: Any, x: Any) -> int:
    """The axis to go along, which may be left open if there is one only."""
    if ndim_of(x) == 0:
        raise TypeError("cannot go along a scalar")
    axis = 0 if axis is None and ndim_of(x) == 1 else axis
    return axis_of(axis[0] if type(axis) is tuple and len(axis) == 1 else axis, ndim_of(x))


def outer(primitive: Primitive, ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`np.multiply.outer(x, y)`: every element with every other."""
    x, y = (np.asarray(v) if is_plain_number(v) else as_value(v) for v in inputs)
    wide = np.reshape(x, shape_of(x) + (1,) * ndim_of(y))
    return call_with_keywords(primitive, ufunc, (wide, y), kwargs)


def at(primitive: Primitive, ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """`np.add.at(y, i, v)`: update in place, repeated indices one after the other."""
    target, key, *rest = inputs
    store(target, update_at(primitive, ufunc, target, key, *[as_value(r) for r in rest]))


def reduceat(primitive: Primitive, ufunc: Any, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`np.add.reduceat(x, starts, axis)`: reduce slices."""
    kwargs = _named(kwargs, inputs[2:], ("axis", "dtype", "out"))
    x, starts = as_value(inputs[0]), [int(i) for i in inputs[1]]
    x, axis = same_dtype(x, kwargs.get("dtype")), _one_axis(kwargs.get("axis", 0), x)
    steps = np.moveaxis(x, axis, 0)
    if not starts:
        empty = same_dtype(steps[:0], ufunc.reduce(np.ones(1, dtype_of(x))).dtype)
        return deliver(np.moveaxis(empty, 0, axis), kwargs.get("out"))
    stops = [*starts[1:], shape_of(steps)[0]]
    parts = [
        reduce(primitive, ufunc, (steps[a:b],), {"axis": 0}) if a < b else steps[a]
        for a, b in zip(starts, stops, strict=True)
    ]
    return deliver(np.moveaxis(np.stack(parts), 0, axis), kwargs.get("out"))


METHODS: dict[str, Callable[..., Any]] = {
    "reduce": reduce,
    "accumulate": accumulate,
    "outer": outer,
    "at": at,
    "reduceat": reduceat,
}


def _named(kwargs: dict[str, Any], positional: tuple[Any, ...], names: tuple[str, ...]) -> dict[str, Any]:
    return {**dict(zip(names, positional, strict=False)), **kwargs}
