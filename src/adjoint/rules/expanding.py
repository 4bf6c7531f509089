"""How rules expand their steps into Taylor series: from what is linear, multilinear, selected, or has partials."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..core.series import Coefficient, Expansion, Next, by_push, integrated
from ..core.values import cannot_branch, dtype_of, is_captured, may_hold, zeros_for
from . import one_sided as sides
from .partials import evaluated, wanted
from .residuals import like, sum_of_tangents

if TYPE_CHECKING:
    from .elementwise import Elementwise
    from .linear import Linear
    from .multilinear import Multilinear
    from .reducing import Reducing
    from .selecting import Selecting


def linear(rule: Linear, step: Expansion) -> Next:
    """The operation, applied to the coefficients of one order at a time."""
    primitive, values, places = step.primitive, step.values, [j for j in range(len(step.rows)) if rule.is_linear_in(j)]
    signs = ADDED.get(primitive.facts.ufunc)

    def find(k: int) -> Coefficient:
        given = [step.of(j, k) for j in places]
        moving = [j for j, c in enumerate(given) if c is not None]
        if not moving:
            return None
        if signs and len(moving) == 1:  # without a sum with zeros
            one = given[moving[0]]
            return like(-one if signs[moving[0]] < 0 else one, step.out)
        moved: list[Any] = list(values)
        for j, c in zip(places, given, strict=True):
            moved[j] = zeros_for(values[j]) if c is None else c
        return like(primitive(*moved, **step.params), step.out)

    return find


ADDED: dict[Any, tuple[int, int]] = {np.add: (1, 1), np.subtract: (1, -1)}


def multilinear(rule: Multilinear, step: Expansion) -> Next:
    """Cauchy's product."""
    if len(step.rows) != 2:
        return by_push(step)
    primitive, (x, y), params = step.primitive, step.rows, step.params

    def times(a: Any, b: Any) -> Any:
        return primitive(a, b, **params)

    if x is None or y is None:
        place = 0 if y is None else 1
        other = step.values[1 - place]

        def find(k: int) -> Coefficient:
            c = step.of(place, k)
            return None if c is None else like(times(c, other) if place == 0 else times(other, c), step.out)

        return find
    if x is y and primitive.facts.commutative:
        return lambda k: finished(twice(times, x.at, 0, k), step)
    return lambda k: finished(convolved(times, x.at, y.at, 0, k, k), step)


def convolved(times: Callable[..., Any], x: Next, y: Next, first: int, last: int, k: int) -> Coefficient:
    """The sum of the products of x_i and y_(k-i) for i from first to last; None if there are none."""
    total = None
    for i in range(first, last + 1):
        a = x(i)
        if a is not None:
            b = y(k - i)
            if b is not None:
                term = times(a, b)
                total = term if total is None else total + term
    return total


