"""What comes of a row: the gradient against central differences, eagerly and under jit, at two points."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad

from .row import Row

CLOSE = 1e-4
"""Largest error of a gradient relative to its largest entry, besides what the differences themselves are unsure of."""


def judged(row: Row, verbose: bool = False) -> dict[str, str]:
    """A word for each mode, `right`, `WRONG`, `refused` or `error`, with what was said."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function, point = row.make()
        except ImportError as missing:
            return {"eager": f"missing: {missing}", "jit": "missing"}
        points = [np.array(point, float), np.array(point, float) * 1.01]
        truth = [_differences(function, x) for x in points]
        modes = {"eager": ad.grad(function), "jit": ad.jit(ad.grad(function))}
        found = {}
        for name, derivative in modes.items():
            try:
                found[name] = _compared(derivative, points, truth)
            except Exception as error:
                if verbose:
                    traceback.print_exc()
                found[name] = _refusal(row, error)
        return found


def _refusal(row: Row, error: Exception) -> str:
    text = " / ".join(str(error).splitlines())
    word = "refused" if isinstance(error, ad.AdjointError) else "error"
    if word == "refused" and row.compiled and row.compiled in text and "custom_rule" in text:
        word = "named"
    return f"{word}: {type(error).__name__}: {text}"


def _compared(derivative: Callable[..., Any], points: list[Any], truth: list[tuple[Any, Any]]) -> str:
    for x, (wanted, unsure) in zip(points, truth, strict=True):
        found = np.asarray(derivative(x), float)
        error = np.abs(found - wanted) - unsure
        if found.shape != wanted.shape or not np.all(error <= CLOSE * (np.abs(wanted).max() + 1e-12)):
            return f"WRONG: {found} for {wanted}"
    return "right"


def _differences(function: Callable[..., Any], x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Central differences of two widths, extrapolated, and by how much the two differ."""
    fine, coarse = [_central(function, x, width) for width in (1e-5, 2e-5)]
    return (4.0 * fine - coarse) / 3.0, np.abs(fine - coarse)


def _central(function: Callable[..., Any], x: np.ndarray, width: float) -> np.ndarray:
    slopes = np.empty_like(x)
    for k in np.ndindex(x.shape):
        step = width * (abs(x[k]) or 1.0)
        up, down = x.copy(), x.copy()
        up[k], down[k] = up[k] + step, down[k] - step
        slopes[k] = (float(function(up)) - float(function(down))) / (2.0 * step)
    return slopes
