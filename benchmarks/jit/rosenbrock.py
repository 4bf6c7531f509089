"""Slices that overlap: gradient and dense Hessian."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..row import Function, Row


def rosenbrock(library: Any) -> Function:
    np = library.np
    return lambda x: np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def by_hand(x: np.ndarray) -> tuple[Any, np.ndarray]:
    """The two sums are products of vectors with themselves."""
    first = x[:-1]
    gap = first * first
    np.subtract(x[1:], gap, out=gap)
    rest = 1.0 - first
    slope = np.empty_like(x)
    slope[-1] = 0.0
    inner = slope[:-1]
    np.multiply(first, gap, out=inner)
    inner *= -400.0
    inner -= 2.0 * rest
    value = 100.0 * (gap @ gap) + rest @ rest
    gap *= 200.0
    slope[1:] += gap
    return value, slope


def hessian_by_hand(x: np.ndarray) -> np.ndarray:
    """Three diagonals of a dense matrix, as views with a stride."""
    n = len(x)
    h = np.zeros((n, n))
    flat = h.reshape(-1)
    side = -400.0 * x[:-1]
    flat[1 :: n + 1] = side
    flat[n :: n + 1] = side
    middle = flat[:: n + 1]
    middle[:-1] = 1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 2.0
    middle[1:] += 200.0
    return h


def hessian_error(row: Row, result: Any) -> float:
    """Against differences of the gradient by hand, along one direction."""
    x = row.point()
    d, h = np.random.default_rng(7).normal(size=x.shape), 1e-5
    slope = (by_hand(x + h * d)[1] - by_hand(x - h * d)[1]) / (2.0 * h)
    return float(np.max(np.abs(result @ d - slope)) / np.max(np.abs(slope)))


def point(n: int) -> Any:
    return lambda: np.linspace(-1.0, 1.5, n)


ROWS = {
    "rosenbrock-10": Row("Rosenbrock, 10 variables", rosenbrock, point(10), by_hand, asked={"JAX": 25.0}),
    "rosenbrock-100000": Row(
        "Rosenbrock, 100,000 variables", rosenbrock, point(100_000), by_hand, asked={"JAX": 2.0}, tolerance=1e-6
    ),
    "rosenbrock-hessian": Row(
        "Rosenbrock, dense Hessian, 100 variables",
        rosenbrock,
        point(100),
        hessian_by_hand,
        lambda library, f: library.hessian(f),
        asked={"JAX": 3.0},
        check=hessian_error,
    ),
}