def twice(times: Callable[..., Any], x: Next, first: int, k: int) -> Coefficient:
    """The sum of the products of x_i and x_(k-i) for i from first on, each pair taken once."""
    half = convolved(times, x, x, first, (k - 1) // 2, k)
    total = None if half is None else half + half
    if k % 2 == 0 and k // 2 >= first:
        middle = x(k // 2)
        if middle is not None:
            square = times(middle, middle)
            total = square if total is None else total + square
    return total


def finished(x: Coefficient, step: Expansion) -> Coefficient:
    """A coefficient with shape and dtype of the result."""
    return None if x is None else like(x, step.out)


def elementwise(rule: Elementwise, step: Expansion) -> Next:
    """y' = the sum of partial(x, y) x'; nan where there is no such derivative."""
    by_fact = step.primitive.facts.series
    find = (by_fact and by_fact(step)) or _by_partials(rule, step)
    kinked = rule.slope.kinked if isinstance(rule.slope, tuple) else False
    usual = find
    if rule.vertex:
        usual = at_edges(find, step)
    elif kinked is True:
        at = np.equal(step.out, 0)
        usual = with_kinks(find, at, step) if might_hold(at) else find
        step.trace.has_kinks |= usual is not find and sides.has_any(step)
    sided = step.primitive.facts.sided
    if sided is None or not step.trace.side:
        return usual
    return cast("Next", sided(step, usual))


def _by_partials(rule: Elementwise, step: Expansion) -> Next:
    found = None

    def find(k: int) -> Coefficient:
        nonlocal found
        if found is None:
            out, args = step.result(), step.handles()
            pairs = [(step.slope(j), p) for j, p in enumerate(evaluated(rule.partials)) if step.rows[j] is not None]
            found = sum_of_tangents([t * partial(out, *args) for t, partial in pairs], out)
        return integrated(step.coefficient(found, k - 1), k)

    return find


def might_hold(condition: Any) -> bool:
    """Whether any element is true, or a program is captured, which is better off without another decision."""
    return is_captured(condition) or may_hold(condition)


def moved(step: Expansion, k: int, had: Any, only: int | None = None) -> Any:
    """Where an argument, or only one of them, has moved up to an order, given where it has up to the one before."""
    for j, row in enumerate(step.rows):
        c = None if row is None or only not in (None, j) else row.at(k)
        if c is not None:
            had = had | np.not_equal(step.of(j, k), 0)
    return had


def with_kinks(find: Next, at: Any, step: Expansion, moves: int | None = None) -> Next:
    """The same, and nan at kinks: unless nothing moves there, there are two sides and no series."""
    gone: Any = False

    def found(k: int) -> Coefficient:
        nonlocal gone
        c, gone = find(k), moved(step, k, gone, moves)
        return c if gone is False else like(np.where(at & gone, np.nan, 0.0 if c is None else c), step.out)

    return found


def not_at_origin(step: Expansion) -> Next:
    """A fact `series`: by the partials, and nan where all arguments are 0, at which they are a convention."""
    at: Any = True
    for value in step.values:
        at = at & np.equal(value, 0)
    return _kinked(step, at)


def kinked_where(at: Callable[..., Any], *, moves: int) -> Callable[[Expansion], Next]:
    """A fact `series`: by the partials, which are a convention where `at` holds; nan there if an argument moves."""
    return lambda step: _kinked(step, at(*step.values) if step.rows[moves] is not None else False, moves)


def _kinked(step: Expansion, at: Any, moves: int | None = None) -> Next:
    find = _by_partials(cast("Elementwise", step.primitive.derivative), step)
    return with_kinks(find, at, step, moves) if at is not False and might_hold(at) else find


def at_edges(find: Next, step: Expansion) -> Next:
    """The same at the end of a domain, where a partial is infinite: 0 if nothing moves there, else inf or nan.

    What is 0 in all orders that are known may move in a later one; then the trace is in doubt, and more orders decide.
    """
    edge: Any = None
    still: Any = None
    known = 0.0

    def found(k: int) -> Coefficient:
        nonlocal edge, still, known
        c = find(k)
        if c is None or edge is False:
            return c
        if edge is None:
            edge = np.isfinite(step.out) & ~np.isfinite(c)
            if not may_hold(edge):
                edge = False
                return c
            step.trace.has_kinks |= sides.has_any(step)
            still, known = at_rest(edge, step)
        return like(np.where(still, known, np.where(edge & np.equal(_first(step), 0), np.nan, c)), step.out)

    return found


def at_rest(edge: Any, step: Expansion) -> tuple[Any, float]:
    """Where the end of a domain is met by what does not move, as far as is known, and what its coefficients are."""
    still = edge & ~_moves(step)
    if not step.trace.is_certain and may_hold(still):
        step.trace.in_doubt = True
    return still, np.nan if cannot_branch(edge) or step.trace.side else 0.0  # a loop, or a side, is not run again


def _moves(step: Expansion) -> Any:
    """Where any coefficient of an argument that is known is not 0."""
    found: Any = False
    for row in step.rows:
        for c in row.known[1:] if row is not None else ():
            if c is not None:
                found = found | np.not_equal(c, 0)
    return found


def _first(step: Expansion) -> Any:
    """The sizes of the first coefficients of the arguments."""
    return sum([np.abs(row.known[1]) for row in step.rows if row is not None and row.known[1] is not None], 0.0)


def selecting(rule: Selecting, step: Expansion) -> Next:
    """The coefficients of what is selected at the point; nan where a tie breaks."""
    weights = [weight(step.out, *step.values) for weight in evaluated(rule.weights)]
    own = [w is not None and _name(j) in wanted(w) for j, w in enumerate(rule.weights)]
    hits = [np.equal(v, step.out) if mine else None for v, mine in zip(step.values, own, strict=True)]
    tied: Any = np.not_equal(sum([np.where(h, 1, 0) for h in hits if h is not None]), 1) if any(own) else False
    is_tied = any(own) and might_hold(tied & ~np.isnan(step.out))
    step.trace.has_kinks |= is_tied and sides.is_settled(step)
    broken: Any = False

    def find(k: int) -> Coefficient:
        nonlocal broken
        given = [step.of(j, k) for j in range(len(step.rows))]
        if all([c is None for c in given]):
            return None if broken is False else _broken(None, broken, step)
        total: Any = None
        for c, w in zip(given, weights, strict=True):
            if c is not None:
                term = np.where(np.not_equal(w, 0), c * w, 0.0)
                total = term if total is None else total + term
        if is_tied:
            filled = [0.0 if c is None else c for c in given]
            for c, hit in zip(filled, hits, strict=True):
                if hit is not None:
                    broken = broken | (hit & tied & _differs(c, filled, hits, step.out))
            return _broken(total, broken, step)
        return like(total, step.out)

    if not is_tied or not step.trace.side:
        return find
    return sides.picked(step, lambda out, *args: [weight(out, *args) for weight in evaluated(rule.weights)], find, tied)


def _differs(c: Any, given: Sequence[Any], hits: Sequence[Any], value: Any) -> Any:
    """Whether any argument that is selected as well has another coefficient."""
    found: Any = False
    for other, hit in zip(given, hits, strict=True):
        if hit is not None and other is not c:
            found = found | (hit & _unequal(c, other, value))
    return found


def _unequal(a: Any, b: Any, value: Any) -> Any:
    """Whether two coefficients differ by more than rounding, in units of themselves and of the value, or are nan."""
    size = np.abs(a) + np.abs(b) + np.abs(value)
    return ~(np.abs(a - b) <= 64.0 * np.finfo(dtype_of(value)).eps * size)


def _broken(c: Coefficient, broken: Any, step: Expansion) -> Coefficient:
    return like(np.where(broken, np.nan, 0.0 if c is None else c), step.out)


def _name(j: int) -> str:
    return "xyzw"[j]


def reducing(rule: Reducing, step: Expansion) -> Next:
    """The coefficients of the element that is picked at the point; nan where several are, and differ."""
    if not rule.selects:
        return by_push(step)
    params = step.params
    share: Any = rule.share(step.out, *step.values, **params)
    picked = np.not_equal(share, 0)
    is_tied = might_hold(picked & np.not_equal(share, 1))
    step.trace.has_kinks |= is_tied and sides.is_settled(step)
    broken: Any = False

    def find(k: int) -> Coefficient:
        nonlocal broken
        c = step.of(0, k)
        if c is None:
            return None if broken is False else _broken(None, broken, step)
        found = np.sum(np.where(picked, c * share, 0.0), **params)
        if not is_tied:
            return like(found, step.out)
        low = np.min(np.where(picked, c, np.inf), **params)
        high = np.max(np.where(picked, c, -np.inf), **params)
        broken = broken | _unequal(low, high, step.out)
        return _broken(low, broken, step)

    return sides.reduced(step, picked, find) if is_tied and step.trace.side else find
