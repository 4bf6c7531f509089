"""One number: nothing but the cost of a call."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..row import Function, Row


def scalar(library: Any) -> Function:
    """Two paths to the result, each with a shared part."""
    np = library.np

    def f(x: Any) -> Any:
        c = x**2 + np.exp(x**2)
        return np.sqrt(c) + np.cos(c)

    return f


def by_hand(x: float) -> tuple[float, float]:
    s = x * x
    e = np.exp(s)
    c = s + e
    root = np.sqrt(c)
    return root + np.cos(c), (0.5 / root - np.sin(c)) * (1.0 + e) * 2.0 * x


def in_python(
    x: float, exp: Any = math.exp, sqrt: Any = math.sqrt, cos: Any = math.cos, sin: Any = math.sin
) -> tuple[float, float]:
    """With local names: as quick as Python gets."""
    s = x * x
    e = exp(s)
    c = s + e
    root = sqrt(c)
    return root + cos(c), (0.5 / root - sin(c)) * (1.0 + e) * 2.0 * x


ROWS = {
    "scalar": Row(
        "sqrt(c) + cos(c), c = x² + exp(x²), one number",
        scalar,
        lambda: 1.3,
        by_hand,
        in_python=in_python,
        in_c="scalar",
        asked={"JAX": 40.0, "Python by hand": 1.0, "C by hand": 1 / 3},
    )
}
