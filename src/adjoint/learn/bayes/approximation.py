"""A Gaussian over the weights of a model: curvature, then prior and noise, then the posterior."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..labels import Array
from .evidence import Evidence, KeptWeights
from .exact import linear_posterior
from .likelihoods import OutputLikelihood, likelihood_of
from .reading import LinearModel, Model, batches, row_bytes
from .rotated import diagonal, kronecker
from .whole import gauss_newton

CURVATURES = {"full": gauss_newton, "kron": kronecker, "diag": diagonal}


@dataclass(frozen=True)
class Approximation:
    """The model at the mean of its weights, whose covariance is sigma^2 times the posterior's; t = lambda sigma^2."""

    model: Model
    posterior: Any
    t: float
    sigma2: float
    log_evidence: float
    of_intercept: float

    def outputs(self, X: Array) -> Iterator[tuple[Array, Array]]:
        """Means (n, k) and covariances (n, k, k) of the outputs, for some rows at a time."""
        count = self.model.outputs(X[:1]).shape[1]
        for part in batches(len(X), row_bytes(self.model, count) + count * self.posterior.bytes_per_output):
            rows = self.model.rows(X[part])
            intercept = self.of_intercept * np.eye(count)
            yield rows.outputs, self.sigma2 * (self.posterior.covariance(rows) + intercept)


def approximation(
    model: Model,
    X: Array,
    y: Array,
    weights: Array,
    *,
    classifies: bool,
    curvature: Literal["full", "kron", "diag"],
    precision: float | Literal["evidence"],
    sigma: float | Literal["evidence", "residuals"],
) -> Approximation:
    """The approximation at a model's weights; for a linear regression the posterior itself, with its own mean."""
    outputs = model.outputs(X[:1]).shape[1]
    likelihood = likelihood_of(outputs, classifies=classifies)
    total = float(np.sum(weights))
    exact, free = None, 0
    if isinstance(model, LinearModel) and not classifies:
        free = outputs if model.has_intercept else 0  # intercepts with a flat prior
        exact = linear_posterior(model, X, y, weights) if model.is_least_squares and curvature != "diag" else None
    count = 0.0 if classifies else total * outputs - free
    if sigma == "evidence" and not classifies and count <= 0.0:
        raise ValueError(f"sigma='evidence' needs more rows than one, got n_samples = {len(X)}: give sigma.")
    misfit = _misfit(model, likelihood, X, y, weights)
    square = sum(float(np.sum((block.mean - block.prior) ** 2)) for block in model.blocks)
    evidence = Evidence(
        q=exact.misfit if exact else KeptWeights(misfit, square),
        count=count,
        parameters=sum(block.mean.size for block in model.blocks),
        constant=-0.5 * free * np.log(total),
    )
    matrix: Any = exact.curvature if exact else CURVATURES[curvature](model, likelihood, X, weights, outputs)
    sigma2 = 1.0 if classifies else _variance(sigma, misfit / (total * outputs))
    if sigma2 is None or precision == "evidence":
        wanted = None if precision == "evidence" else float(precision)
        t, sigma2 = evidence.best(matrix.spectrum(), precision=wanted, sigma2=sigma2)
    else:
        t = precision * sigma2
    posterior = matrix.at(t)
    return Approximation(
        exact.moved(t) if exact else model,
        posterior,
        t,
        sigma2,
        evidence.log(t, sigma2, posterior.log_det),
        1.0 / total if free else 0.0,
    )


def _misfit(model: Model, likelihood: OutputLikelihood, X: Array, y: Array, weights: Array) -> float:
    """-2 log likelihood, or the sum of squares, over all rows."""
    each = 64 * sum(sum(block.mean.shape) for block in model.blocks)
    return sum(likelihood.misfit(model.outputs(X[k]), y[k], weights[k]) for k in batches(len(X), each))


def _variance(sigma: float | Literal["evidence", "residuals"], mean_square: float) -> float | None:
    """Of the noise; None if the evidence says."""
    if sigma == "evidence":
        return None
    return max(mean_square, float(np.finfo(np.float64).tiny)) if sigma == "residuals" else float(sigma) ** 2
