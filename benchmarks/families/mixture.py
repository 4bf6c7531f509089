"""The log-likelihood of a Gaussian mixture with a Wishart prior (the GMM of ADBench)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..row import Function, Row

POINTS, DIMENSIONS, PARTS = 1000, 10, 25
GAMMA, EXTRA = 1.0, 0
"""The prior: its scale, and its degrees of freedom beyond the smallest."""
ROWS_BELOW, COLUMNS_BELOW = np.tril_indices(DIMENSIONS, -1)
DIAGONAL = np.arange(DIMENSIONS)


def data() -> np.ndarray:
    return np.random.default_rng(5).normal(size=(POINTS, DIMENSIONS))


def point() -> list[np.ndarray]:
    """Weights, means, and for each part the logarithms of a triangular matrix's diagonal and what is below."""
    random = np.random.default_rng(6)
    below = len(ROWS_BELOW)
    return [
        random.normal(size=PARTS),
        random.normal(size=(PARTS, DIMENSIONS)),
        0.3 * random.normal(size=(PARTS, DIMENSIONS + below)),
    ]


def constant() -> float:
    """What does not depend on the parameters."""
    d, freedom = DIMENSIONS, DIMENSIONS + EXTRA + 1
    gammas = 0.25 * d * (d - 1) * math.log(math.pi) + sum(math.lgamma(0.5 * (freedom - j)) for j in range(d))
    prior = freedom * d * (math.log(GAMMA) - 0.5 * math.log(2.0)) - gammas
    return -0.5 * POINTS * d * math.log(2.0 * math.pi) - PARTS * prior


def likelihood(library: Any) -> Function:
    np, assigned = library.np, library.assigned
    x = np.asarray(np.asarray(data()).T)

    def logsumexp(x: Any) -> Any:
        top = np.amax(x, axis=0)
        return top + np.log(np.sum(np.exp(x - top), axis=0))

    def f(parameters: Any) -> Any:
        weights, means, triangles = parameters
        logs, below = triangles[:, :DIMENSIONS], triangles[:, DIMENSIONS:]
        diagonal = np.exp(logs)
        sums = np.sum(logs, axis=1)
        q = np.zeros((PARTS, DIMENSIONS, DIMENSIONS))
        q = assigned(q, (slice(None), ROWS_BELOW, COLUMNS_BELOW), below)
        q = assigned(q, (slice(None), DIAGONAL, DIAGONAL), diagonal)
        scaled = q @ (x[None, :, :] - means[:, :, None])
        terms = (weights + sums)[:, None] - 0.5 * np.sum(scaled**2, axis=1)
        prior = 0.5 * GAMMA**2 * (np.sum(diagonal**2) + np.sum(below**2)) - EXTRA * np.sum(sums)
        return constant() + np.sum(logsumexp(terms)) - POINTS * logsumexp(weights) + prior

    return f


TRANSPOSED = np.ascontiguousarray(data().T)


def by_hand(parameters: list[np.ndarray]) -> Any:
    weights, means, triangles = parameters
    logs, below = triangles[:, :DIMENSIONS], triangles[:, DIMENSIONS:]
    diagonal = np.exp(logs)
    sums = logs.sum(axis=1)
    q = np.zeros((PARTS, DIMENSIONS, DIMENSIONS))
    q[:, ROWS_BELOW, COLUMNS_BELOW] = below
    q[:, DIAGONAL, DIAGONAL] = diagonal
    centred = TRANSPOSED - means[:, :, None]
    scaled = q @ centred
    p = np.einsum("kdn,kdn->kn", scaled, scaled)
    p *= -0.5
    p += (weights + sums)[:, None]
    top = p.max(axis=0)
    p -= top
    np.exp(p, out=p)
    totals = p.sum(axis=0)
    highest = weights.max()
    share = np.exp(weights - highest)
    value = (
        constant()
        + top.sum()
        + np.log(totals).sum()
        - POINTS * (highest + math.log(share.sum()))
        + 0.5 * GAMMA**2 * (np.vdot(diagonal, diagonal) + np.sum(below * below))
        - EXTRA * sums.sum()
    )
    p /= totals
    counts = p.sum(axis=1)
    scaled *= p[:, None, :]
    to_q = scaled @ centred.transpose(0, 2, 1)
    to_triangles = np.empty_like(triangles)
    to_triangles[:, :DIMENSIONS] = (counts - EXTRA)[:, None] + diagonal * (
        GAMMA**2 * diagonal - to_q[:, DIAGONAL, DIAGONAL]
    )
    to_triangles[:, DIMENSIONS:] = GAMMA**2 * below - to_q[:, ROWS_BELOW, COLUMNS_BELOW]
    to_means = np.einsum("kij,ki->kj", q, scaled.sum(axis=2))
    return value, [counts - POINTS * share / share.sum(), to_means, to_triangles]


ROWS = {
    "gmm": Row(
        f"Gaussian mixture, {POINTS:,} points, {DIMENSIONS} dimensions, {PARTS} parts",
        likelihood,
        point,
        by_hand,
        without={"autograd": "no assignment into arrays"},
    )
}
