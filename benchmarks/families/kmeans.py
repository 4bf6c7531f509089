"""k-means: the gradient of the cost, and the diagonal of its Hessian, which is all the Hessian has."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..row import Function, Row

POINTS, DIMENSIONS, CENTRES = 10_000, 8, 10
TINY = 10, 2, 3


def data(points: int, dimensions: int) -> np.ndarray:
    return np.random.default_rng(8).normal(size=(points, dimensions))


def point() -> np.ndarray:
    return np.random.default_rng(9).normal(size=(CENTRES, DIMENSIONS))


def tiny_point() -> np.ndarray:
    return np.random.default_rng(9).normal(size=TINY[:0:-1])


def cost(library: Any) -> Function:
    return cost_of(library, data(POINTS, DIMENSIONS))


def tiny_cost(library: Any) -> Function:
    return cost_of(library, data(*TINY[:2]))


def cost_of(library: Any, points: np.ndarray) -> Function:
    np = library.np
    x = np.asarray(points)
    return lambda c: np.sum(np.amin(np.sum((x[:, None, :] - c[None, :, :]) ** 2, axis=2), axis=1))


def with_diagonal(library: Any, f: Function) -> Function:
    """The gradient and its derivative along (1, ..., 1): the sum of each of the Hessian's rows."""
    return lambda c: library.jvp(library.grad(f), (c,), (library.np.ones_like(c),))


X, TINY_X = data(POINTS, DIMENSIONS), data(*TINY[:2])


def by_hand(c: np.ndarray) -> Any:
    return with_points(X, c)


def tiny_by_hand(c: np.ndarray) -> Any:
    return with_points(TINY_X, c)


def with_points(x: np.ndarray, c: np.ndarray) -> Any:
    """The nearest centre by one product of matrices; then sums over each centre's points."""
    distances = x @ c.T
    distances *= -2.0
    distances += np.einsum("kd,kd->k", c, c)
    nearest = distances.argmin(axis=1)
    counts = np.bincount(nearest, minlength=len(c)).astype(float)[:, None]
    belongs = np.zeros((len(c), len(x)))
    belongs[nearest, np.arange(len(x))] = 1.0
    return 2.0 * (counts * c - belongs @ x), np.repeat(2.0 * counts, c.shape[1], axis=1)


def error(row: Row, result: Any) -> float:
    """Against first and second differences of the cost."""
    from ..contestants import plain

    f, c = row.function(plain()), row.point()
    worst, h = 0.0, 1e-5
    for place in ((0, 0), (-1, -1)):
        step = np.zeros_like(c)
        step[place] = h
        ahead, here, behind = f(c + step), f(c), f(c - step)
        first, second = (ahead - behind) / (2.0 * h), (ahead - 2.0 * here + behind) / h**2
        worst = max(worst, abs(first - result[0][place]) / abs(first), 1e-4 * abs(second - result[1][place]) / second)
    return worst


ROWS = {
    "kmeans": Row(
        f"k-means, gradient and Hessian diagonal, {POINTS:,} points, {DIMENSIONS} dimensions, {CENTRES} centres",
        cost,
        point,
        by_hand,
        with_diagonal,
        check=error,
        without={"autograd": "no forward mode for this function"},
    ),
    "kmeans-tiny": Row(
        "k-means, gradient and Hessian diagonal, {} points, {} dimensions, {} centres".format(*TINY),
        tiny_cost,
        tiny_point,
        tiny_by_hand,
        with_diagonal,
        check=error,
        without={"autograd": "no forward mode for this function"},
    ),
}
