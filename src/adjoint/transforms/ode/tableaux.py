"""Runge-Kutta methods as numbers: nodes, the rows of their tableau, weights, and those of the estimate of the error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Tableau:
    """An explicit method: stage i is the slope at t + nodes[i] h and y + h sum(rows[i] * slopes so far).

    `rows` and `nodes` leave out the first stage, which is the slope at the start. `error` weighs the slopes, and that
    at the end of the step as the last one, to an estimate of what is wrong after the step; its `order` is the power of
    h with which that falls. A method without it takes steps of a fixed length only.
    """

    nodes: Numbers
    rows: tuple[Numbers, ...]
    weights: Numbers
    error: Numbers = ()
    order: int = 0


def tableau_of(nodes: Sequence[float], rows: Sequence[Sequence[float]], weights: Sequence[float]) -> Tableau:
    """A method without an estimate, from arrays as SciPy's classes have them, first stage included."""
    below = tuple([tuple([float(a) for a in row[:k]]) for k, row in enumerate(rows)])
    return Tableau(tuple([float(c) for c in nodes])[1:], below[1:], tuple([float(b) for b in weights]))


EULER = Tableau((), (), (1.0,))
MIDPOINT = Tableau((1 / 2,), ((1 / 2,),), (0.0, 1.0))
HEUN = Tableau((1.0,), ((1.0,),), (1 / 2, 1 / 2))
CLASSICAL = Tableau((1 / 2, 1 / 2, 1.0), ((1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)), (1 / 6, 1 / 3, 1 / 3, 1 / 6))
BOGACKI_SHAMPINE = Tableau(
    nodes=(1 / 2, 3 / 4),
    rows=((1 / 2,), (0.0, 3 / 4)),
    weights=(2 / 9, 1 / 3, 4 / 9),
    error=(5 / 72, -1 / 12, -1 / 9, 1 / 8),
    order=3,
)
DORMAND_PRINCE = Tableau(
    nodes=(1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0),
    rows=(
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    ),
    weights=(35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    error=(-71 / 57600, 0.0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40),
    order=5,
)

METHODS = {
    "Euler": EULER,
    "midpoint": MIDPOINT,
    "Heun": HEUN,
    "RK4": CLASSICAL,
    "RK23": BOGACKI_SHAMPINE,
    "RK45": DORMAND_PRINCE,
}
"""What `odeint` knows by name."""
