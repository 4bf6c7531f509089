"""Scores with intervals: by the bootstrap, and of shares by their exact distribution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import binomtest

from ..labels import Array

DRAWS = 200
"""Samples of the bootstrap: the ends of an interval are known to about a fifth of its width, one digit."""
CONFIDENCE = 0.95

Score = Callable[[Array], float]


def with_intervals(count: int, scores: dict[str, Score], *, biased: tuple[str, ...] = ()) -> dict[str, Any]:
    """Each score of weights of rows, with an interval: that of the middle 95 % over samples drawn with replacement.

    Those in `biased` are larger in a sample than in truth, by chance alone: their draws are reflected at the value.
    """
    generator = np.random.default_rng(0)
    drawn: dict[str, list[float]] = {name: [] for name in scores}
    for _ in range(DRAWS):
        weights = np.bincount(generator.integers(count, size=count), minlength=count).astype(np.float64)
        for name, score in scores.items():
            drawn[name].append(score(weights))
    found = {}
    for name, score in scores.items():
        value = score(np.ones(count))
        if not np.isfinite(value):
            continue
        low, high = np.nanquantile(drawn[name], [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
        if name in biased:
            low, high = max(0.0, 2 * value - high), max(value, 2 * value - low)
        found[name] = estimate(value, low, high)
    return found


def share(hits: Array) -> dict[str, float]:
    """The share of what came true, with its exact interval."""
    count = len(hits)
    ends = binomtest(int(np.sum(hits)), count).proportion_ci(CONFIDENCE, method="exact")
    return estimate(float(np.mean(hits)), ends.low, ends.high)


def estimate(value: float, low: float, high: float) -> dict[str, float]:
    """A number and the ends of its interval."""
    return {"value": float(value), "low": float(low), "high": float(high)}
