"""How far probabilities are from how often they come true.

A bin B collects predictions of similar confidence. With acc(B) the share that came true and conf(B) the mean
confidence, the calibration error is the weighted norm of acc(B) - conf(B) over the bins: their mean for norm 1 (the
expected calibration error), the root of the mean square for 2, the largest for inf.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..labels import Array, Predictions, predictions
from .binning import Bins, binned

Kind = Literal["top-label", "class-wise", "binary"]
Strategy = Literal["uniform", "quantile"]

DRAWS = 1000
"""Samples of the bootstrap: the ends of a 95 % interval are then known to about a tenth of its width."""


@dataclass(frozen=True)
class Estimate:
    """A number with an interval around it."""

    value: float
    low: float
    high: float


def calibration_bins(
    y: Any,
    p: Any,
    *,
    kind: Kind = "top-label",
    bins: int = 15,
    strategy: Strategy = "uniform",
    sample_weight: Any = None,
    labels: Any = None,
) -> Bins | list[Bins]:
    """The bins behind `calibration_error`: count, confidence and accuracy of each; for "class-wise" a list of them.

    Examples
    --------
    >>> found = calibration_bins([0, 1, 1, 1], [0.1, 0.9, 0.8, 0.4], kind="binary", bins=2)
    >>> found.count, found.confidence, found.accuracy
    (array([2., 2.]), array([0.25, 0.85]), array([0.5, 1. ]))
    """
    questions = asked(predictions(y, p, labels=labels, sample_weight=sample_weight), kind)
    every = [binned(confidence, hit, weights, bins, strategy) for confidence, hit, weights in questions]
    return every if kind == "class-wise" else every[0]


def calibration_error(
    y: Any,
    p: Any,
    *,
    kind: Kind = "top-label",
    bins: int = 15,
    strategy: Strategy = "uniform",
    norm: float = 1,
    debias: bool = False,
    sample_weight: Any = None,
    labels: Any = None,
    confidence: float | None = None,
    random_state: Any = None,
) -> float | Estimate:
    """By how much confidence and accuracy differ, averaged over bins of the confidence.

    Parameters
    ----------
    y : array of shape (n,)
        True labels: text, integers of any kind, truth values.
    p : array of shape (n, classes) or (n,)
        Probabilities, a column for each class in sorted order; a vector is the probability of the greater of two
        labels.
    kind : {"top-label", "class-wise", "binary"}
        Whether the predicted class is the true one, each class against the others (the mean over classes), or the
        probability of the greater of two labels.
    bins : int
        Number of bins of the confidence.
    strategy : {"uniform", "quantile"}
        Bins of equal width, or of equal weight.
    norm : {1, 2, inf}
        Mean, root of the mean square, or largest difference.
    debias : bool
        Whether the part of the squared error that is noise, acc (1 - acc) / (count - 1) in each bin, is taken off;
        for norm 2.
    sample_weight : array of shape (n,), optional
        Weights of the examples.
    labels : array, optional
        The classes of the columns, where `y` does not have all of them.
    confidence : float, optional
        Such as 0.95: an interval by the bootstrap is given too.
    random_state : int, Generator or RandomState, optional
        For the bootstrap.

    Returns
    -------
    float or Estimate
        The error; with `confidence`, an object with `value`, `low`, `high`. Binned errors are positive for perfectly
        calibrated probabilities too, the more so the fewer examples there are: the interval says how sure the number
        is.

    Examples
    --------
    >>> round(calibration_error([0, 1, 1, 1], [0.1, 0.9, 0.8, 0.4], kind="binary", bins=2), 12)
    0.2
    """
    if debias and norm != 2:
        raise ValueError(f"debias=True is for norm=2, got norm={norm!r}.")
    if confidence is not None and not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence has to be between 0 and 1, got {confidence!r}.")
    given = predictions(y, p, labels=labels, sample_weight=sample_weight)
    questions = asked(given, kind)

    def error(weights: Array | None = None) -> float:
        parts = (binned(c, hit, w if weights is None else w * weights, bins, strategy) for c, hit, w in questions)
        return float(np.mean([part.error(norm, debias=debias) for part in parts]))

    value = error()
    if confidence is None:
        return value
    generator = np.random.default_rng(random_state if isinstance(random_state, (int, np.random.Generator)) else None)
    count = len(given.codes)
    drawn = [error(generator.multinomial(count, np.full(count, 1.0 / count))) for _ in range(DRAWS)]
    # The bootstrap repeats the upward bias of binned errors: the basic interval reflects the draws at the value.
    below, above = np.quantile(drawn, [(1.0 - confidence) / 2, (1.0 + confidence) / 2])
    return Estimate(value, float(max(0.0, 2 * value - above)), float(max(value, 2 * value - below)))


def asked(given: Predictions, kind: Kind) -> list[tuple[Array, Array, Array]]:
    """The questions of yes or no behind a kind: confidence, whether it came true, weights."""
    p, codes, weights = given.p, given.codes, given.weights
    if kind == "top-label":
        top = np.argmax(p, axis=1)
        return [(p[np.arange(len(p)), top], top == codes, weights)]
    if kind == "class-wise":
        return [(p[:, k], codes == k, weights) for k in range(p.shape[1])]
    if kind == "binary":
        if p.shape[1] != 2:
            raise ValueError(f"kind='binary' is for two classes, but p has {p.shape[1]} columns.")
        return [(p[:, 1], codes == 1, weights)]
    raise ValueError(f"kind has to be 'top-label', 'class-wise' or 'binary', got {kind!r}.")
