"""k-means: the gradient of the cost, and the diagonal of its Hessian, which is all the Hessian has."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..row import Function, Row

POINTS, DIMENSIONS, CENTRES = 10_000, 8, 10


def data() -> np.ndarray:
    return np.random.default_rng(8).normal(size=(POINTS, DIMENSIONS))


def point() -> np.ndarray:
    return np.random.default_rng(9).normal(size=(CENTRES, DIMENSIONS))


def cost(library: Any) -> Function:
    np = library.np
    x = np.asarray(data())
    return lambda c: np.sum(np.amin(np.sum((x[:, None, :] - c[None, :, :]) ** 2, axis=2), axis=1))


def with_diagonal(library: Any, f: Function) -> Function:
    """The gradient and its derivative along (1, ..., 1): the sum of each of the Hessian's rows."""
    return lambda c: library.jvp(library.grad(f), (c,), (library.np.ones_like(c),))


X = data()


def by_hand(c: np.ndarray) -> Any:
    """The nearest centre by one product of matrices; then sums over each centre's points."""
    distances = X @ c.T
    distances *= -2.0
    distances += np.einsum("kd,kd->k", c, c)
    nearest = distances.argmin(axis=1)
    counts = np.bincount(nearest, minlength=CENTRES).astype(float)[:, None]
    belongs = np.zeros((CENTRES, POINTS))
    belongs[nearest, np.arange(POINTS)] = 1.0
    return 2.0 * (counts * c - belongs @ X), np.repeat(2.0 * counts, DIMENSIONS, axis=1)


def error(row: Row, result: Any) -> float:
    """Against first and second differences of the cost."""
    from ..contestants import plain

    f, c = cost(plain()), point()
    worst, h = 0.0, 1e-5
    for place in ((0, 0), (3, 5), (9, 7)):
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
    )
}
