"""The rows of the compiler: small and large, dense and elementwise, straight and looping."""

from __future__ import annotations

from ..row import Row
from . import chain, model, pendulum, perceptron, rosenbrock, scalar

ROWS: dict[str, Row] = {
    **scalar.ROWS,
    **model.ROWS,
    **perceptron.ROWS,
    **chain.ROWS,
    **rosenbrock.ROWS,
    **pendulum.ROWS,
}
