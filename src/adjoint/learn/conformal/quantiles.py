"""Quantiles and p-values of conformal prediction.

If calibration scores s_1 .. s_n and a new score are exchangeable, the new one is at most the ceil((n + 1) c)-th
smallest of the n with probability at least c. A threshold that was fixed without calibration data has no such
guarantee.
"""

from __future__ import annotations

from math import ceil
from numbers import Real
from typing import Any

import numpy as np

from ..labels import Array
from ..scoring import is_frozen


def conformal_quantile(scores: Any, coverage: float, *, weights: Any = None) -> float:
    """The threshold that a new score stays below with probability `coverage` at the least.

    Parameters
    ----------
    scores : array of shape (n,)
        Scores of calibration examples: the larger, the stranger.
    coverage : float
        Between 0 and 1.
    weights : array of shape (n,), optional
        How much more likely each calibration example is among new ones (covariate shift); the new example has weight
        1 on the same scale.

    Returns
    -------
    float
        The ceil((n + 1) coverage)-th smallest score.

    Raises
    ------
    ValueError
        If there are too few scores for the coverage: 0.9 takes 9, 0.99 takes 99.

    Examples
    --------
    >>> conformal_quantile(np.arange(1.0, 10.0), 0.9)
    9.0
    """
    values = _numbers(scores, "scores")
    count = len(values)
    check_coverage(coverage)
    if weights is None:
        rank = rank_of(count, coverage)
        return float(np.partition(values, rank - 1)[rank - 1])
    each = np.asarray(weights, dtype=np.float64)
    if each.shape != values.shape or not np.all(each >= 0.0):
        raise ValueError(f"weights has to be {count} numbers of at least 0, one for each score.")
    order = np.argsort(values)
    reached = np.cumsum(each[order]) / (np.sum(each) + 1.0)
    place = int(np.searchsorted(reached, coverage - ROUNDING))
    if place == count:
        raise ValueError(f"coverage={coverage} takes calibration weights of more than {coverage / (1 - coverage):.3g}.")
    return float(values[order[place]])


def conformal_p_values(calibration: Any, test: Any) -> Array:
    """How often a score at least as strange would be seen: (1 + number of calibration scores >= s) / (n + 1).

    Parameters
    ----------
    calibration : array of shape (n,)
        Scores of calibration examples: the larger, the stranger.
    test : array of any shape
        Scores of new examples.

    Returns
    -------
    array of the shape of `test`
        Below c with probability c at the most.

    Examples
    --------
    >>> conformal_p_values([1.0, 2.0, 3.0], [0.0, 2.5, 9.0])
    array([1.  , 0.5 , 0.25])
    """
    ordered = np.sort(_numbers(calibration, "calibration"))
    new = np.asarray(test, dtype=np.float64)
    if np.any(np.isnan(new)):
        raise ValueError("test has NaN, which is neither strange nor not.")
    below = np.searchsorted(ordered, new, side="left")
    return (1.0 + (len(ordered) - below)) / (len(ordered) + 1.0)


def _numbers(values: Any, name: str) -> Array:
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1 or np.any(np.isnan(found)):
        raise ValueError(f"{name} has to be a vector of numbers without NaN, got the shape {found.shape}.")
    return found


ROUNDING = 1e-12
"""(n + 1) coverage may miss a whole number by rounding: 0.9 of 10 is 9."""


def rank_of(count: int, coverage: float) -> int:
    """Which of `count` calibration scores, from 1, is the threshold; refused if there are too few."""
    rank = ceil((count + 1) * coverage - ROUNDING * (count + 1))
    if rank > count:
        needed = ceil(coverage / (1.0 - coverage) - ROUNDING / (1.0 - coverage))
        raise ValueError(f"coverage={coverage} takes {needed} calibration examples at the least, got {count}.")
    return max(rank, 1)


def check_coverage(coverage: float) -> None:
    """Refuse what is no probability below 1."""
    if not isinstance(coverage, Real) or not 0.0 < coverage < 1.0:
        raise ValueError(f"coverage has to be between 0 and 1, got {coverage!r}.")


def guarantee(model: Any, *, is_split: bool) -> str:
    """What a fitted wrapper guarantees, in words."""
    share = f"of new examples{' in each group' if model.by is not None else ''}"
    with_rows = f"if exchangeable with {model.n_calibration_} of calibration"
    if model.weight is not None:
        worth = f"{model.n_calibration_} of calibration, worth {model.n_effective_:.0f},"
        with_rows = f"if they differ from {worth} in the distribution of X alone, as weight says"
    if is_split:
        how = "given estimator" if is_frozen(model.estimator) else "split"
        return f"at least {model.coverage:g} {share}, {with_rows} ({how})"
    least = max(0.0, 2 * model.coverage - 1)
    return f"at least {least:g} {share}, as a rule {model.coverage:g}, {with_rows} (cross-fitting)"
