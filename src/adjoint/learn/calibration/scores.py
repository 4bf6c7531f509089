"""Proper scores of probabilities, and how much of them calibration can win."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..labels import predictions
from .binning import binned


@dataclass(frozen=True)
class BrierScore:
    """A Brier score and its parts: value = reliability - resolution + uncertainty + within.

    `reliability` is what better calibration would win, `resolution` what telling examples apart has won over the base
    rates, whose own score is `uncertainty`; `within` is what the bins hide.
    """

    value: float
    reliability: float
    resolution: float
    uncertainty: float
    within: float


def brier_score(
    y: Any, p: Any, *, bins: int = 15, sample_weight: Any = None, labels: Any = None, decompose: bool = False
) -> float | BrierScore:
    """The mean over examples of sum_k (p_k - [y = k])^2, 0 at best and 2 at worst.

    Parameters
    ----------
    y, p, sample_weight, labels
        As in `calibration_error`.
    decompose : bool
        Whether its parts are given too, by bins of each class's probability.
    bins : int
        Number of these bins.

    Returns
    -------
    float or BrierScore
        For two classes twice what `sklearn.metrics.brier_score_loss` gives, which looks at one of them.

    Examples
    --------
    >>> round(brier_score([1, 0], [[0.2, 0.8], [0.5, 0.5]]), 12)
    0.29
    >>> parts = brier_score([1, 0], [[0.2, 0.8], [0.5, 0.5]], decompose=True)
    >>> bool(np.isclose(parts.value, parts.reliability - parts.resolution + parts.uncertainty + parts.within))
    True
    """
    given = predictions(y, p, labels=labels, sample_weight=sample_weight)
    share = given.weights / np.sum(given.weights)
    truth = given.codes[:, None] == np.arange(given.p.shape[1])
    value = float(share @ np.sum((given.p - truth) ** 2, axis=1))
    if not decompose:
        return value
    reliability = resolution = 0.0
    rates = share @ truth
    for k, rate in enumerate(rates):
        found = binned(given.p[:, k], truth[:, k], share, bins, "uniform")
        filled = found.count > 0
        count, confidence, accuracy = found.count[filled], found.confidence[filled], found.accuracy[filled]
        reliability += float(count @ (accuracy - confidence) ** 2)
        resolution += float(count @ (accuracy - rate) ** 2)
    uncertainty = float(np.sum(rates * (1.0 - rates)))
    return BrierScore(value, reliability, resolution, uncertainty, value - reliability + resolution - uncertainty)
