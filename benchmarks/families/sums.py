"""Log-sum-exp and least squares: one reduction, and two products with a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..row import Function, Row


def log_sum_exp(library: Any) -> Function:
    np = library.np

    def f(x: Any) -> Any:
        top = np.amax(x)
        return top + np.log(np.sum(np.exp(x - top)))

    return f


def softmax_by_hand(x: np.ndarray) -> Any:
    top = x.max()
    e = x - top
    np.exp(e, out=e)
    total = e.sum()
    e *= 1.0 / total
    return top + np.log(total), e


def equations() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    return random.normal(size=(500, 100)), random.normal(size=500)


def least_squares(library: Any) -> Function:
    np = library.np
    A, b = (np.asarray(part) for part in equations())
    return lambda x: np.sum((A @ x - b) ** 2)


A, b = equations()


def least_squares_by_hand(x: np.ndarray) -> Any:
    rest = A @ x
    rest -= b
    slope = rest @ A
    slope *= 2.0
    return rest @ rest, slope


def vector(n: int) -> Any:
    return lambda: np.random.default_rng(4).normal(size=n)


ROWS = {
    "logsumexp-1000": Row("log-sum-exp, 1,000 elements", log_sum_exp, vector(1000), softmax_by_hand),
    "logsumexp-1000000": Row("log-sum-exp, 1,000,000 elements", log_sum_exp, vector(1_000_000), softmax_by_hand),
    "least-squares": Row("least squares, 500 x 100", least_squares, vector(100), least_squares_by_hand),
}
