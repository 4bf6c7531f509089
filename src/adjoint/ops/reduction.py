"""Sums, running sums, largest and smallest elements, orders."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.entry.algebra import Monoid
from ..core.entry.facts import EMBEDDED, Form
from ..core.primitive import Primitive
from ..core.singular.finite import all_finite
from ..core.traced import ARRAY
from ..core.values import LARGE, may_hold, shape_of, spread
from ..rules.linear import Linear
from ..rules.reducing import Reducing, widened
from ..rules.stacking import leading
from . import costs
from .declare import CONSTANT, declare
from .shape import flip

Axes = tuple[int, ...]


_add = np.add.reduce


def _sum(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    return _add(x, axis=axis, keepdims=keepdims)


def _of_sum(primitive: Primitive, g: Any, out: Any, args: Any, params: Any, needed: Any) -> tuple[Any]:
    """`Rule.pull`, the short way for what goes to all elements of a small array as it is."""
    (x,) = args
    if type(x) is not ARRAY or x.size > LARGE or (type(g) is not float and (type(g) is not ARRAY or g.ndim != x.ndim)):
        return (spread(widened(g, x, params["axis"]), shape_of(x)),)
    found = np.empty(x.shape, g.dtype if type(g) is ARRAY else x.dtype)
    found[...] = g
    return (found,)


sum = declare(
    "sum",
    _sum,
    Linear(
        lambda g, out, x, *, axis, keepdims: spread(widened(g, x, axis), shape_of(x)),
        structural=True,
        together=_of_sum,
    ),
    stacking=leading,
    reduces=Monoid(np.add),
    form=Form(source="np.sum({0}{along})"),
)
cumsum = declare(
    "cumsum",
    lambda x, *, axis: np.cumsum(x, axis),
    Linear(lambda g, out, x, *, axis: flip(cumsum(flip(g, axis=(axis,)), axis=axis), axis=(axis,)), structural=True),
    stacking=leading,
    accumulates=Monoid(np.add),
    form=Form(source="np.cumsum({0}, {axis})"),
)


def _extreme(out: Any, x: Any, *, axis: Axes, keepdims: bool) -> Any:
    best = widened(out, x, axis)
    hit = np.equal(x, best)
    if type(hit) is ARRAY and np.count_nonzero(hit) == getattr(out, "size", 1) and all_finite([out]):
        return hit  # no ties and no nan: the mask is the share
    count = sum(hit, axis=axis, keepdims=True)
    if may_hold(count == 0):  # only nan is not equal to itself
        hit = hit | (np.isnan(x) & np.isnan(best))
        count = sum(hit, axis=axis, keepdims=True)
    return hit / count


max = declare(
    "max",
    lambda x, *, axis, keepdims: np.maximum.reduce(x, axis=axis, keepdims=keepdims),
    Reducing(_extreme, selects=True),
    stacking=leading,
    reduces=Monoid(np.maximum),
    note="ties are shared equally",
    form=Form(source="np.max({0}{along})"),
)
min = declare(
    "min",
    lambda x, *, axis, keepdims: np.minimum.reduce(x, axis=axis, keepdims=keepdims),
    Reducing(_extreme, selects=True),
    stacking=leading,
    reduces=Monoid(np.minimum),
    note="ties are shared equally",
    form=Form(source="np.min({0}{along})"),
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


def _logsumexp_in_steps(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    """The same in operations that have machine code; the largest element of nothing is an error, so not for that."""
    top = max(x, axis=axis, keepdims=True)
    base = np.where(np.isfinite(top), top, 0.0)
    found = np.log(sum(np.exp(x - base), axis=axis, keepdims=True)) + base
    return found if keepdims else np.squeeze(found, axis)


def _logsumexp_by_elements(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    powers = np.frompyfunc(np.exp, 1, 1)(x[None])  # with an axis in front these are arrays, whatever is left
    found = np.frompyfunc(np.log, 1, 1)(np.sum(powers, axis=axis, keepdims=keepdims))
    np.frompyfunc(lambda e: bool(np.isfinite(e)), 1, 1)(found)  # a guard: elsewhere this formula may overflow
    return found[0]


logsumexp = declare(
    "logsumexp",
    _logsumexp,
    Reducing(_share_of_exponential, selects=False),
    stacking=leading,
    form=Form(source=EMBEDDED),
    composition=_logsumexp_in_steps,
    cost=lambda takes, gives, params: 4 * takes[0].size + 2 * gives[0].size,
    by_elements=_logsumexp_by_elements,
)

argsort = declare(
    "argsort",
    lambda x, *, axis: np.argsort(x, axis, kind="stable"),
    CONSTANT,
    form=Form(source="np.argsort({0}, {axis}, kind='stable')"),
    cost=costs.sort,
)
argsort_down = declare(
    "argsort_down",
    lambda x, *, axis: np.argsort(x, axis, stable=True, descending=True),  # type: ignore[call-arg,call-overload]
    CONSTANT,
    note="from NumPy 2.5 on",
    form=Form(source="np.argsort({0}, {axis}, stable=True, descending=True)"),
    cost=costs.sort,
)
argmax = declare(
    "argmax",
    lambda x, *, axis, keepdims: np.argmax(x, axis, keepdims=keepdims),
    CONSTANT,
    form=Form(source="np.argmax({0}{along})"),
    cost=costs.each_element,
)
argmin = declare(
    "argmin",
    lambda x, *, axis, keepdims: np.argmin(x, axis, keepdims=keepdims),
    CONSTANT,
    form=Form(source="np.argmin({0}{along})"),
    cost=costs.each_element,
)
any = declare(
    "any",
    lambda x, *, axis, keepdims: np.any(x, axis=axis, keepdims=keepdims),
    CONSTANT,
    reduces=Monoid(np.logical_or),
    form=Form(source="np.any({0}{along})"),
)
all = declare(
    "all",
    lambda x, *, axis, keepdims: np.all(x, axis=axis, keepdims=keepdims),
    CONSTANT,
    reduces=Monoid(np.logical_and),
    form=Form(source="np.all({0}{along})"),
)
