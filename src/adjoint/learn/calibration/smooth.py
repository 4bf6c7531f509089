"""The smooth calibration error: no bins, a kernel whose width the error itself chooses.

With K a Gaussian of width s on [0, 1], reflected at the ends, the error at width s is

    E(s) = integral of |sum_i (p_i - y_i) K(p_i, t)| dt / integral of sum_i K(p_i, t) dt

and the smooth calibration error is E(s) at the width s = E(s) (Blasiok and Nakkiran, 2023).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.signal import fftconvolve

from ..labels import Array, predictions
from .errors import Kind, asked

HALVINGS = 10
NARROWEST = 0.001
POINTS = 200  # at which the integrals are summed, at the least
FLOOR = 1e-4  # added to the density, so that empty stretches do not count


def smooth_calibration_error(
    y: Any, p: Any, *, kind: Kind = "top-label", sample_weight: Any = None, labels: Any = None
) -> float:
    """The calibration error by a kernel instead of bins: small changes of `p` change it little.

    Parameters
    ----------
    y, p, kind, sample_weight, labels
        As in `calibration_error`.

    Returns
    -------
    float
        The error, for "class-wise" the mean over the classes.

    References
    ----------
    .. [1] J. Blasiok, P. Nakkiran, "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing", 2023.

    Examples
    --------
    >>> p = np.linspace(0.05, 0.95, 1000)
    >>> y = np.random.default_rng(0).random(1000) < p
    >>> smooth_calibration_error(y, p, kind="binary") < 0.03 < smooth_calibration_error(y, p**3, kind="binary")
    True
    """
    questions = asked(predictions(y, p, labels=labels, sample_weight=sample_weight), kind)
    return float(np.mean([_at_own_width(*question) for question in questions]))


def _at_own_width(confidence: Array, hit: Array, weights: Array) -> float:
    """E(s) where s and E(s) cross, found by halving."""
    wide, narrow = 1.0, 0.0
    value = _at_width(confidence, hit, weights, wide)
    if value > wide:
        return value
    for _ in range(HALVINGS):
        middle = (wide + narrow) / 2
        if middle < NARROWEST or middle < _at_width(confidence, hit, weights, middle):
            narrow = middle
        else:
            wide = middle
    return _at_width(confidence, hit, weights, wide)


def _at_width(confidence: Array, hit: Array, weights: Array, width: float) -> float:
    """E(s), on a grid that resolves the kernel."""
    count = max(2000, round(20 / width)) // 2 + 1
    at = np.linspace(0.0, 1.0, max(round(10 / width), POINTS)) * (count - 1)
    grid = np.arange(count)
    places = np.linspace(0.0, 1.0, count) - 0.5
    kernel = np.exp(-(places**2) / (2 * width**2)) / (np.sqrt(2 * np.pi) * width)
    gap, density = (
        np.interp(at, grid, _reflected(_spread(confidence, values, count), kernel))
        for values in (weights * (confidence - hit), weights)
    )
    return float(np.sum(np.abs(gap)) / np.sum(density + FLOOR))


def _spread(at: Array, values: Array, count: int) -> Array:
    """Values at places in [0, 1], shared by the two points of a grid next to each."""
    places = at * (count - 1)
    left = np.clip(places.astype(int), 0, count - 2)
    share = places - left
    return np.bincount(left, (1.0 - share) * values, count) + np.bincount(left + 1, share * values, count)


def _reflected(values: Array, kernel: Array) -> Array:
    """A convolution with what lies outside reflected at the ends."""
    count, half = len(values), len(kernel) // 2
    mirror = values[::-1]
    extended = np.concatenate([mirror[:-1], values, mirror[1:]])
    return fftconvolve(extended, kernel, "valid")[half : half + count]
