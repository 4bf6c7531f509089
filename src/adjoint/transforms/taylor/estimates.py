"""How far a Taylor series is good: estimates from the decay of its coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

FEW = 3
"""Below so many coefficients nothing is said."""
WEAK = 0.02
"""How strongly powers of k are held back in the fit, so that few coefficients are taken for a plain decay."""


def radii(row: Any) -> Any:
    """For each number of a result the radius of convergence, given its coefficients, the order first.

    Sizes are taken to go as C R**-k k**a, as they do for poles and branch points; C, R and a are fitted to logarithms.
    """
    sizes = np.abs(row.reshape(len(row), -1)).astype(float)
    order = len(row) - 1
    if order + 1 < FEW:
        return np.full(row.shape[1:], np.nan)[()]
    k = np.arange(max(1, order // 4), order + 1)
    taken = sizes[k]
    there = np.where(np.isfinite(taken), taken > 0.0, False)
    logs = np.log(np.where(there, taken, 1.0))
    columns = np.stack([np.ones(len(k)), k - k.mean(), np.log(k / k.mean())])
    normal = np.einsum("ik,jk,km->mij", columns, columns, there.astype(float))
    normal = normal + np.diag([1e-9, 1e-9, WEAK])
    wanted = np.einsum("ik,km->mi", columns, logs * there)
    slopes = np.linalg.solve(normal, wanted[..., None])[:, 1, 0]
    with np.errstate(over="ignore"):
        found = np.exp(-slopes)
    found = np.where(np.sum(there, 0) < 2, np.nan, found)
    found = np.where(np.any(~np.isfinite(sizes), 0), np.nan, found)
    ends = np.all(sizes[-max(2, len(sizes) // 3) :] == 0.0, 0)
    return np.where(ends, np.inf, found).reshape(row.shape[1:])[()]


def remainder(row: Any, radius: Any, s: Any) -> Any:
    """The size of the terms that were left out, as those of a geometric series that goes on from the last two."""
    order = len(row) - 1
    ratio = np.abs(s) / radius
    last = [np.abs(row[k]) * np.abs(s) ** k * ratio ** (order - k) for k in range(max(order - 1, 0), order + 1)]
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.maximum.reduce(last) * ratio / (1.0 - ratio)
    return np.where(ratio < 1.0, found, np.where(np.isnan(ratio), np.nan, np.inf))[()]
