"""Sums, running sums, largest and smallest elements, orders."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.values import may_hold, raw, shape_of, spread
from ..rules.linear import Linear
from ..rules.reducing import Reducing, widened
from ..rules.stacking import leading
from .declare import CONSTANT, declare
from .shape import flip

Axes = tuple[int, ...]


def _sum(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    return np.add.reduce(x, axis=axis, keepdims=keepdims)


sum = declare(
    "sum",
    _sum,
    Linear(lambda g, out, x, *, axis, keepdims: spread(widened(g, x, axis), shape_of(x)), structural=True),
    stacking=leading,
)
cumsum = declare(
    "cumsum",
    lambda x, *, axis: np.cumsum(x, axis),
    Linear(lambda g, out, x, *, axis: flip(cumsum(flip(g, axis=(axis,)), axis=axis), axis=(axis,)), structural=True),
    stacking=leading,
)


def _extreme(out: Any, x: Any, *, axis: Axes, keepdims: bool) -> Any:
    best = widened(out, x, axis)
    hit = np.equal(x, best)
    if type(hit) is np.ndarray and np.count_nonzero(hit) == np.size(out) and not np.isnan(np.sum(raw(out))):
        return hit  # no ties and no nan: the mask is the share
    count = sum(hit, axis=axis, keepdims=True)
    if may_hold(count == 0):  # only nan is not equal to itself
        hit = hit | (np.isnan(x) & np.isnan(best))
        count = sum(hit, axis=axis, keepdims=True)
    return hit / count


max = declare(
    "max",
    lambda x, *, axis, keepdims: np.maximum.reduce(x, axis=axis, keepdims=keepdims),
    Reducing(_extreme),
    stacking=leading,
    note="ties are shared equally",
)
min = declare(
    "min",
    lambda x, *, axis, keepdims: np.minimum.reduce(x, axis=axis, keepdims=keepdims),
    Reducing(_extreme),
    stacking=leading,
    note="ties are shared equally",
)


def _share_of_exponential(out: Any, x: Any, *, axis: Axes, keepdims: bool) -> Any:
    """exp(x - out); where both are the same infinity, those that are share equally."""
    total = widened(out, x, axis)
    endless = np.isinf(total)
    if not may_hold(endless):
        return np.exp(x - total)
    return np.where(endless, _extreme(out, x, axis=axis, keepdims=keepdims), np.exp(x - np.where(endless, 0.0, total)))


def _logsumexp(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    top = np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf)
    base = np.where(np.isfinite(top), top, 0.0).astype(top.dtype)
    with np.errstate(divide="ignore"):  # the logarithm of an empty sum
        found = np.log(np.add.reduce(np.exp(x - base), axis=axis, keepdims=True)) + base
    return found if keepdims else np.squeeze(found, axis)[()]


logsumexp = declare("logsumexp", _logsumexp, Reducing(_share_of_exponential, selects=False), stacking=leading)

argsort = declare("argsort", lambda x, *, axis: np.argsort(x, axis, kind="stable"), CONSTANT)
argsort_down = declare(
    "argsort_down",
    lambda x, *, axis: np.argsort(x, axis, stable=True, descending=True),  # type: ignore[call-arg,call-overload]
    CONSTANT,
    note="from NumPy 2.5 on",
)
argmax = declare("argmax", lambda x, *, axis, keepdims: np.argmax(x, axis, keepdims=keepdims), CONSTANT)
argmin = declare("argmin", lambda x, *, axis, keepdims: np.argmin(x, axis, keepdims=keepdims), CONSTANT)
any = declare("any", lambda x, *, axis, keepdims: np.any(x, axis=axis, keepdims=keepdims), CONSTANT)
all = declare("all", lambda x, *, axis, keepdims: np.all(x, axis=axis, keepdims=keepdims), CONSTANT)
