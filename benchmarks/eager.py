"""The rows of the library without its compiler, against the other libraries that run step by step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .jit import chain, pendulum, rosenbrock, scalar
from .jit.perceptron import perceptron
from .row import Row


def eager(row: Row, faster: float) -> Row:
    """The same row with what is asked of it here: so many times faster than autograd, and than PyTorch."""
    return replace(row, asked={"autograd": faster, "PyTorch": 1.0}, in_c=None, compile_limit=None)


ROWS: dict[str, Row] = {
    f"eager-{name}": eager(row, faster)
    for name, row, faster in (
        ("scalar", scalar.ROWS["scalar"], 3.0),
        ("mlp-16", perceptron("MLP 16-32-4, batch 8", 8, 16, 32, 4, np.float64, {}), 3.0),
        ("mlp-64", perceptron("MLP 64-64-10, batch 32", 32, 64, 64, 10, np.float64, {}), 3.0),
        ("chain-10", chain.ROWS["chain-10"], 3.0),
        ("chain-1000", chain.ROWS["chain-1000"], 2.0),
        ("rosenbrock-10", rosenbrock.ROWS["rosenbrock-10"], 3.0),
        ("pendulum", pendulum.ROWS["pendulum"], 3.0),
    )
}

COST = Row("elementwise chain, 100,000 elements", chain.chain, chain.point(100_000))
"""Where the price of a gradient is measured, in units of the plain function."""
COST_ASKED = 4.0
IMPORT_ASKED = 1.30
