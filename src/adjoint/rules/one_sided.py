"""Series on one side of a point: there |s| is s or -s, a root of s squared too, and of tied values one is the larger.

Where a function has no series by the rules of its steps, it may have one on each side, and if these are the same, it is
smooth. All coefficients of the arguments have to be known, so steps inside other rules have no sides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.series import Coefficient, Expansion, Next
from ..core.values import dtype_of, may_hold, shape_of, zeros_for
from .residuals import like

SURE = 1e-10
"""A coefficient that decides on a sign is larger than that of all that follow, or it may be rounding."""
Sided = Callable[[Expansion, Next], Next]
"""A fact `sided`: the series on the side of the trace, given what is found at ordinary points."""


def has_any(step: Expansion) -> bool:
    """Whether a step can be expanded on each side."""
    return step.primitive.facts.sided is not None and is_settled(step)


def is_settled(step: Expansion) -> bool:
    """Whether all coefficients of the arguments are known, which are not inside another rule."""
    return all([row is None or row.find is None for row in step.rows])


def known(step: Expansion, j: int) -> Any:
    """All coefficients of an argument, the order first; None if they are still being found, or complex."""
    row, value = step.rows[j], step.values[j]
    if dtype_of(value).kind != "f" or not is_settled(step):
        return None
    zero = zeros_for(value)
    rest = [None if row is None else row.at(k) for k in range(1, step.trace.order + 1)]
    return np.stack([value, *[zero if c is None else c for c in rest]])


def lead(x: Any) -> tuple[Any, Any, Any]:
    """The order and value of the first coefficient that is not 0 (one more than there are, if all are); is it sure?"""
    order = np.argmax(np.not_equal(x, 0), axis=0)
    first = np.take_along_axis(x, order[None], axis=0)[0]
    order = np.where(np.equal(first, 0), len(x), order)
    return order, first, np.abs(first) >= SURE * largest(x)


def largest(x: Any) -> Any:
    """The size of the largest of all coefficients that are known."""
    return np.max(np.where(np.isnan(x), 0.0, np.abs(x)), axis=0)


def turned(side: int, order: Any) -> Any:
    """The sign of s to a power on one side."""
    return np.where(np.equal(order % 2, 0), 1.0, float(side))


def absolute(step: Expansion, find: Next) -> Next:
    """Of |x|: x or -x, as its first coefficient says."""
    x = known(step, 0)
    if x is None:
        return find
    order, first, is_sure = lead(x)
    sign = np.where(is_sure, np.sign(first) * turned(step.trace.side, order), np.nan)
    return lambda k: like(sign * x[k], step.out)


def root(step: Expansion, find: Next) -> Next:
    """Of the square root of x."""
    x = known(step, 0)
    return find if x is None else raised(step, find, x, 0.5)


def hypotenuse(step: Expansion, find: Next) -> Next:
    """Of the root of x x + y y."""
    x, y = known(step, 0), known(step, 1)
    if x is None or y is None:
        return find
    squares = [sum([x[i] * x[k - i] + y[i] * y[k - i] for i in range(k + 1)]) for k in range(len(x))]
    return raised(step, find, np.stack(squares), 0.5)


def power(step: Expansion, find: Next) -> Next:
    """Of x to a constant power that is not whole."""
    x, exponent = known(step, 0), step.values[1]
    if x is None or step.rows[1] is not None or type(exponent) is not float or exponent <= 0.0:
        return find
    return raised(step, find, x, exponent)


def raised(step: Expansion, find: Next, x: Any, exponent: float) -> Next:
    """x = s**m z, where the power of z is found as usual, and |s| to a whole power is a power of s on one side."""
    last, zero = len(x) - 1, np.equal(x[0], 0)
    if not may_hold(zero):
        return find
    order, first, is_sure = lead(x)
    found = [np.where((order > last) & (k < exponent * (last + 1)), 0.0, np.nan) for k in range(1, last + 1)]
    for m in range(2, last + 1, 2):  # of an odd order, x is negative on one side
        whole = exponent * m
        here = zero & is_sure & np.equal(order, m) & (first > 0.0)
        if whole != int(whole) or not may_hold(here):
            continue
        z = [np.where(here, x[m], 1.0), *x[m + 1 :]]
        w, start = powers(z, exponent), int(whole)
        for k in range(1, last + 1):
            j = k - start
            c = 0.0 if j < 0 else np.nan if j >= len(w) else w[j] * float(step.trace.side) ** start
            found[k - 1] = np.where(here, c, found[k - 1])
    return lambda k: like(np.where(zero, found[k - 1], _or_zero(find(k))), step.out)


def powers(z: list[Any], exponent: float) -> list[Any]:
    """The coefficients of z to a power, whose first one is not 0: z w' = exponent w z'."""
    w = [z[0] ** exponent]
    for k in range(1, len(z)):
        total = sum([((exponent + 1.0) * j - k) * z[j] * w[k - j] for j in range(1, k + 1)])
        w.append(total / (k * z[0]))
    return w


def _or_zero(c: Coefficient) -> Any:
    return 0.0 if c is None else c


def picked(step: Expansion, weights: Callable[..., list[Any]], find: Next, tied: Any) -> Next:
    """Of tied values the one that is larger, or smaller, on this side, as the weights say of their coefficients."""
    given = [known(step, j) for j in range(len(step.rows))]
    if any([x is None for x in given]):
        return find
    shape = shape_of(step.out)
    rows = [np.reshape(x, (len(x), *[1] * (len(shape) + 1 - len(shape_of(x))), *shape_of(x)[1:])) for x in given]
    hits = [np.equal(x[0], step.out) for x in rows]
    far = [np.where(np.greater(x[0], step.out), np.inf, -np.inf) for x in rows]
    count = sum([np.where(hit, 1, 0) for hit in hits])
    chosen, undecided = weights(step.out, *step.values), tied
    sizes = _largest([np.where(hit, largest(x), 0.0) for x, hit in zip(rows, hits, strict=True)])
    for k in range(1, len(given[0])):
        side = float(step.trace.side) ** k
        near = [np.where(hit, x[k] * side, other) for x, hit, other in zip(rows, hits, far, strict=True)]
        high = _largest([np.where(hit, c, -np.inf) for c, hit in zip(near, hits, strict=True)])
        low = _largest([np.where(hit, -c, -np.inf) for c, hit in zip(near, hits, strict=True)])
        splits = undecided & ~(high + low <= 64.0 * np.finfo(dtype_of(step.out)).eps * sizes)  # what is nan too
        sure = np.where(high + low > SURE * sizes, 1.0, np.nan)
        now = weights(step.primitive(*near), *near)
        chosen = [np.where(splits, new * sure, old) for new, old in zip(now, chosen, strict=True)]
        undecided = undecided & ~splits

    def found(k: int) -> Coefficient:
        terms = [np.where(np.equal(w, 0), 0.0, w * x[k]) for w, x in zip(chosen, rows, strict=True)]
        both = np.where(count > 2, np.nan, sum(terms))  # of three that are tied, two may be so once more
        return like(np.where(tied & (count > 1), both, _or_zero(find(k))), step.out)

    return found


def _largest(parts: list[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = np.maximum(total, part)
    return total


def reduced(step: Expansion, mine: Any, find: Next) -> Next:
    """Of the largest or smallest elements, which these are, the one that stays so on this side."""
    x = known(step, 0)
    if x is None:
        return find
    alone: Any = {**step.params, "keepdims": True}
    up = 1.0 if step.primitive(np.array([0.0, 1.0]), axis=(-1,), keepdims=False) else -1.0  # the largest, the smallest
    sizes = np.max(np.where(mine, largest(x), 0.0), **alone)
    sure: Any = 1.0
    for k in range(1, len(x)):
        near = np.where(mine, x[k] * (up * float(step.trace.side) ** k), -np.inf)
        gap = np.max(near, **alone) - near
        kept = mine & ~(gap > 64.0 * np.finfo(dtype_of(step.out)).eps * sizes)
        is_close = np.any(mine & ~kept & (gap < SURE * sizes), **alone)
        is_open = np.any(mine & np.isnan(near), **alone) & (np.sum(np.where(mine, 1, 0), **alone) > 1)
        sure, mine = np.where(is_close | is_open, np.nan, sure), kept
    share = np.where(mine, sure / np.sum(np.where(mine, 1.0, 0.0), **alone), 0.0)
    return lambda k: like(np.sum(np.where(mine, share * x[k], 0.0), **step.params), step.out)
