"""One step of the implicit method Radau IIA of order 5, by Newton's method, for equations that may be stiff."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.values import shape_of
from ...transforms.jacobian import jacfwd
from ...transforms.loops.loops import scan
from ...transforms.stop import stop_gradient

ROOT = 6**0.5
NODES = np.array([(4 - ROOT) / 10, (4 + ROOT) / 10, 1.0])
MATRIX = np.array([
    [(88 - 7 * ROOT) / 360, (296 - 169 * ROOT) / 1800, (-2 + 3 * ROOT) / 225],
    [(296 + 169 * ROOT) / 1800, (88 + 7 * ROOT) / 360, (-2 - 3 * ROOT) / 225],
    [(16 - ROOT) / 36, (16 + ROOT) / 36, 1 / 9],
])  # fmt: skip
STAGES = len(NODES)
TRACED = 3
"""Newton's steps, of which each doubles the order of the derivatives that are exact: those up to the seventh."""
CLOSE = 1e-6
"""How far, relative to its size, the last step may move the stages; there is no derivative if it does."""

Slope = Callable[[Any, Any], Any]


def radau_step(slope: Slope, y: Any, t: Any, h: Any, near: Any) -> Any:
    """The state at t + h; `near` are guesses for the stages, one in a row: the states that were found there before."""

    def closer(z: Any, _: Any) -> tuple[Any, Any]:
        new = _newton(slope, y, t, h, z)
        return new, np.max(np.abs(stop_gradient(new) - stop_gradient(z)))

    found, moved = scan(closer, stop_gradient(near), length=TRACED)
    arrived = moved[-1] <= CLOSE * (1 + np.max(np.abs(stop_gradient(found))))
    return np.where(arrived, found[-1], np.nan)


def _newton(slope: Slope, y: Any, t: Any, h: Any, z: Any) -> Any:
    """Newton's step for the stages z, of which z - y - h A f(z) has to be 0."""
    n = shape_of(y)[0]
    slopes = np.stack([slope(z[k], t + NODES[k] * h) for k in range(STAGES)])
    jacobians = [jacfwd(slope)(z[k], t + NODES[k] * h) for k in range(STAGES)]
    eye = np.eye(n)
    rows = [
        np.concatenate([(eye if i == k else 0.0) - h * MATRIX[i, k] * jacobians[k] for k in range(STAGES)], axis=1)
        for i in range(STAGES)
    ]
    wrong = np.reshape(z - y - h * (MATRIX @ slopes), (-1,))
    return z - np.reshape(np.linalg.solve(np.concatenate(rows), wrong), (STAGES, n))


def between(share: Any, near: Any) -> Any:
    """Guesses for a step of a share of the length, in rows: polynomials through those for whole steps."""
    places = np.append(0.0, NODES)
    x = share[:, None] * places
    weights = [
        np.prod(np.stack([(x - places[j]) / (places[i] - places[j]) for j in range(STAGES + 1) if j != i]), axis=0)
        for i in range(STAGES + 1)
    ]
    return np.sum(np.stack(weights, axis=2)[..., None] * near[:, None], axis=2)
