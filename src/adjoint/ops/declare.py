"""How an entry of the catalogue is written. From each entry follow dispatch, every walk, the docs row and the laws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

import numpy as np

from ..core.careful import UNKNOWN, Slope
from ..core.primitive import Primitive
from ..core.traced import Traced
from ..rules.constant import Constant
from ..rules.elementwise import Elementwise
from ..rules.selecting import Selecting
from ..rules.stacking import aligned, leading

CATALOGUE: dict[str, Primitive] = {}
"""Every primitive, by name."""

UFUNCS: dict[Any, Primitive] = {}
"""NumPy's and SciPy's universal functions, to their primitives."""

Interval = tuple[float, float]
REAL: Interval = (-inf, inf)
POSITIVE: Interval = (0.0, inf)
UNIT: Interval = (0.0, 1.0)
SYMMETRIC: Interval = (-1.0, 1.0)


class Whole(tuple):
    """An interval of which only the whole numbers are meant: an order, a degree, a count."""

    __slots__ = ()


CONSTANT = Constant()


def declare(name: str, evaluate: Callable[..., Any], derivative: Any, **facts: Any) -> Primitive:
    """Enter a primitive into the catalogue."""
    facts.setdefault("stacking", leading)
    primitive = CATALOGUE[name] = Primitive(name, evaluate, derivative=derivative, **facts)
    return primitive


def elementwise(
    ufunc: Any,
    *,
    partials: Sequence[Callable[..., Any] | None],
    scalar: Callable[..., float] | None = None,
    evaluate: Callable[..., Any] | None = None,
    domain: Sequence[Interval] | None = None,
    vertex: bool = False,
    slope: Slope | Callable[..., Slope] = UNKNOWN,
    note: str = "",
) -> Primitive:
    """A smooth universal function; `scalar` is its quick version for Python floats."""
    derivative = Elementwise(partials, vertex=vertex, slope=slope)
    return _universal(ufunc, derivative, len(partials), scalar, evaluate, domain, note)


def selecting(ufunc: Any, *weights: Callable[..., Any] | None, note: str = "") -> Primitive:
    """A universal function that picks among its arguments."""
    return _universal(ufunc, Selecting(*weights), len(weights), None, None, None, note)


def constant(ufunc: Any, *, evaluate: Callable[..., Any] | None = None, note: str = "") -> Primitive:
    """A universal function without a derivative: piecewise constant, or not real-valued."""
    return _universal(ufunc, CONSTANT, ufunc.nin, None, evaluate, None, note)


def _universal(
    ufunc: Any,
    derivative: Any,
    arity: int,
    scalar: Callable[..., float] | None,
    evaluate: Callable[..., Any] | None,
    domain: Sequence[Interval] | None,
    note: str,
) -> Primitive:
    if evaluate is None:
        evaluate = quick(ufunc, scalar) if scalar else ufunc
    primitive = declare(
        ufunc.__name__,
        evaluate,
        derivative,
        stacking=aligned,
        domain=tuple(domain or [REAL] * arity),
        multiple=ufunc.nout > 1,
        note=note,
        on_arrays=ufunc if scalar else None,
    )
    UFUNCS[ufunc] = primitive
    return primitive


def quick(ufunc: Any, scalar: Callable[[float], float]) -> Callable[[Any], Any]:
    """Evaluate Python floats with `math`, ten times faster; where that raises, NumPy knows the limit."""

    def evaluate(x: Any) -> Any:
        if type(x) is float:
            try:
                return scalar(x)
            except (ValueError, OverflowError):
                return float(ufunc(x))
        return ufunc(x)

    return evaluate


def also(ufunc: Any, primitive: Primitive) -> None:
    """Another universal function that is the same operation."""
    UFUNCS[ufunc] = primitive


class Composition:
    """A universal function put together from others: it stands where a primitive stands, but records only its parts."""

    __slots__ = ("compose", "multiple", "name")
    derivative = CONSTANT
    is_smooth = False

    def __init__(self, name: str, compose: Callable[..., Any], *, multiple: bool) -> None:
        self.name = name
        self.compose = compose
        self.multiple = multiple

    def __call__(self, *args: Any) -> Any:
        """Apply the parts."""
        return self.compose(*args)


def composed(ufunc: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as the composition that stands for a universal function."""

    def register(compose: Callable[..., Any]) -> Callable[..., Any]:
        UFUNCS[ufunc] = Composition(ufunc.__name__, compose, multiple=ufunc.nout > 1)  # type: ignore[assignment]
        return compose

    return register


def where(condition: Any, x: Any, y: Any) -> Any:
    """`np.where` for rules: quick when the condition is one truth value."""
    if type(condition) is bool or type(condition) is np.bool:
        return x if condition else y
    return np.where(condition, x, y)


def ratio(x: Any, y: Any) -> Any:
    """x / y, and 0 where y is 0: the subgradient of a norm at the origin."""
    zero = y == 0
    if type(zero) is bool:
        return 0.0 if zero else x / y
    if not isinstance(zero, Traced) and not np.any(zero):
        return x / y
    return where(zero, 0.0, x / where(zero, 1.0, y))
