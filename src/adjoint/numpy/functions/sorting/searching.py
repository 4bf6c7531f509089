"""Searching and counting, and choosing by a condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.traced import Traced
from ....core.values import decidable, is_inexact
from ....ops import places, reduction, selection
from ...dispatch.arguments import NO_VALUE, as_value, axis_of, is_true, ndim_of
from ...dispatch.assignment import deliver
from ...dispatch.registry import implements
from ..mathematical.sums import filled


def _place(primitive: Any) -> Any:
    def find(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
        a = as_value(a)
        if axis is None or (ndim_of(a) == 0 and axis_of(axis, 1)):
            found = primitive(np.reshape(a, (-1,)), axis=-1, keepdims=False)
            return deliver(np.reshape(found, (1,) * ndim_of(a)) if is_true(keepdims) else found, out)
        return deliver(primitive(a, axis=axis_of(axis, ndim_of(a)), keepdims=is_true(keepdims)), out)

    return find


implements(np.argmax, exact=True, by_column=True)(_place(reduction.argmax))


implements(np.argmin, exact=True, by_column=True)(_place(reduction.argmin))


def _without_nan(find: Any, worst: float) -> Callable[..., Any]:
    def place(a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = NO_VALUE) -> Any:
        a = as_value(a)
        if np.any(decidable(np.all(np.isnan(a), axis))):
            raise ValueError("All-NaN slice encountered")
        return find(filled(a, worst), axis, out, keepdims=is_true(keepdims))

    return place


implements(np.nanargmax)(_without_nan(np.argmax, -np.inf))


implements(np.nanargmin)(_without_nan(np.argmin, np.inf))


@implements(np.where, exact=True)
def where(condition: Any, x: Any = NO_VALUE, y: Any = NO_VALUE, /) -> Any:
    """`np.where`."""
    if x is NO_VALUE and y is NO_VALUE:
        return np.nonzero(condition)
    if x is NO_VALUE or y is NO_VALUE:
        raise ValueError("either both or neither of x and y should be given")
    condition = as_value(condition)
    if isinstance(condition, Traced) and is_inexact(condition):
        condition = condition != 0  # its truth is piecewise constant
    return selection.where(
        condition,
        x if isinstance(x, (Traced, int)) else as_value(x),
        y if isinstance(y, (Traced, int)) else as_value(y),
    )


@implements(np.nonzero, exact=True)
def nonzero(a: Any) -> tuple[Any, ...]:
    """`np.nonzero`."""
    if ndim_of(a) == 0:
        raise ValueError("Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead.")
    return tuple(places.nonzero(as_value(a)))


@implements(np.argwhere, exact=True)
def argwhere(a: Any) -> Any:
    """`np.argwhere`."""
    a = as_value(a)
    if ndim_of(a) == 0:
        return np.argwhere(np.atleast_1d(a))[:, :0]
    return np.transpose(places.nonzero(a))


@implements(np.flatnonzero)
def flatnonzero(a: Any) -> Any:
    """`np.flatnonzero`."""
    return np.nonzero(np.ravel(as_value(a)))[0]


@implements(np.searchsorted, exact=True)
def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """`np.searchsorted`."""
    return places.searchsorted(as_value(a), as_value(v), *([] if sorter is None else [as_value(sorter)]), side=side)


@implements(np.extract)
def extract(condition: Any, arr: Any) -> Any:
    """`np.extract`."""
    return np.take(np.ravel(as_value(arr)), np.flatnonzero(condition))


@implements(np.count_nonzero, exact=True)
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """`np.count_nonzero`."""
    return np.sum(np.not_equal(as_value(a), 0), axis, dtype=np.intp, keepdims=keepdims)
