"""Curvature that is diagonal, as it is or after a rotation of inputs and of outputs: "diag" and "kron"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from ..labels import Array
from .likelihoods import OutputLikelihood, weighted
from .reading import Model, RowSlopes, batches, row_bytes


@dataclass(frozen=True)
class Axes:
    """A block in the coordinates where its curvature is `values` (inputs, outputs) on the diagonal; None: unrotated."""

    values: Array
    of_inputs: Array | None = None
    of_outputs: Array | None = None

    def back(self, coordinates: Array) -> Array:
        """From these coordinates to those of the weights, shape (..., inputs, outputs)."""
        if self.of_inputs is not None:
            coordinates = self.of_inputs @ coordinates
        return coordinates if self.of_outputs is None else coordinates @ self.of_outputs.T


@dataclass(frozen=True)
class RotatedPosterior:
    """(curvature + t)^-1, for sigma = 1."""

    axes: list[Axes]
    t: float

    @property
    def log_det(self) -> float:
        """The logarithm of the determinant of curvature + t."""
        return float(sum(np.sum(np.log(axis.values + self.t)) for axis in self.axes))

    @property
    def trace(self) -> float:
        """Of the covariance."""
        return float(sum(np.sum(1.0 / (axis.values + self.t)) for axis in self.axes))

    @property
    def bytes_per_output(self) -> int:
        """Beyond those of inputs and slopes: none to speak of."""
        return 0

    def covariance(self, rows: RowSlopes) -> Array:
        """Of the outputs, shape (n, k, k)."""
        total = np.zeros((*rows.outputs.shape, rows.outputs.shape[1]))
        for axis, inputs, slopes in zip(self.axes, rows.inputs, rows.slopes, strict=True):
            a = inputs if axis.of_inputs is None else inputs @ axis.of_inputs
            s = slopes if axis.of_outputs is None else slopes @ axis.of_outputs
            spread = a**2 @ (1.0 / (axis.values + self.t))
            total += np.matmul(s * spread[:, None, :], s.transpose(0, 2, 1))
        return total

    def draw(self, chance: Any, count: int) -> Array:
        """Deviations of the weights from their mean, shape (count, weights)."""
        parts = [
            axis.back(chance.standard_normal((count, *axis.values.shape)) / np.sqrt(axis.values + self.t))
            for axis in self.axes
        ]
        return np.concatenate([part.reshape(count, -1) for part in parts], axis=1)

    def matrix(self) -> Array:
        """The covariance of all weights."""
        sizes = [axis.values.size for axis in self.axes]
        full, start = np.zeros((sum(sizes), sum(sizes))), 0
        for axis, size in zip(self.axes, sizes, strict=True):
            each = np.eye(size).reshape(size, *axis.values.shape) / np.sqrt(axis.values + self.t)
            root = axis.back(each).reshape(size, size)
            full[start : start + size, start : start + size] = root.T @ root
            start += size
        return full


@dataclass(frozen=True)
class Rotated:
    """Blocks, each with axes of its own."""

    axes: list[Axes]

    def spectrum(self) -> Array:
        """All eigenvalues."""
        return np.concatenate([axis.values.ravel() for axis in self.axes])

    def at(self, t: float) -> RotatedPosterior:
        """The posterior, for a prior precision of t sigma^2."""
        return RotatedPosterior(self.axes, t)


def diagonal(model: Model, likelihood: OutputLikelihood, X: Array, weights: Array, outputs: int) -> Rotated:
    """The diagonal of the Gauss-Newton matrix."""
    sums = [np.zeros(block.mean.shape) for block in model.blocks]
    for rows, half in _each(model, X, weights, outputs):
        for total, inputs, slopes in zip(sums, rows.inputs, rows.slopes, strict=True):
            moved = weighted(slopes, likelihood.root(rows.outputs), half)
            total += (inputs**2).T @ np.sum(moved**2, axis=1)
    return Rotated([Axes(total) for total in sums])


def kronecker(model: Model, likelihood: OutputLikelihood, X: Array, weights: Array, outputs: int) -> Rotated:
    """For each block the product of second moments of inputs and of slopes, in place of the moment of products."""
    shapes = [block.mean.shape for block in model.blocks]
    of_inputs, of_outputs = [np.zeros((a, a)) for a, _ in shapes], [np.zeros((b, b)) for _, b in shapes]
    for rows, half in _each(model, X, weights, outputs):
        root = likelihood.root(rows.outputs)
        for k, (inputs, slopes) in enumerate(zip(rows.inputs, rows.slopes, strict=True)):
            scaled = inputs * half[:, None]
            of_inputs[k] += scaled.T @ scaled
            flat = weighted(slopes, root, half).reshape(-1, slopes.shape[2])
            of_outputs[k] += flat.T @ flat
    total = np.sum(weights)
    return Rotated([_product(a / total, b) for a, b in zip(of_inputs, of_outputs, strict=True)])


def _product(of_inputs: Array, of_outputs: Array) -> Axes:
    a, inputs = eigh(of_inputs, check_finite=False)
    b, outputs = eigh(of_outputs, check_finite=False)
    return Axes(np.outer(np.maximum(a, 0.0), np.maximum(b, 0.0)), inputs, outputs)


def _each(model: Model, X: Array, weights: Array, outputs: int) -> Any:
    """Rows in batches, with the roots of their weights."""
    for part in batches(len(X), row_bytes(model, outputs)):
        yield model.rows(X[part]), np.sqrt(weights[part])
