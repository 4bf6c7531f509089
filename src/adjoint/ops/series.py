"""Equations for Taylor coefficients, where the partials of an operation would take more series with every order.

Each function here is a fact `series`: `(step) -> k -> the k-th coefficient of the result`, from those before it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.series import Coefficient, Expansion, Next, integrated, scaled
from ..core.traced import Traced
from ..core.values import may_hold, shape_of
from ..rules.expanding import at_rest, convolved, finished, might_hold, twice
from ..rules.expanding import kinked_where as kinked_where
from ..rules.expanding import not_at_origin as not_at_origin
from ..rules.one_sided import has_any
from ..rules.residuals import like

times = operator.mul


def without(x: Coefficient, y: Coefficient) -> Coefficient:
    """x - y, where either may be structurally zero."""
    return x if y is None else -y if x is None else x - y


def quotient(step: Expansion) -> Next:
    """Of q = x / y: q y = x."""
    return dividing(step, lambda a: a / step.of(1, 0), times)


def dividing(step: Expansion, over: Callable[[Any], Any], product: Callable[[Any, Any], Any]) -> Next:
    """Of the solution of y q = x, given how to divide by the value of y, and the product of q and y."""

    def find(k: int) -> Coefficient:
        rest = without(step.of(0, k), convolved(product, step.results[0].at, lambda i: step.of(1, i), 0, k - 1, k))
        return None if rest is None else like(over(rest), step.out)

    return find


def reciprocal(step: Expansion) -> Next:
    """Of r = 1 / x: r x = 1."""

    def find(k: int) -> Coefficient:
        rest = convolved(times, step.results[0].at, lambda i: step.of(0, i), 0, k - 1, k)
        return None if rest is None else -rest * step.out

    return find


def squared(step: Expansion) -> Next:
    """Of x x, each pair of coefficients taken once."""
    return lambda k: finished(twice(times, lambda i: step.of(0, i), 0, k), step)


def root(step: Expansion) -> Next:
    """Of y = sqrt(x): y y = x."""

    def find(k: int) -> Coefficient:
        rest = without(step.of(0, k), twice(times, step.results[0].at, 1, k))
        return None if rest is None else rest / (2.0 * step.out)

    return find


def logarithm(step: Expansion, scale: float = 1.0) -> Next:
    """Of y = scale log(x): x y' = scale x'."""
    result = step.results

    def find(k: int) -> Coefficient:
        inner = convolved(times, lambda i: scaled(result[0].at(i), i), lambda i: step.of(0, i), 1, k - 1, k)
        first = step.of(0, k)
        rest = without(first if first is None or scale == 1.0 else first * scale, integrated(inner, k))
        return None if rest is None else rest / step.of(0, 0)

    return find


def logistic(step: Expansion) -> Next:
    """Of y = 1 / (1 + exp(-x)): y' = y (1 - y) x', where 1 - y is taken as the same function of -x at the point."""
    other = step.primitive(-step.values[0])
    return _of_own_slope(
        step,
        lambda y, k: other if k == 0 else None if y(k) is None else -y(k),
        lambda y, rest, k: convolved(times, y, rest, 0, k, k),
    )


def hyperbolic_tangent(step: Expansion, slope: Callable[[Any], Any]) -> Next:
    """Of y = tanh(x): y' = s x' with s = 1 - y y, taken without its cancellation at the point."""
    first = slope(step.values[0])

    def rest(y: Next, k: int) -> Coefficient:
        if k == 0:
            return first
        square = twice(times, y, 0, k)
        return None if square is None else -square

    return _of_own_slope(step, rest, lambda y, found, k: found(k))


def _of_own_slope(
    step: Expansion,
    rest: Callable[[Next, int], Coefficient],
    slope: Callable[[Next, Next, int], Coefficient],
) -> Next:
    """Of y' = slope x', where the slope follows from y, and from the rest of it."""
    rests: list[Coefficient] = []
    slopes: list[Coefficient] = []

    def find(k: int) -> Coefficient:
        y = step.results[0].at
        while len(slopes) < k:
            rests.append(rest(y, len(rests)))
            slopes.append(slope(y, rests.__getitem__, len(slopes)))
        total = convolved(times, lambda i: scaled(step.of(0, i), i), lambda i: slopes[i], 1, k, k)
        return finished(integrated(total, k), step)

    return find


def power(step: Expansion) -> Next | None:
    """Of x ** y: by products if y is a whole number, which is right at 0; else by an equation of its own."""
    (x, y), (base, exponent) = step.rows, step.values
    if x is None:
        return not_at_origin(step)
    if y is not None:
        return _by_logarithm(step)
    if shape_of(exponent) == () and not isinstance(exponent, Traced):
        if exponent == np.floor(np.real(exponent)):
            return _by_products(step, int(np.real(exponent)))
    elif might_hold(np.equal(base, 0)):
        return None
    return _by_base(step, exponent)


def _by_products(step: Expansion, count: int) -> Next:
    """As many factors as the exponent says; of a negative one, divided by them."""
    if count == 0:
        return lambda k: None
    found: Any = None

    def find(k: int) -> Coefficient:
        nonlocal found
        if found is None:
            found = _raised(step.handle(0), abs(count))
            found = like(1.0 / found if count < 0 else found, step.result())
        return step.coefficient(found, k)

    return find


def _raised(x: Any, count: int) -> Any:
    """A whole power, by squares."""
    result = None
    while True:
        if count % 2:
            result = x if result is None else result * x
        count //= 2
        if not count:
            return result
        x = x * x


def _by_base(step: Expansion, exponent: Any) -> Next:
    """Of y = x ** a: x y' = a y x'. Where x is 0 and a not whole, orders below a are 0, and others do not exist."""
    base = step.values[0]
    zero = np.equal(base, 0)
    has_zeros = shape_of(exponent) == () and may_hold(zero)
    divisor = np.where(zero, 1.0, base) if has_zeros else base
    still: Any = None
    known = 0.0

    def find(k: int) -> Coefficient:
        nonlocal still, known
        y = step.results[0].at
        total = None
        for j in range(1, k + 1):
            a, b = step.of(0, j), y(k - j)
            if a is not None and b is not None:
                term = a * b * ((exponent + 1.0) * j - k)
                total = term if total is None else total + term
        if total is None:
            return None
        c = total / (k * divisor)
        if has_zeros:
            if still is None:
                step.trace.has_kinks |= has_any(step)
                still, known = at_rest(zero, step)
            late = np.where(still, known, np.nan)
            c = np.where(zero, np.where(np.greater_equal(k, np.real(exponent)), late, 0.0), c)
        return like(c, step.out)

    return find


def _by_logarithm(step: Expansion) -> Next:
    """Of y = x ** z: y' = y (z log x)'."""
    found: Any = None

    def find(k: int) -> Coefficient:
        nonlocal found
        if found is None:
            inner = step.handle(1) * np.log(step.handle(0))
            found = like(step.result() * step.slope_of(inner.node, inner.value), step.result())
        return integrated(step.coefficient(found, k - 1), k)

    return find


def solution(step: Expansion) -> Next:
    """Of a x = b for matrices: a_0 x_k is b_k without all products of a_i and x_(k-i) that are known."""
    return solving(step, lambda a, x: a @ x)


def solving(step: Expansion, product: Callable[[Any, Any], Any]) -> Next:
    """Of the solution of a linear system whose first argument is its matrix and whose second the right-hand side."""

    def find(k: int) -> Coefficient:
        terms = convolved(product, lambda i: step.of(0, i), step.results[0].at, 1, k, k)
        rest = without(step.of(1, k), terms)
        return None if rest is None else like(step.primitive(step.values[0], rest, **step.params), step.out)

    return find


def of_two_sides(step: Expansion) -> Next:
    """Of Sylvester's equation a x + x b = q."""

    def find(k: int) -> Coefficient:
        x = step.results[0].at
        left = convolved(operator.matmul, lambda i: step.of(0, i), x, 1, k, k)
        right = convolved(operator.matmul, x, lambda i: step.of(1, i), 0, k - 1, k)
        rest = without(without(step.of(2, k), left), right)
        return None if rest is None else like(step.primitive(step.values[0], step.values[1], rest), step.out)

    return find


