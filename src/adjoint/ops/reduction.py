"""Sums, running sums, largest and smallest elements, orders."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.values import shape_of, spread
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
    hit = np.equal(x, best) | (np.isnan(x) & np.isnan(best))
    return hit / sum(hit, axis=axis, keepdims=True)


max = declare(
    "max",
    lambda x, *, axis, keepdims: np.max(x, axis=axis, keepdims=keepdims),
    Reducing(_extreme),
    stacking=leading,
    note="ties are shared equally",
)
min = declare(
    "min",
    lambda x, *, axis, keepdims: np.min(x, axis=axis, keepdims=keepdims),
    Reducing(_extreme),
    stacking=leading,
    note="ties are shared equally",
)

argsort = declare("argsort", lambda x, *, axis: np.argsort(x, axis, kind="stable"), CONSTANT)
argmax = declare("argmax", lambda x, *, axis, keepdims: np.argmax(x, axis, keepdims=keepdims), CONSTANT)
argmin = declare("argmin", lambda x, *, axis, keepdims: np.argmin(x, axis, keepdims=keepdims), CONSTANT)
any = declare("any", lambda x, *, axis, keepdims: np.any(x, axis=axis, keepdims=keepdims), CONSTANT)
all = declare("all", lambda x, *, axis, keepdims: np.all(x, axis=axis, keepdims=keepdims), CONSTANT)
