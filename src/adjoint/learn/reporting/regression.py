"""The numbers of a report about a regressor."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..labels import Array
from .asking import Answers
from .intervals import with_intervals
from .sets import of_intervals

POINTS = 400
"""Rows that are drawn, at most: more hide one another."""
BARS = 24


def of_values(answers: Answers, *, coverage: float) -> dict[str, Any]:
    """All numbers of a regressor but those that take refitting."""
    y, taken = answers.y, answers.taken
    errors = y - taken

    def explained(weights: Array) -> float:
        left = np.average(errors**2, weights=weights)
        all_of_it = np.average((y - np.average(y, weights=weights)) ** 2, weights=weights)
        return float(1.0 - left / all_of_it) if all_of_it > 0.0 else float("nan")

    scores = with_intervals(
        len(y),
        {
            "R²": explained,
            "root mean square error": lambda w: float(np.sqrt(np.average(errors**2, weights=w))),
            "mean absolute error": lambda w: float(np.average(np.abs(errors), weights=w)),
            "mean of truth - prediction": lambda w: float(np.average(errors, weights=w)),
        },
    )
    intervals = of_intervals(answers, coverage)
    shown = np.sort(np.random.default_rng(0).permutation(len(y))[:POINTS])
    both = intervals.pop("ends", None)
    bars, edges = np.histogram(errors, bins=min(BARS, max(4, round(np.sqrt(len(y))))))
    points: dict[str, Any] = {"truth": y[shown].tolist(), "prediction": taken[shown].tolist()}
    if both is not None:
        points |= {"low": both[shown, 0].tolist(), "high": both[shown, 1].tolist()}
    return {
        "scores": scores,
        "intervals": intervals,
        "residuals": {"counts": bars.tolist(), "edges": edges.tolist()},
        "points": points,
    }
