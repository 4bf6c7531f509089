"""One step of a Runge-Kutta method, for a state that is a list of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...core.values import Value
from .tableaux import Tableau

State = list[Value]
"""The leaves of a state, or of its slope."""

Slope = Callable[[State, Value], State]
"""The right-hand side: `(y, t) -> dy/dt`."""


def stages(slope: Slope, method: Tableau, t: Value, y: State, first: State, h: Value) -> list[State]:
    """The slopes at all stages of a step, of which the first is known."""
    found = [first]
    for node, row in zip(method.nodes, method.rows, strict=True):
        found.append(slope(ahead(y, h, row, found), t + node * h))
    return found


def ahead(y: State, h: Value, weights: Sequence[float], slopes: Sequence[State]) -> State:
    """y + h sum(weights * slopes)."""
    return [a + h * moved for a, moved in zip(y, weighted(weights, slopes), strict=True)]


def weighted(weights: Sequence[float], slopes: Sequence[State]) -> State:
    """The sum of slopes with weights; those with weight 0 are left out."""
    terms = [(w, k) for w, k in zip(weights, slopes, strict=True) if w]
    return [_sum([w * k[leaf] if w != 1.0 else k[leaf] for w, k in terms]) for leaf in range(len(slopes[0]))]


def _sum(terms: list[Value]) -> Value:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def norm(errors: State, scales: State) -> Value:
    """The root of the mean square of all errors, each in units of its tolerance."""
    count = sum(np.size(e) for e in errors)
    squares = [np.sum(np.abs(e / s) ** 2) for e, s in zip(errors, scales, strict=True)]
    return np.sqrt(_sum(squares) / max(count, 1))
