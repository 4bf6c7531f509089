"""What is timed: each function written once, for any library with NumPy's names, and where it is evaluated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Workload:
    """One row: `function(xp)` gives the function of one argument, `point` is that argument, also a list or tuple."""

    title: str
    function: Callable[[Any], Callable[[Any], Any]]
    point: Any
    asked: float
    """How many times faster than autograd the row should be."""
    by_hand: Callable[[Any], tuple[Any, Any]] | None = None
    """Value and gradient as one would write them without a library: the limit."""
    long: bool = False
    """Whether the function is a loop of thousands of steps."""


def scalar(xp: Any) -> Callable[[Any], Any]:
    """Two paths to the result, each with a shared part."""

    def f(x: Any) -> Any:
        c = x**2 + xp.exp(x**2)
        return xp.sqrt(c) + xp.cos(c)

    return f


def scalar_by_hand(x: float) -> tuple[float, float]:
    s = x * x
    e = np.exp(s)
    c = s + e
    root = np.sqrt(c)
    return root + np.cos(c), (0.5 / root - np.sin(c)) * (1.0 + e) * 2.0 * x


def chain(xp: Any) -> Callable[[Any], Any]:
    """Elementwise functions, one after the other."""
    return lambda x: xp.sum(xp.tanh(xp.sin(x) * xp.exp(-x * x)) + xp.log(1.0 + x * x))


def chain_by_hand(x: np.ndarray) -> tuple[Any, np.ndarray]:
    square = x * x
    wave, bell, rest = np.sin(x), np.exp(-square), 1.0 + square
    t = np.tanh(wave * bell)
    slope = (1.0 - t * t) * bell * (np.cos(x) - 2.0 * x * wave) + 2.0 * x / rest
    return np.sum(t + np.log(rest)), slope


def rosenbrock(xp: Any) -> Callable[[Any], Any]:
    """Slices that overlap."""
    return lambda x: xp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rosenbrock_by_hand(x: np.ndarray) -> tuple[Any, np.ndarray]:
    first, gap = x[:-1], x[1:] - x[:-1] ** 2
    slope = np.zeros_like(x)
    slope[:-1] = -400.0 * first * gap - 2.0 * (1.0 - first)
    slope[1:] += 200.0 * gap
    return np.sum(100.0 * gap**2 + (1.0 - first) ** 2), slope


def pendulum(xp: Any) -> Callable[[Any], Any]:
    """A damped pendulum, 100 steps of the classical Runge-Kutta method in a Python loop."""

    def array(entries: list[Any]) -> Any:
        return xp.stack(entries) if xp.__name__ == "torch" else xp.array(entries)

    def f(point: Any) -> Any:
        state, (stiffness, damping) = point[0], point[1]

        def slope(s: Any) -> Any:
            return array([s[1], -stiffness * xp.sin(s[0]) - damping * s[1]])

        h = 0.02
        for _ in range(100):
            k1 = slope(state)
            k2 = slope(state + 0.5 * h * k1)
            k3 = slope(state + 0.5 * h * k2)
            k4 = slope(state + h * k3)
            state = state + (h / 6.0) * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        return xp.sum(state**2)

    return f


def perceptron(batch: int, *sizes: int) -> tuple[Callable[[Any], Callable[[Any], Any]], list[np.ndarray]]:
    """One hidden layer of tanh, and the cross-entropy of its softmax, written so that nothing overflows."""
    random = np.random.default_rng(0)
    inputs, hidden, classes = sizes
    data = random.normal(size=(batch, inputs))
    target = np.eye(classes)[random.integers(0, classes, batch)]
    shapes = ((inputs, hidden), (hidden,), (hidden, classes), (classes,))
    weights = [random.normal(size=shape) / np.sqrt(shape[0]) for shape in shapes]

    def function(xp: Any) -> Callable[[Any], Any]:
        X, Y = (xp.asarray(data), xp.asarray(target))

        def loss(parameters: Any) -> Any:
            W, b, V, c = parameters
            z = xp.tanh(X @ W + b) @ V + c
            top = xp.amax(z, axis=1, keepdims=True)
            norm = top + xp.log(xp.sum(xp.exp(z - top), axis=1, keepdims=True))
            return xp.sum((norm - z) * Y) / batch

        return loss

    return function, weights


WORKLOADS: dict[str, Workload] = {
    "scalar": Workload("sqrt(c) + cos(c), c = x² + exp(x²), one number", scalar, 1.3, 3.0, scalar_by_hand),
    "small-mlp": Workload("MLP 16-32-4, batch 8", *perceptron(8, 16, 32, 4), 3.0),
    "mlp": Workload("MLP 64-64-10, batch 32", *perceptron(32, 64, 64, 10), 3.0),
    "chain-10": Workload("elementwise chain, 10 elements", chain, np.linspace(-2.0, 2.0, 10), 3.0, chain_by_hand),
    "chain-1000": Workload(
        "elementwise chain, 1,000 elements", chain, np.linspace(-2.0, 2.0, 1000), 2.0, chain_by_hand
    ),
    "rosenbrock": Workload("Rosenbrock, 10 variables", rosenbrock, np.linspace(-1.0, 1.5, 10), 3.0, rosenbrock_by_hand),
    "pendulum": Workload(
        "pendulum, 100 steps of RK4", pendulum, (np.array([1.0, 0.0]), np.array([9.81, 0.1])), 3.0, long=True
    ),
}

COST = Workload("elementwise chain, 100,000 elements", chain, np.linspace(-2.0, 2.0, 100_000), 4.0)
"""Where the price of a gradient is measured, in units of the plain function."""
