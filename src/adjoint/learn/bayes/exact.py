"""Linear regression, where the posterior is Gaussian: nothing is approximated, its mean is known for every prior."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import qr, svd

from ..labels import Array
from .evidence import MovingWeights
from .reading import LinearModel, batches
from .rotated import Axes, Rotated


@dataclass(frozen=True)
class LinearPosterior:
    """X and y, centred if there is an intercept, in the axes of X: along each, its square and what y has there."""

    model: LinearModel
    curvature: Rotated
    misfit: MovingWeights
    along: Array
    middle: Array

    def moved(self, t: float) -> LinearModel:
        """The model at the mean of the posterior."""
        axis = self.curvature.axes[0]
        root = np.sqrt(axis.values[:, :1])
        weight = axis.back(root / (root**2 + t) * self.along)
        return replace(self.model, weight=weight, bias=self.middle)


def linear_posterior(model: LinearModel, X: Array, y: Array, weights: Array) -> LinearPosterior:
    """From a triangle R with R' R = [X y]' [X y], which is made batch by batch and loses no digits, as X' X would."""
    middle = weights @ y / np.sum(weights) if model.has_intercept else np.zeros(y.shape[1])
    size = X.shape[1]
    R = np.zeros((0, size + y.shape[1]))
    for part in batches(len(X), 24 * R.shape[1]):
        rows = np.hstack([X[part] - model.centre, y[part] - middle]) * np.sqrt(weights[part])[:, None]
        R = qr(np.vstack([R, rows]), mode="r", check_finite=False)[0][: R.shape[1]]
    R = np.vstack([R, np.zeros((R.shape[1] - len(R), R.shape[1]))])
    U, s, V = svd(R[:size, :size], check_finite=False)
    along = U.T @ R[:size, size:]
    values = s**2
    axes = Axes(np.repeat(values[:, None], y.shape[1], axis=1), V.T)
    rest = float(np.sum(R[size:, size:] ** 2))
    return LinearPosterior(model, Rotated([axes]), MovingWeights(rest, values, np.sum(along**2, axis=1)), along, middle)
