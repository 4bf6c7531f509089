"""What of a proper score is calibration, and what telling examples apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..labels import Array, predictions
from ..scoring import SMALLEST
from .classifier import CHOICES, SCALINGS, scaled_left_out
from .scaling import folds_of

EPS = np.finfo(np.float64).eps


@dataclass(frozen=True)
class ScoreParts:
    """A score and its parts: value = calibration + refinement, and refinement = uncertainty - resolution.

    `calibration` is what a better scaling of the same probabilities wins, `refinement` what is left after it;
    `uncertainty` is the score of the base rates, `resolution` what telling examples apart has won over them. `method`
    is the scaling that won most, or "none".
    """

    value: float
    calibration: float
    refinement: float
    uncertainty: float
    method: str

    @property
    def resolution(self) -> float:
        """What telling examples apart has won over the base rates."""
        return self.uncertainty - self.refinement


@dataclass(frozen=True)
class ScoreDecomposition:
    """The parts of the log loss, in nats, and of the Brier score."""

    log: ScoreParts
    brier: ScoreParts


def score_decomposition(y: Any, p: Any, *, sample_weight: Any = None, labels: Any = None) -> ScoreDecomposition:
    """Log loss and Brier score, each as calibration + refinement.

    The calibration part is measured by what recalibration wins: temperature, vector, matrix and isotonic scalings are
    fitted to four fifths of the rows and tried on the last fifth, in turn. The best one, or none at all, gives the
    refinement. So there are no bins, and for perfect probabilities the calibration part is close to 0 with few rows
    too. It is never below 0.

    Parameters
    ----------
    y, p, sample_weight, labels
        As in `calibration_error`.

    Returns
    -------
    ScoreDecomposition
        `log` and `brier`, each with `value`, `calibration`, `refinement`, `uncertainty`, `resolution`.

    References
    ----------
    .. [1] J. Broecker, "Reliability, sufficiency, and the decomposition of proper scores", 2009.
    .. [2] E. Berta, F. Bach, M. Jordan, "Rethinking early stopping: refine, then calibrate", 2025.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> q = rng.random(2000)
    >>> y = rng.random(2000) < q
    >>> sure = q**3 / (q**3 + (1 - q) ** 3)  # tells as much as q, and says it too loudly
    >>> right, loud = score_decomposition(y, q).log, score_decomposition(y, sure).log
    >>> right.calibration < 0.01 < 0.19 < loud.calibration
    True
    >>> round(right.refinement, 2) == round(loud.refinement, 2)
    True
    """
    given = predictions(y, p, labels=labels, sample_weight=sample_weight)
    share = given.weights / np.sum(given.weights)
    logits = np.log(np.maximum(given.p, SMALLEST))
    tried = {"none": given.p, **_recalibrated(logits, given.codes, given.weights)}
    rates = np.broadcast_to(np.bincount(given.codes, share, minlength=logits.shape[1]), logits.shape)

    def parts(score: Any) -> ScoreParts:
        found = {name: float(share @ score(q, given.codes)) for name, q in tried.items()}
        best = min(found, key=lambda name: found[name])
        uncertainty = float(share @ score(rates, given.codes))
        return ScoreParts(found["none"], found["none"] - found[best], found[best], uncertainty, best)

    return ScoreDecomposition(parts(log_losses), parts(brier_losses))


def log_losses(p: Array, codes: Array) -> Array:
    """The log loss of each example, in nats; a probability of 0 counts as 2^-52, as in scikit-learn."""
    return -np.log(np.clip(p[np.arange(len(codes)), codes], EPS, 1.0))


def brier_losses(p: Array, codes: Array) -> Array:
    """The squared distance of each example's probabilities from the truth."""
    return np.sum(p * p, axis=1) - 2.0 * p[np.arange(len(codes)), codes] + 1.0


def _recalibrated(logits: Array, codes: Array, weights: Array) -> dict[str, Array]:
    """The probabilities after each scaling that was fitted to other rows; nothing if a class has a single row."""
    folds = folds_of(codes, logits.shape[1])
    if not folds:
        return {}
    return {
        name: scaled_left_out(_settled(name, logits, codes, weights), logits, codes, weights, folds) for name in CHOICES
    }


def _settled(name: str, logits: Array, codes: Array, weights: Array) -> Any:
    """A scaling with its strength chosen once, on all rows: one number, and a fifth of the time."""
    kind = SCALINGS[name]
    if "strength" not in kind().get_params():
        return kind
    return partial(kind, strength=kind().fit(logits, codes, weights).strength_)
