"""The product of many factors: right where some are zero, in every order, because nothing is divided."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.entry.algebra import Monoid
from ..core.entry.facts import EMBEDDED, Form
from ..core.forward import ForwardTrace
from ..core.traced import Traced, is_differentiated
from ..core.values import dtype_of, may_hold, shape_of, zeros_for
from ..rules.opaque import Opaque
from ..rules.reducing import widened
from .declare import declare
from .reduction import Axes
from .reduction import sum as total


def _prod_pushed(tangents: Any, out: Any, args: Any, params: dict[str, Any]) -> Any:
    t, others = tangents[0], product_of_others(args[0], axis=params["axis"])
    return total(_without_overflow(t, others), **params)


def _without_overflow(t: Any, others: Any) -> Any:
    """The tangents times the products of the others; one that is too large does not spoil what does not move."""
    still = np.equal(t, 0) & np.isinf(others)
    if is_differentiated(t) or not may_hold(still):
        return t * others
    return np.where(still, 0.0, t * others)


def _prod_pulled(g: Any, out: Any, args: Any, params: dict[str, Any], needed: Any) -> list[Any]:
    return [widened(g, args[0], params["axis"]) * product_of_others(args[0], axis=params["axis"])]


prod = declare(
    "prod",
    lambda x, *, axis, keepdims: np.multiply.reduce(x, axis=axis, keepdims=keepdims),
    Opaque(jvp=_prod_pushed, vjp=_prod_pulled, exact=True),
    note="right at zeros in every order",
    reduces=Monoid(np.multiply),
    form=Form(source="np.prod({0}{along})"),
)


def _product_of_others(x: Any, *, axis: Axes) -> Any:
    """For each element the product of all others along the axes: of those before it and those after it."""
    places = tuple(range(len(axis)))
    line = np.moveaxis(x, axis, places)
    flat = line.reshape((math.prod(line.shape[: len(axis)]), *line.shape[len(axis) :]))
    before, after = np.ones_like(flat), np.ones_like(flat)
    np.cumprod(flat[:-1], axis=0, out=before[1:])
    np.cumprod(flat[:0:-1], axis=0, out=after[-2::-1])
    return np.moveaxis((before * after).reshape(line.shape), places, axis)


def _others_pushed(tangents: Any, out: Any, args: Any, params: dict[str, Any]) -> Any:
    trace = ForwardTrace()
    found = others_by_halves(Traced(args[0], trace, tangents[0]), params["axis"])
    return found.node if isinstance(found, Traced) and found.traced_by is trace else zeros_for(out)


product_of_others = declare(
    "product_of_others",
    _product_of_others,
    Opaque(jvp=_others_pushed, exact=True),
    form=Form(source=EMBEDDED),
    cost=lambda takes, gives, params: 3 * takes[0].size,
)


def others_by_halves(x: Any, axis: Axes) -> Any:
    """The same products as a composition that can be differentiated, in as many steps as binary digits."""
    rank = len(shape_of(x))
    order = [i + rank for i in axis] + [i for i in range(rank) if i - rank not in axis]
    line = np.transpose(x, order)
    shape = shape_of(line)
    found = _others_along_first(np.reshape(line, (math.prod(shape[: len(axis)]), *shape[len(axis) :])))
    return np.transpose(np.reshape(found, shape), [order.index(i) for i in range(rank)])


def _others_along_first(line: Any) -> Any:
    """Of neighbours, each has the other and what is around the pair."""
    length, rest = shape_of(line)[0], shape_of(line)[1:]
    if length < 2:
        return np.ones((length, *rest), dtype_of(line))
    even, odd, last = line[0 : length - length % 2 : 2], line[1::2], line[length - length % 2 :]
    pairs = even * odd
    around = _others_along_first(np.concatenate([pairs, last], 0) if length % 2 else pairs)
    count = length // 2
    joined = np.reshape(np.stack([around[:count] * odd, around[:count] * even], 1), (2 * count, *rest))
    return np.concatenate([joined, around[count:]], 0) if length % 2 else joined
