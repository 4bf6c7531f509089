"""Likelihoods of outputs: how well they fit, and roots of their curvature."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy.special import expit, logsumexp, softmax

from ..labels import Array


class OutputLikelihood(Protocol):
    """How likely targets are, given outputs (n, k)."""

    def misfit(self, outputs: Array, y: Array, weights: Array) -> float:
        """-2 log likelihood; for a Gaussian the sum of squares, for sigma = 1 and without its constant."""

    def root(self, outputs: Array) -> Array | None:
        """R of shape (n, k, k) with R R' the Hessian of -log likelihood in the outputs; None is the identity."""


class Gaussian:
    """Noise of one variance, which is put in later."""

    def misfit(self, outputs: Array, y: Array, weights: Array) -> float:
        """The sum over rows."""
        return float(weights @ np.sum((y - outputs) ** 2, axis=1))

    def root(self, outputs: Array) -> Array | None:
        """Of the Hessian."""
        return None


class Categorical:
    """Logits of classes."""

    def misfit(self, outputs: Array, y: Array, weights: Array) -> float:
        """The sum over rows."""
        return float(2.0 * weights @ (logsumexp(outputs, axis=1) - outputs[np.arange(len(y)), y]))

    def root(self, outputs: Array) -> Array | None:
        """Of the Hessian."""
        p = softmax(outputs, axis=1)
        half = np.sqrt(p)
        return half[:, :, None] * np.eye(p.shape[1]) - p[:, :, None] * half[:, None, :]


class Bernoulli:
    """One logit, of the second of two classes."""

    def misfit(self, outputs: Array, y: Array, weights: Array) -> float:
        """The sum over rows."""
        return float(2.0 * weights @ np.logaddexp(0.0, np.where(y == 1, -1.0, 1.0) * outputs[:, 0]))

    def root(self, outputs: Array) -> Array | None:
        """Of the Hessian."""
        return np.sqrt(expit(outputs) * expit(-outputs))[:, :, None]


def weighted(slopes: Array, root: Array | None, half: Array) -> Array:
    """R' S, times the root of each row's weight."""
    moved = slopes if root is None else np.matmul(root.transpose(0, 2, 1), slopes)
    return moved * half[:, None, None]


def likelihood_of(outputs: int, *, classifies: bool) -> Any:
    """The likelihood that a classifier, or a regressor, with so many outputs stands for."""
    if not classifies:
        return Gaussian()
    return Bernoulli() if outputs == 1 else Categorical()
