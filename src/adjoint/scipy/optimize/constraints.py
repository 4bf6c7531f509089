"""Bounds and constraints in every form that SciPy takes, as values between a lower and an upper bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.values import shape_of
from .conditions import Constraints
from .solving import as_tuple


def itself(x: Any) -> Any:
    """The values that bounds are for."""
    return np.reshape(x, (-1,))


def bounds_of(bounds: Any, size: int) -> list[Constraints]:
    """Bounds as `Bounds`, or as pairs with None for no bound; none if there are none."""
    if bounds is None or (isinstance(bounds, (tuple, list)) and not len(bounds)):
        return []
    if hasattr(bounds, "lb"):
        return [(itself, _spread(bounds.lb, size), _spread(bounds.ub, size))]
    if isinstance(bounds, np.ndarray):
        bounds = [(row[0], row[1]) for row in bounds]
    lower = [-np.inf if low is None else low for low, _ in bounds]
    upper = [np.inf if high is None else high for _, high in bounds]
    return [(itself, _spread(_stacked(lower), size), _spread(_stacked(upper), size))]


def limits_of(bounds: Any, size: int) -> list[Constraints]:
    """Bounds as `Bounds`, or as a pair of two arrays or numbers."""
    lower, upper = (bounds.lb, bounds.ub) if hasattr(bounds, "lb") else bounds
    return [(itself, _spread(lower, size), _spread(upper, size))]


def _stacked(values: list[Any]) -> Any:
    return np.stack([np.reshape(np.asarray(v) * 1.0, ()) for v in values])


def _spread(bound: Any, size: int) -> Any:
    return np.broadcast_to(np.reshape(np.asarray(bound) * 1.0, (-1,)), (size,))


def constraints_of(constraints: Any, args: Any = ()) -> list[Constraints]:
    """Dicts, `LinearConstraint`, `NonlinearConstraint`, one or several."""
    if constraints is None:
        return []
    several = constraints if isinstance(constraints, (list, tuple)) else [constraints]
    return [_constraint(c) for c in several]


def _constraint(c: Any) -> Constraints:
    if isinstance(c, dict):
        more = as_tuple(c.get("args", ()))
        fun: Callable[..., Any] = c["fun"]
        return _between(lambda x: fun(x, *more), 0.0, 0.0 if str(c["type"]).lower() == "eq" else np.inf)
    if hasattr(c, "A"):
        return _between(lambda x: _dense(c.A) @ x, c.lb, c.ub)
    if hasattr(c, "fun"):
        return _between(c.fun, c.lb, c.ub)
    return itself, c.lb, c.ub


def _dense(a: Any) -> Any:
    return a.toarray() if hasattr(a, "toarray") else np.atleast_2d(a)


def _between(fun: Callable[..., Any], lower: Any, upper: Any) -> Constraints:
    """Values minus their bounds are as many as the function has; a bound may be one number for all of them."""

    def values(x: Any) -> Any:
        found = fun(x)
        return np.reshape(np.stack(found) if isinstance(found, (list, tuple)) else np.asarray(found), (-1,))

    return values, lower, upper


def sized(constraints: list[Constraints], x: Any) -> list[Constraints]:
    """The same with a lower and an upper bound for each value."""
    found = []
    for values, lower, upper in constraints:
        size = int(np.prod(shape_of(values(x))))
        found.append((values, _spread(lower, size), _spread(upper, size)))
    return found
