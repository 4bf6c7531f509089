"""The rows of the library without its compiler, against the other libraries that run step by step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .jit import chain, pendulum, rosenbrock, scalar
from .jit.perceptron import perceptron
from .row import Function, Row


def eager(row: Row, faster: float, **more: float) -> Row:
    """The same row with what is asked of it here: so many times faster than autograd, and than PyTorch."""
    return replace(row, asked={"autograd": faster, "PyTorch": 1.2, **more}, in_c=None, compile_limit=None)


def predators(library: Any) -> Function:
    """How far states of Lotka and Volterra's equations, by the classical Runge-Kutta method, are from measured ones."""
    np, array = library.np, library.array
    steps, h = 40, 0.1
    start = np.asarray([1.0, 0.5])
    measured = np.asarray(MEASURED)

    def slope(y: Any, p: Any) -> Any:
        prey, predators = y[0], y[1]
        return array([p[0] * prey - p[1] * prey * predators, p[3] * prey * predators - p[2] * predators])

    def loss(p: Any) -> Any:
        y, states = start, []
        for _ in range(steps):
            k1 = slope(y, p)
            k2 = slope(y + h / 2 * k1, p)
            k3 = slope(y + h / 2 * k2, p)
            k4 = slope(y + h * k3, p)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            states.append(y)
        return np.sum((np.stack(states) - measured) ** 2)

    return loss


MEASURED = 1.5 + np.random.default_rng(0).normal(size=(40, 2))
PREDATORS = Row(
    "predators and prey, 40 steps of RK4, 4 parameters",
    predators,
    lambda: np.array([1.5, 1.0, 3.0, 1.0]),
    tolerance=1e-5,  # of differences
)

ROWS: dict[str, Row] = {
    f"eager-{name}": eager(row, faster)
    for name, row, faster in (
        ("scalar", scalar.ROWS["scalar"], 3.0),
        ("mlp-16", perceptron("MLP 16-32-4, batch 8", 8, 16, 32, 4, np.float64, {}), 3.0),
        ("mlp-64", perceptron("MLP 64-64-10, batch 32", 32, 64, 64, 10, np.float64, {}), 3.0),
        ("chain-10", chain.ROWS["chain-10"], 3.0),
        ("chain-1000", chain.ROWS["chain-1000"], 3.0),
        ("rosenbrock-10", rosenbrock.ROWS["rosenbrock-10"], 3.0),
        ("pendulum", pendulum.ROWS["pendulum"], 3.0),
    )
}
ROWS["eager-predators"] = eager(PREDATORS, 3.0, differences=1.0)

COST = Row("elementwise chain, 100,000 elements", chain.chain, chain.point(100_000))
"""Where the price of a gradient is measured, in units of the plain function."""
COST_ASKED = 4.0
IMPORT_ASKED = 1.30
