"""A model as an argument: three layers in frozen dataclasses, so small that taking them apart is what counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..row import Function, Row

WIDTH = 4


@dataclass(frozen=True)
class Layer:
    """Weights, and settings that are nobody's parameter."""

    weight: Any
    bias: Any
    activation: str = "tanh"
    name: str = "layer"


@dataclass(frozen=True)
class Model:
    """Layers, one after the other."""

    layers: list[Layer]
    name: str = "model"


def model() -> Model:
    random = np.random.default_rng(1)
    return Model([Layer(random.normal(size=(WIDTH, WIDTH)), random.normal(size=WIDTH)) for _ in range(3)])


def known_to_jax() -> None:
    """Tell JAX which fields are data."""
    from jax.tree_util import register_dataclass

    register_dataclass(Layer, data_fields=["weight", "bias"], meta_fields=["activation", "name"])
    register_dataclass(Model, data_fields=["layers"], meta_fields=["name"])


def function(library: Any) -> Function:
    np = library.np
    if np.__name__ == "jax.numpy":
        known_to_jax()
    x = np.ones(WIDTH, dtype=np.float64)

    def loss(model: Model) -> Any:
        y = x
        for layer in model.layers:
            y = getattr(np, layer.activation)(y @ layer.weight + layer.bias)
        return np.sum(y * y)

    return loss


def by_hand(model: Model) -> Any:
    x = np.ones(WIDTH)
    values = [x]
    for layer in model.layers:
        values.append(np.tanh(values[-1] @ layer.weight + layer.bias))
    back, found = 2.0 * values[-1], []
    for layer, before, after in zip(model.layers[::-1], values[-2::-1], values[:0:-1], strict=True):
        back = back * (1.0 - after * after)
        found.append(Layer(np.outer(before, back), back))
        back = layer.weight @ back
    return np.sum(values[-1] * values[-1]), Model(found[::-1])


ROWS = {
    "model-3": Row(
        "model of 3 layers 4-4, dataclasses as argument and gradient",
        function,
        model,
        by_hand,
        asked={"JAX": 5.0, "NumPy by hand": 5.0},
        without={"autograd": "does not take dataclasses"},
    )
}
