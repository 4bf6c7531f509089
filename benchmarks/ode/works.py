"""The equations: written once for NumPy and for JAX's namesake of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Work:
    """An equation dy/dt = slope(np)(y, t, p), where it starts, its parameters, and the times asked for."""

    title: str
    slope: Callable[[Any], Callable[[Any, Any, Any], Any]]
    start: np.ndarray
    parameters: Any
    times: np.ndarray
    tolerance: float = 1e-8


def predators(np: Any) -> Any:
    """Lotka and Volterra's equations."""
    return lambda y, t, p: np.array([p[0] * y[0] - p[1] * y[0] * y[1], -p[2] * y[1] + p[3] * y[0] * y[1]])


def weather(np: Any) -> Any:
    """Lorenz's model of a ring of places."""
    return lambda y, t, p: (np.roll(y, -1) - np.roll(y, 2)) * np.roll(y, 1) - y + p[0]


def planets(np: Any) -> Any:
    """Five bodies in space that attract each other; the parameters are their masses."""

    def slope(y: Any, t: Any, p: Any) -> Any:
        x, v = y[:15].reshape(5, 3), y[15:]
        apart = x[None, :, :] - x[:, None, :]
        cubes = (np.sum(apart**2, axis=2) + 1e-3) ** 1.5
        return np.concatenate([v, np.sum(p[None, :, None] * apart / cubes[:, :, None], axis=1).reshape(15)])

    return slope


def network(np: Any) -> Any:
    """A slope that is a network of one hidden layer: a neural differential equation."""
    return lambda y, t, p: np.tanh(y @ p["a"] + p["b"]) @ p["c"]


random = np.random.default_rng(0)

WORKS = {
    "predators": Work(
        "predators and prey, 2 states, 21 times", predators, np.array([1.0, 1.0]), np.array([1.5, 1.0, 3.0, 1.0]),
        np.linspace(0.0, 10.0, 21),
    ),
    "dense": Work(
        "predators and prey, 2 states, 1,001 times", predators, np.array([1.0, 1.0]), np.array([1.5, 1.0, 3.0, 1.0]),
        np.linspace(0.0, 10.0, 1001),
    ),
    "weather": Work(
        "Lorenz-96, 40 states, 11 times", weather, 8.0 + random.normal(size=40), np.array([8.0]),
        np.linspace(0.0, 1.0, 11), 1e-6,
    ),
    "planets": Work(
        "five bodies, 30 states, 11 times", planets, random.normal(size=30) * 0.8, random.uniform(0.5, 1.0, size=5),
        np.linspace(0.0, 1.0, 11),
    ),
    "network": Work(
        "neural equation, 16 states, 64 hidden, 6 times", network, random.normal(size=16),
        {"a": random.normal(size=(16, 64)) / 4, "b": random.normal(size=64), "c": random.normal(size=(64, 16)) / 8},
        np.linspace(0.0, 1.0, 6), 1e-6,
    ),
}  # fmt: skip
