"""Probabilities of classes, averaged over Gaussian logits."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, softmax

from ..labels import Array

DIFFERENCE = np.array([[-1.0, 1.0]])
CHUNK = 2**21
"""Numbers drawn together."""


def averaged(logits: Array, covariance: Array, noise: Array | None = None, *, is_centred: bool = False) -> Array:
    """The mean of softmax(z), or of the sigmoid of one logit, for z of these means (n, k) and covariances (n, k, k).

    Without noise by MacKay's formula, z / sqrt(1 + pi/8 var z), if asked for of logits less their mean; with noise
    (draws, k), which is N(0, 1), by draws. Of two logits only the difference says anything: their formula is that of
    one.
    """
    count = logits.shape[1]
    if count == 2 or (is_centred and count > 2):
        change = DIFFERENCE if count == 2 else np.eye(count) - 1.0 / count
        logits, covariance = logits @ change.T, change @ covariance @ change.T
    if noise is None:
        scaled = logits / np.sqrt(1.0 + np.pi / 8.0 * np.einsum("nkk->nk", covariance))
        return probabilities(scaled)
    roots = _roots(covariance)
    size = max(1, CHUNK // noise[:, : logits.shape[1]].size)
    parts = []
    for start in range(0, len(logits), size):
        part = slice(start, start + size)
        draws = logits[part, None, :] + noise[:, : logits.shape[1]] @ roots[part].transpose(0, 2, 1)
        parts.append(np.mean(probabilities(draws), axis=1))
    return np.concatenate(parts)


def probabilities(logits: Array) -> Array:
    """softmax(logits), or of one logit that of the second class."""
    if logits.shape[-1] > 1:
        return softmax(logits, axis=-1)
    return np.concatenate([expit(-logits), expit(logits)], axis=-1)


def _roots(covariance: Array) -> Array:
    """R with R R' = covariance, which may be singular."""
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
