"""Linear algebra by LAPACK: determinants of three sizes, and the likelihood of a Gaussian process."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..row import Function, Row

SIZES = (5, 20, 100)
POINTS = 30


def determinant(library: Any) -> Function:
    return lambda A: library.np.linalg.det(A)


def determinant_by_hand(A: np.ndarray) -> Any:
    """With the derivative det A^-T."""
    value = np.linalg.det(A)
    return value, value * np.linalg.inv(A).T


def matrix(n: int) -> np.ndarray:
    return np.random.default_rng(n).normal(size=(n, n)) / np.sqrt(n) + np.eye(n)


def places() -> tuple[np.ndarray, np.ndarray]:
    """Squared distances between the points, and what was measured there."""
    random = np.random.default_rng(1)
    x = random.normal(size=(POINTS, 2))
    return np.sum((x[:, None] - x) ** 2, axis=-1), random.normal(size=POINTS)


def likelihood(library: Any) -> Function:
    """Of length, size and noise, all as logarithms."""
    np = library.np
    distances, y = (np.asarray(part) for part in places())
    ones = np.eye(POINTS)

    def f(p: Any) -> Any:
        kernel = np.exp(p[1] - 0.5 * distances * np.exp(-2.0 * p[0])) + np.exp(p[2]) * ones
        factor = np.linalg.cholesky(kernel)
        return 0.5 * y @ np.linalg.solve(kernel, y) + np.sum(np.log(np.diagonal(factor)))

    return f


def likelihood_by_hand(p: np.ndarray) -> Any:
    """The gradient is half the trace of (K^-1 - a a^T) dK, with a = K^-1 y."""
    distances, y = places()
    smooth = np.exp(p[1] - 0.5 * distances * np.exp(-2.0 * p[0]))
    kernel = smooth + np.exp(p[2]) * np.eye(POINTS)
    inverse = np.linalg.inv(kernel)
    a = inverse @ y
    value = 0.5 * y @ a + np.sum(np.log(np.diagonal(np.linalg.cholesky(kernel))))
    weights = 0.5 * (inverse - np.outer(a, a))
    along = (smooth * distances * np.exp(-2.0 * p[0]), smooth)
    return value, np.array([*[np.sum(weights * part) for part in along], np.exp(p[2]) * np.trace(weights)])


ROWS = {
    **{
        f"determinant {n}": Row(
            f"determinant by LAPACK, {n} x {n}",
            determinant,
            partial(matrix, n),
            determinant_by_hand,
        )
        for n in SIZES
    },
    "gaussian process": Row(
        f"likelihood of a Gaussian process, {POINTS} points",
        likelihood,
        lambda: np.array([0.1, 0.2, -1.0]),
        likelihood_by_hand,
        without={"PyTorch": "a system of vectors is written otherwise", "torch.compile": "likewise"},
    ),
}
