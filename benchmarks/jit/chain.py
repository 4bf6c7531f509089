"""Elementwise functions, one after the other: overhead on 10 elements, vector code on 1,000,000."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..row import Function, Row


def chain(library: Any) -> Function:
    np = library.np
    return lambda x: np.sum(np.tanh(np.sin(x) * np.exp(-x * x)) + np.log(1.0 + x * x))


def by_hand(x: np.ndarray) -> tuple[Any, np.ndarray]:
    """Few passes and no more arrays than needed, which counts when they are large."""
    square = x * x
    wave, slope = np.sin(x), np.cos(x)
    bell = np.exp(-square)
    t = wave * bell
    np.tanh(t, out=t)
    wave *= x
    wave *= 2.0
    slope -= wave
    slope *= bell
    np.multiply(t, t, out=wave)
    np.subtract(1.0, wave, out=wave)
    slope *= wave
    square += 1.0
    np.divide(x, square, out=wave)
    wave *= 2.0
    slope += wave
    np.log(square, out=square)
    t += square
    return t.sum(), slope


def point(n: int) -> Any:
    return lambda: np.linspace(-2.0, 2.0, n)


ROWS = {
    f"chain-{n}": Row(
        f"elementwise chain (tanh, sin, exp, log), {n:,} elements",
        chain,
        point(n),
        by_hand,
        in_c="chain",
        asked={"JAX": faster, **extra},
    )
    for n, faster, extra in ((10, 25.0, {}), (1000, 12.0, {}), (1_000_000, 4.0, {"C by hand": 1 / 1.5}))
}
