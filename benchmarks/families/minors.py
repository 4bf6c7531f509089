"""The determinant by expansion along rows: plain recursion in Python, thousands of small steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..row import Function, Row

SIZE = 6


def determinant(library: Any) -> Function:
    def expanded(A: Any, row: int, columns: tuple[int, ...]) -> Any:
        if len(columns) == 1:
            return A[row, columns[0]]
        total, sign = 0.0, 1.0
        for i, column in enumerate(columns):
            total = total + sign * A[row, column] * expanded(A, row + 1, columns[:i] + columns[i + 1 :])
            sign = -sign
        return total

    return lambda A: expanded(A, 0, tuple(range(SIZE)))


def by_hand(A: np.ndarray) -> Any:
    """By elimination, which is less work than the row asks for: d det / dA = det A^-T."""
    value = np.linalg.det(A)
    return value, value * np.linalg.inv(A).T


def point() -> np.ndarray:
    return np.random.default_rng(10).normal(size=(SIZE, SIZE)) + np.eye(SIZE)


ROWS = {
    "minors": Row(
        f"determinant by minors, {SIZE} x {SIZE}",
        determinant,
        point,
        by_hand,
    )
}
