"""The filters of `scipy.ndimage` that multiply a spectrum: by a function of the frequency along each axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.values import shape_of


def fourier_filter(x: Any, sizes: Any, n: int, axis: int, output: Any, kind: int) -> None:
    """The spectrum times that of a normal curve, of a box, or of an ellipsoid."""
    angles = [np.pi * k * sizes[a] for a, k in enumerate(_frequencies(x, n, axis))]
    if kind == 0:
        factor: Any = np.exp(-2.0 * _total([a * a for a in angles]))
    elif kind == 1:
        factor = 1.0
        for angle in angles:
            factor = factor * _sinc(angle)
    else:
        factor = _ball(angles)
    output[...] = x * factor


def fourier_shift(x: Any, shifts: Any, n: int, axis: int, output: Any) -> None:
    """The spectrum of the shifted signal."""
    turns = _total([k * shifts[a] for a, k in enumerate(_frequencies(x, n, axis))])
    output[...] = x * np.exp(-2j * np.pi * turns)


def _frequencies(x: Any, n: int, axis: int) -> list[Any]:
    """Cycles per sample along each axis; along the real one, if there is one, those that a real signal has."""
    found = []
    for a, length in enumerate(shape_of(x)):
        k = np.arange(length) / n if n >= 0 and a == axis else np.fft.fftfreq(length)
        found.append(np.reshape(k, [-1 if b == a else 1 for b in range(len(shape_of(x)))]))
    return found


def _total(terms: list[Any]) -> Any:
    found = terms[0]
    for term in terms[1:]:
        found = found + term
    return found


def _sinc(x: Any) -> Any:
    """sin(x) / x."""
    return np.sinc(x / np.pi)


def _ball(angles: list[Any]) -> Any:
    """The transform of a ball in one, two or three dimensions, of which only the radius counts."""
    from scipy.special import j1

    square = _total([a * a for a in angles])
    is_center = square == 0
    radius = np.sqrt(np.where(is_center, 1.0, square))
    if len(angles) == 1:
        found: Any = np.sin(radius) / radius
    elif len(angles) == 2:
        found = 2.0 * j1(radius) / radius
    else:
        found = 3.0 * (np.sin(radius) - radius * np.cos(radius)) / radius**3
    return np.where(is_center, 1.0, found)
