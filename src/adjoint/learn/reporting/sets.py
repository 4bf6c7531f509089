"""How often sets and intervals hold the truth: the model's own, or those that half of the rows give the other half."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..conformal.quantiles import conformal_quantile
from ..labels import Array
from ..scoring import SMALLEST
from .asking import Answers
from .intervals import share

LEVELS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
OWN, HALVES = "the model's own", "conformal: one half of these rows calibrates the other, and in turn"


def of_sets(answers: Answers, coverage: float) -> dict[str, Any]:
    """Coverage and sizes of sets of classes, at the coverage asked for and at others."""
    rows, codes, p = np.arange(len(answers.codes)), answers.codes, answers.p
    is_own = all(hasattr(estimator, "predict_set") for estimator in answers.folds.estimators)
    strange = -np.log(np.maximum(p, SMALLEST)) if p is not None else np.empty(0)

    def sets(level: float) -> Array | None:
        try:
            if is_own:
                return answers.each(lambda estimator, X: estimator.predict_set(X, coverage=level))
            limits = crossed(strange[rows, codes], level)
        except ValueError:  # too few rows for this level
            return None
        return strange <= limits[:, None]

    levels: list[dict[str, float]] = []
    found: dict[str, Any] = {"method": OWN if is_own else HALVES, "asked": coverage, "levels": levels}
    for level in sorted({*LEVELS, coverage}):
        held = sets(level)
        if held is None:
            continue
        hits, sizes = held[rows, codes], held.sum(axis=1)
        levels.append({"asked": level, "held": float(np.mean(hits)), "size": float(np.mean(sizes))})
        if level == coverage:
            found["coverage"], found["mean size"] = share(hits), float(np.mean(sizes))
            found["sizes"] = np.bincount(sizes, minlength=held.shape[1] + 1).tolist()
            found["by class"] = [
                float(np.mean(hits[codes == k])) if np.any(codes == k) else None for k in range(held.shape[1])
            ]
    if is_own:
        found["guarantee"] = getattr(answers.folds.estimators[0], "guarantee_", None)
    return found


def of_intervals(answers: Answers, coverage: float) -> dict[str, Any]:
    """Coverage and widths of intervals, at the coverage asked for and at others."""
    y, errors = answers.y, np.abs(answers.y - answers.taken)
    is_own = all(hasattr(estimator, "predict_interval") for estimator in answers.folds.estimators)

    def ends(level: float) -> Array | None:
        try:
            if is_own:
                return answers.each(lambda estimator, X: estimator.predict_interval(X, coverage=level))
            limits = crossed(errors, level)
        except ValueError:
            return None
        return np.stack([answers.taken - limits, answers.taken + limits], axis=1)

    levels: list[dict[str, float]] = []
    found: dict[str, Any] = {"method": OWN if is_own else HALVES, "asked": coverage, "levels": levels}
    for level in sorted({*LEVELS, coverage}):
        both = ends(level)
        if both is None:
            continue
        hits, width = (both[:, 0] <= y) & (y <= both[:, 1]), float(np.mean(both[:, 1] - both[:, 0]))
        levels.append({"asked": level, "held": float(np.mean(hits)), "width": width})
        if level == coverage:
            found["coverage"], found["mean width"] = share(hits), width
            found["ends"] = both
    if is_own:
        found["guarantee"] = getattr(answers.folds.estimators[0], "guarantee_", None)
    return found


def crossed(scores: Array, coverage: float) -> Array:
    """For each row the conformal quantile of the half that it is not in."""
    half = np.random.default_rng(0).permutation(len(scores)) % 2 == 0
    limits = np.empty(len(scores))
    limits[half] = conformal_quantile(scores[~half], coverage)
    limits[~half] = conformal_quantile(scores[half], coverage)
    return limits