def matrix_root(step: Expansion, solve: Callable[..., Any]) -> Next:
    """Of the square root x of a matrix a: x x = a, which is Sylvester's equation for each coefficient."""

    def find(k: int) -> Coefficient:
        x = step.results[0].at
        rest = without(step.of(0, k), convolved(operator.matmul, x, x, 1, k - 1, k))
        return None if rest is None else like(solve(step.out, step.out, rest), step.out)

    return find


def of_blocks(step: Expansion) -> Next:
    """Of an analytic function of a matrix: the first row of the function of [[a_0, a_1, ...], [0, a_0, ...], ...]."""
    found: list[Coefficient] = []

    def find(k: int) -> Coefficient:
        if len(found) <= k:
            row = step.rows[0]
            order = max(k, len(row.known) - 1)  # type: ignore[union-attr]
            found[:] = _first_row(step, min(order, step.trace.order))
        return found[k]

    return find


def _first_row(step: Expansion, order: int) -> list[Coefficient]:
    value, n = step.values[0], shape_of(step.values[0])[-1]
    zeros = np.zeros(shape_of(value), value.dtype)
    parts = [zeros if step.of(0, i) is None else step.of(0, i) for i in range(order + 1)]
    rows = [np.concatenate([parts[j - i] if j >= i else zeros for j in range(order + 1)], -1) for i in range(order + 1)]
    whole = step.primitive(np.concatenate(rows, -2), **step.params)
    return [like(whole[..., :n, i * n : (i + 1) * n], step.out) for i in range(order + 1)]
