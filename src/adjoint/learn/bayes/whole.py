"""The whole Gauss-Newton matrix, of all pairs of weights: "full"."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import cholesky, eigvalsh, solve_triangular

from ..labels import Array
from .likelihoods import OutputLikelihood, weighted
from .reading import Model, RowSlopes, batches, row_bytes

MOST_WEIGHTS = 30_000
"""For which the matrix has 7 GB."""


@dataclass(frozen=True)
class WholePosterior:
    """(curvature + t)^-1, for sigma = 1, by Cholesky's factor U of U' U."""

    factor: Array

    @property
    def log_det(self) -> float:
        """The logarithm of the determinant of curvature + t."""
        return float(2.0 * np.sum(np.log(np.diag(self.factor))))

    @property
    def trace(self) -> float:
        """Of the covariance."""
        return float(np.sum(self._root() ** 2))

    @property
    def bytes_per_output(self) -> int:
        """Of the Jacobian of one output of one row, and what is solved for it."""
        return 16 * len(self.factor)

    def covariance(self, rows: RowSlopes) -> Array:
        """Of the outputs, shape (n, k, k)."""
        n, k = rows.outputs.shape
        J = jacobian(rows).reshape(n * k, -1)
        moved = solve_triangular(self.factor, J.T, trans="T", check_finite=False, overwrite_b=True)
        moved = moved.reshape(-1, n, k).transpose(1, 2, 0)
        return np.matmul(moved, moved.transpose(0, 2, 1))

    def draw(self, chance: Any, count: int) -> Array:
        """Deviations of the weights from their mean, shape (count, weights)."""
        return solve_triangular(self.factor, chance.standard_normal((len(self.factor), count)), check_finite=False).T

    def matrix(self) -> Array:
        """The covariance of all weights."""
        root = self._root()
        return root @ root.T

    def _root(self) -> Array:
        return solve_triangular(self.factor, np.eye(len(self.factor)), check_finite=False)


@dataclass
class WholeCurvature:
    """The matrix; what is asked of it is done in place, so that there is one of it in memory."""

    matrix: Array
    found: Array | None = field(default=None)

    def spectrum(self) -> Array:
        """All eigenvalues, found from the lower triangle, which is lost; `at` needs the upper one."""
        if self.found is None:
            diagonal = np.diag(self.matrix).copy()
            values = eigvalsh(self.matrix, lower=True, overwrite_a=True, check_finite=False)
            np.fill_diagonal(self.matrix, diagonal)
            self.found = np.maximum(values, 0.0)
        return self.found

    def at(self, t: float) -> WholePosterior:
        """The posterior, for a prior precision of t sigma^2; the matrix is gone then."""
        self.matrix[np.diag_indices(len(self.matrix))] += t
        return WholePosterior(cholesky(self.matrix, lower=False, overwrite_a=True, check_finite=False))


def jacobian(rows: RowSlopes) -> Array:
    """Of the outputs in all weights, shape (n, k, weights)."""
    n, k = rows.outputs.shape
    parts = [
        (inputs[:, None, :, None] * slopes[:, :, None, :]).reshape(n, k, -1)
        for inputs, slopes in zip(rows.inputs, rows.slopes, strict=True)
    ]
    return np.concatenate(parts, axis=2)


def gauss_newton(model: Model, likelihood: OutputLikelihood, X: Array, weights: Array, outputs: int) -> WholeCurvature:
    """The sum of J' H J over all rows, without any J.

    The part of blocks A and B is a sum over rows of products of two matrices: of their inputs a_i a_j, and of their
    slopes S_A' S_B. That is one product of matrices with as many columns as there are pairs; for A = B half of the
    pairs are enough, on both sides.
    """
    shapes = [block.mean.shape for block in model.blocks]
    count = sum(a * b for a, b in shapes)
    if count > MOST_WEIGHTS:
        raise ValueError(
            f"curvature='full' takes a matrix of {count:,} x {count:,} ({8e-9 * count**2:,.0f} GB); above "
            f"{MOST_WEIGHTS:,} weights take 'kron' or 'diag', or weights='last'."
        )
    pairs = [_Pair(shapes, i, j) for i in range(len(shapes)) for j in range(i, len(shapes))]
    largest = max(pair.bytes_per_row for pair in pairs)
    for part in batches(len(X), row_bytes(model, outputs) + largest):
        rows, half = model.rows(X[part]), np.sqrt(weights[part])
        root = likelihood.root(rows.outputs)
        slopes = [weighted(slopes, root, half) for slopes in rows.slopes]
        for pair in pairs:
            pair.add(rows.inputs, slopes)
    matrix = np.empty((count, count), order="F")
    starts = np.cumsum([0, *[a * b for a, b in shapes]])
    while pairs:
        pair = pairs.pop()  # its sum is given back as soon as it is written
        own, other = (slice(starts[k], starts[k + 1]) for k in (pair.i, pair.j))
        pair.write(matrix[own, other])
        if pair.i != pair.j:
            matrix[other, own] = matrix[own, other].T
    return WholeCurvature(matrix)


class _Pair:
    """The part of two blocks, summed over rows."""

    def __init__(self, shapes: list[tuple[int, ...]], i: int, j: int) -> None:
        self.i, self.j = i, j
        (self.a, self.b), (self.c, self.d) = shapes[i], shapes[j]
        self.of_inputs, self.of_slopes = _upper(self.a, self.c, i == j), _upper(self.b, self.d, i == j)
        self.bytes_per_row = 8 * (len(self.of_inputs) + len(self.of_slopes) + self.a * self.c + self.b * self.d)
        self.total = np.zeros((len(self.of_inputs), len(self.of_slopes)))

    def add(self, inputs: list[Array], slopes: list[Array]) -> None:
        """More rows."""
        n = len(inputs[self.i])
        one = (inputs[self.i][:, :, None] * inputs[self.j][:, None, :]).reshape(n, -1)
        two = np.matmul(slopes[self.i].transpose(0, 2, 1), slopes[self.j]).reshape(n, -1)
        if self.i == self.j:
            one, two = one[:, self.of_inputs], two[:, self.of_slopes]
        self.total += one.T @ two

    def write(self, block: Array) -> None:
        """Write the sum to its place, (weights of one, weights of the other), the weights of one input at a time."""
        first, second = self._places(self.a, self.c), self._places(self.b, self.d)
        for k in range(self.a):
            part = self.total[first[k]][:, second]
            block[k * self.b : (k + 1) * self.b] = part.transpose(1, 0, 2).reshape(self.b, self.c * self.d)

    def _places(self, rows: int, columns: int) -> Array:
        """Where each entry of a matrix stands in the sum; of a triangle, (x, y) stands for (y, x), too."""
        places = np.arange(rows * columns).reshape(rows, columns)
        if self.i == self.j:
            upper = np.triu_indices(rows)
            places[upper] = np.arange(len(upper[0]))
            places.T[upper] = places[upper]
        return places


def _upper(rows: int, columns: int, is_half: bool) -> Array:
    """Flat places of a matrix; of the upper triangle if half of it is enough."""
    places = np.arange(rows * columns)
    return places.reshape(rows, columns)[np.triu_indices(rows)] if is_half else places
