"""Networks taken apart into layers, of which some are frozen, and put together again."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint import nn


@nn.layer
class BiasTrained(nn.Dense):
    """A dense layer of which the bias alone is trained."""

    weight: np.ndarray = nn.statistic()
    bias: np.ndarray

    @classmethod
    def of(cls, dense: nn.Dense) -> BiasTrained:
        """The same function."""
        return cls(weight=dense.weight, bias=dense.bias)  # type: ignore[call-arg, arg-type]


def layers_of(model: Any) -> list[Any]:
    """The layers of a network one after another, activations and dropout among them."""
    if isinstance(model, nn.Sequential):
        return [part for layer in model.layers for part in layers_of(layer)]
    if not isinstance(model, nn.MLP):
        return [model]
    found: list[Any] = []
    for k, activation in enumerate(model.activations):
        found += [model.layers[k], *model.norms[k : k + 1], activation]
        found += [] if model.dropout is None else [model.dropout]
    return [*found, model.layers[-1]]


def put_together(model: Any, layers: Iterator[Any]) -> Any:
    """A network built as `model` is, of other layers than its own, as `layers_of` gave them."""
    if isinstance(model, nn.Sequential):
        return dataclasses.replace(model, layers=tuple([put_together(layer, layers) for layer in model.layers]))  # type: ignore[type-var]
    if not isinstance(model, nn.MLP):
        return next(layers)
    dense, norms, activations = [], [], []
    for _ in model.activations:
        dense.append(next(layers))
        norms += [next(layers)] if model.norms else []
        activations.append(next(layers))
        if model.dropout is not None:
            next(layers)
    return dataclasses.replace(  # type: ignore[type-var]
        model, layers=(*dense, next(layers)), norms=tuple(norms), activations=tuple(activations)
    )


def head_of(model: Any) -> int:
    """The place of the last dense layer among all layers."""
    places = [k for k, layer in enumerate(layers_of(model)) if isinstance(layer, nn.Dense)]
    if not places:
        raise ValueError("The network has no dense layer to be its head: it is no nn.MLP or nn.Sequential with one.")
    return places[-1]


def with_head(model: Any, outputs: int, rng: np.random.RandomState, scale: Any = 1.0) -> Any:
    """The network with a new last layer, drawn as Glorot did."""
    layers, place = layers_of(model), head_of(model)
    old = layers[place].weight
    bound = np.sqrt(6.0 / (old.shape[0] + outputs))
    weight = (rng.uniform(-bound, bound, (old.shape[0], outputs)) * scale).astype(old.dtype)
    layers[place] = nn.Dense(weight=weight, bias=np.zeros(outputs, old.dtype))  # type: ignore[call-arg, arg-type]
    return put_together(model, iter(layers))


def adapted(model: Any, train: str, rank: int, rng: np.random.RandomState, *, trains_head: bool) -> Any:
    """The network with frozen layers in the place of those that are not trained; `model` itself if all are.

    Frozen arrays are no parameters of it, so no run can move them. A layer whose change of low rank would have no fewer
    numbers than the layer is trained as it is. `trains_head` is for a head that is new, or has to be rescaled.
    """
    if train == "all":
        return model
    layers, head = layers_of(model), head_of(model)
    found = []
    for k, layer in enumerate(layers):
        if k == head and (trains_head or train == "head"):
            found.append(layer)
        elif isinstance(layer, nn.Dense) and train == "biases" and layer.bias is not None:
            found.append(BiasTrained.of(layer))
        elif isinstance(layer, nn.Dense) and train == "low-rank":
            saves = rank * sum(layer.weight.shape) < layer.weight.size
            found.append(nn.LowRank(layer, rank, key=int(rng.randint(2**31 - 1))) if saves else layer)
        else:
            found.append(nn.Frozen(inner=layer) if nn.parameters(layer) else layer)
    return nn.Sequential(*found)


def merged(model: Any, tuned: Any) -> Any:
    """The plain network that `tuned`, an adapted `model`, has become; what was frozen is the same array."""
    found = []
    for old, new in zip(layers_of(model), layers_of(tuned), strict=True):
        if isinstance(new, nn.Frozen):
            found.append(old)
        elif isinstance(new, nn.LowRank):
            found.append(new.merged())
        elif isinstance(new, BiasTrained):
            found.append(nn.Dense(weight=old.weight, bias=new.bias))  # type: ignore[call-arg, arg-type]
        else:
            found.append(new)
    return put_together(model, iter(found))
