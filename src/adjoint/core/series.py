"""`Series`: the Taylor coefficients of a value, found one after another, and `Expansion`: a step whose result has some.

A coefficient that is structurally zero is None. What a step gives is a series too, of which the value is known at once
and every further coefficient follows from those before it, so that a rule may speak of its own result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .traced import Traced, is_of
from .values import is_inexact, zeros_for

if TYPE_CHECKING:
    from .primitive import Primitive
    from .taylor import TaylorTrace
    from .types import Params

Coefficient = Any
"""What a value is in one order: a number or an array of the value's shape and dtype, None for a structural zero."""

Next = Callable[[int], Coefficient]
"""The k-th coefficient, once those before it are known."""


class Series:
    """The coefficients of a value along a curve, as far as they have been asked for."""

    __slots__ = ("find", "known", "slope")

    def __init__(self, known: list[Coefficient], find: Next | None = None) -> None:
        self.known = known
        self.find = find
        """None if all further coefficients are zero."""
        self.slope: Series | None = None
        """The derivative along the curve, if it has been asked for."""

    def at(self, k: int) -> Coefficient:
        """The k-th coefficient."""
        known = self.known
        while len(known) <= k:
            known.append(None if self.find is None else self.find(len(known)))
        return known[k]

    def derivative(self) -> Series:
        """The series of the derivative along the curve."""
        if self.slope is None:
            self.slope = Series([], lambda k: scaled(self.at(k + 1), k + 1))
        return self.slope

    def settle(self, order: int) -> None:
        """Find all coefficients up to an order, and let go of the equation."""
        self.at(order)
        self.find = self.slope = None


def scaled(x: Coefficient, k: int) -> Coefficient:
    """A coefficient times a whole number."""
    return x if x is None or k == 1 else x * float(k)


class Expansion:
    """One step on series: what its rule needs to say how the coefficients of the result follow."""

    __slots__ = ("out", "params", "primitive", "results", "rows", "trace", "values")

    def __init__(
        self,
        trace: TaylorTrace,
        primitive: Primitive,
        rows: Sequence[Series | None],
        values: Sequence[Any],
        out: Any,
        params: Params,
    ) -> None:
        self.trace = trace
        self.primitive = primitive
        self.rows = rows
        """The series of the arguments; None for a constant."""
        self.values = values
        self.out = out
        """The value of the result, or those of all results."""
        self.params = params
        self.results: list[Series] = []

    def handle(self, k: int) -> Any:
        """An argument as a rule sees it."""
        row = self.rows[k]
        return self.values[k] if row is None else Traced(self.values[k], self.trace, row)

    def handles(self) -> list[Any]:
        """All arguments as a rule sees them."""
        return [self.handle(k) for k in range(len(self.rows))]

    def slope(self, k: int) -> Any:
        """The derivative of an argument along the curve, as a rule sees a tangent; None for a constant."""
        row = self.rows[k]
        return None if row is None else self.slope_of(row, self.values[k])

    def slope_of(self, row: Series, value: Any) -> Any:
        """The derivative of a value along the curve."""
        slope = row.derivative()
        first = slope.at(0)
        return Traced(zeros_for(value) if first is None else first, self.trace, slope)

    def result(self) -> Any:
        """The result, or all results, as a rule sees them."""
        if not self.primitive.multiple:
            return Traced(self.out, self.trace, self.results[0])
        pairs = zip(self.out, self.results, strict=True)
        return tuple([Traced(o, self.trace, row) if is_inexact(o) else o for o, row in pairs])

    def coefficient(self, x: Any, k: int) -> Coefficient:
        """The k-th coefficient of what a rule has found."""
        if is_of(x, self.trace):
            return x.node.at(k)
        return x if k == 0 else None

    def of(self, j: int, k: int) -> Coefficient:
        """The k-th coefficient of the j-th argument."""
        row = self.rows[j]
        return (self.values[j] if k == 0 else None) if row is None else row.at(k)


def by_push(step: Expansion) -> Callable[[int], Any]:
    """y' = push(x, x', y): the rule's own tangent, taken of series, gives each coefficient from those before it."""
    primitive, found = step.primitive, None

    def find(k: int) -> Any:
        nonlocal found
        if found is None:
            tangents = [step.slope(j) for j in range(len(step.rows))]
            found = primitive.derivative.push(primitive, tangents, step.result(), step.handles(), step.params)
        if primitive.multiple:
            return [integrated(step.coefficient(t, k - 1), k) for t in found]
        return integrated(step.coefficient(found, k - 1), k)

    return find


def integrated(x: Coefficient, k: int) -> Coefficient:
    """The k-th coefficient of a series, given one of its derivative."""
    return x if x is None or k == 1 else x / k
