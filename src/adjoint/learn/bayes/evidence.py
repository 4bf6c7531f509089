r"""The logarithm of the marginal likelihood, and the prior and the noise where it is greatest.

With curvature G for sigma = 1, prior precision lambda and t = lambda sigma^2, the posterior precision is
(G + t) / sigma^2, and

    log p(y) = -n/2 log(2 pi sigma^2) - q(t) / (2 sigma^2) + p/2 log t - 1/2 log det(G + t)

where q(t) is the misfit plus t times the square of the weights. Only the eigenvalues of G are needed, for every t.
For classes n = 0 and sigma = 1, and the misfit is -2 log likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import brentq

from ..labels import Array

DECADES = 14.0
"""How far t may be from the largest eigenvalue."""
GRID = 281


class Misfit(Protocol):
    """q(t), and its slope: the square of the weights."""

    def value(self, t: Array) -> Array:
        """q."""

    def slope(self, t: Array) -> Array:
        """dq/dt."""


@dataclass(frozen=True)
class KeptWeights:
    """Weights that stay where they are."""

    misfit: float
    square: float

    def value(self, t: Array) -> Array:
        """q."""
        return self.misfit + t * self.square

    def slope(self, t: Array) -> Array:
        """dq/dt."""
        return np.full(np.shape(t), self.square)


@dataclass(frozen=True)
class MovingWeights:
    """Weights of a linear regression at the maximum of the posterior for every t.

    The misfit is rest + sum t / (s + t) alpha^2 for eigenvalues s; alpha^2 is the square of the targets along each.
    """

    rest: float
    values: Array
    along: Array

    def value(self, t: Array) -> Array:
        """q."""
        t = np.asarray(t)[..., None]
        return self.rest + np.sum(t / (self.values + t) * self.along, axis=-1)

    def slope(self, t: Array) -> Array:
        """dq/dt."""
        t = np.asarray(t)[..., None]
        return np.sum(self.values / (self.values + t) ** 2 * self.along, axis=-1)


@dataclass(frozen=True)
class Evidence:
    """What is maximised; `count` is the number of values, `parameters` that of weights."""

    q: Misfit
    count: float
    parameters: int
    constant: float = 0.0

    def log(self, t: float, sigma2: float, log_det: float) -> float:
        """log p(y)."""
        fit = -0.5 * self.count * np.log(2.0 * np.pi * sigma2) - 0.5 * float(self.q.value(np.array(t))) / sigma2
        return float(fit + 0.5 * (self.parameters * np.log(t) - log_det) + self.constant)

    def sigma2(self, t: Array) -> Array:
        """The variance of the noise where the evidence is greatest, for a fixed t."""
        return self.q.value(t) / self.count

    def best(self, spectrum: Array, *, precision: float | None, sigma2: float | None) -> tuple[float, float]:
        """t and sigma^2 where the evidence is greatest; what is given stays."""
        top = float(np.max(spectrum, initial=0.0)) or 1.0
        logs = np.log(top) + np.log(10.0) * np.linspace(-DECADES, DECADES, GRID)

        def noise(t: Array) -> Array:
            if sigma2 is not None:
                return np.full(np.shape(t), sigma2)
            return np.maximum(self.sigma2(t) if precision is None else t / precision, np.finfo(np.float64).tiny)

        def value(log_t: Array) -> Array:
            t = np.exp(log_t)
            terms = np.log(t)[..., None] - np.log(spectrum + t[..., None])
            return -0.5 * (self.count * np.log(noise(t)) + self.q.value(t) / noise(t) - np.sum(terms, axis=-1))

        def slope(log_t: float) -> float:
            t = np.array(np.exp(log_t))
            by_t = -t * self.q.slope(t) / noise(t) + np.sum(spectrum / (spectrum + t))
            by_noise = 0.0 if precision is None else self.q.value(t) / noise(t) - self.count
            return float(by_t + by_noise)

        heights = value(logs)
        k = int(np.argmax(heights))
        low, high = logs[max(k - 1, 0)], logs[min(k + 1, GRID - 1)]
        found = brentq(slope, low, high, xtol=1e-14, rtol=1e-14) if slope(low) > 0.0 > slope(high) else logs[k]
        t = float(np.exp(found))
        return t, float(noise(np.array(t)))
