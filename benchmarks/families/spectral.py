"""Burgers' equation by Fourier transforms: ten steps of a spectral method, from a sine wave."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..row import Function, Row

POINTS, STEPS = 128, 10
DT, VISCOSITY = 1e-3, 0.05


def burgers(library: Any) -> Function:
    np = library.np
    waves = np.asarray(frequencies())

    def f(u: Any) -> Any:
        for _ in range(STEPS):
            h = np.fft.rfft(u)
            slope, curvature = np.fft.irfft(1j * waves * h), np.fft.irfft(-(waves**2) * h)
            u = u + DT * (VISCOSITY * curvature - u * slope)
        return np.sum(u**2)

    return f


def frequencies() -> np.ndarray:
    return np.arange(POINTS // 2 + 1.0)


def by_hand(u: np.ndarray) -> Any:
    """The first derivative is antisymmetric but for the last frequency, the second symmetric: as for the steps."""
    waves = frequencies()
    turned = 1j * waves
    turned[-1] = 0.0  # the real signal has no derivative there
    states = []
    for _ in range(STEPS):
        h = np.fft.rfft(u)
        slope, curvature = np.fft.irfft(turned * h), np.fft.irfft(-(waves**2) * h)
        states.append((u, slope))
        u = u + DT * (VISCOSITY * curvature - u * slope)
    value, g = np.sum(u**2), 2.0 * u
    for u, slope in reversed(states):
        back = np.fft.irfft(turned * np.fft.rfft(u * g)) + VISCOSITY * np.fft.irfft(-(waves**2) * np.fft.rfft(g))
        g = g + DT * (back - slope * g)
    return value, g


def point() -> np.ndarray:
    return np.sin(2.0 * np.pi * np.arange(POINTS) / POINTS)


ROWS = {
    "spectral": Row(
        f"Burgers' equation by Fourier transforms, {POINTS} points, {STEPS} steps",
        burgers,
        point,
        by_hand,
    )
}
