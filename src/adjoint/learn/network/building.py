"""Networks as they are before training: of sizes, of a model that is given, or of weights that somebody else found."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import adjoint as ad
from adjoint import nn

from ..labels import Array

NAMES = {"logistic": "sigmoid"}
"""scikit-learn's names of activations, to those of `nn`."""


def built(estimator: Any, X: Array, outputs: int, rng: np.random.RandomState) -> Any:
    """A new network with random weights, or the one that the user has given."""
    given, inputs = estimator.model, X.shape[1]
    if given is not None:
        if ad.tree.structure(given).is_leaf() and callable(given):
            given = given(inputs, outputs, rng)
        if not callable(given) or not nn.parameters(given):
            raise ValueError(
                "model has to be an nn model, or a function (n_features, n_outputs, rng) that makes one, got "
                f"{given!r}."
            )
        found = np.shape(given(X[:1]))
        if found != (1, outputs):
            raise ValueError(f"model has to give {outputs} outputs for each row, got the shape {found} for one row.")
        return given
    sizes = estimator.hidden_layer_sizes
    hidden = [int(size) for size in np.atleast_1d(sizes)]
    if min(hidden, default=1) <= 0:
        raise ValueError(f"hidden_layer_sizes must be > 0, got {sizes!r}.")
    activation = NAMES.get(estimator.activation, estimator.activation)
    model = nn.MLP(
        [inputs, *hidden, outputs], activation=activation, dropout=estimator.dropout, norm=estimator.norm, key=0,
        init="zeros", dtype=X.dtype,
    )  # fmt: skip
    return dataclasses.replace(model, layers=tuple([_drawn(layer, activation, rng) for layer in model.layers]))  # type: ignore[type-var]


def _drawn(layer: nn.Dense, activation: Any, rng: np.random.RandomState) -> nn.Dense:
    """First weights as scikit-learn draws them: Glorot's, for biases too."""
    kind = layer.weight.dtype
    bound = np.sqrt((2.0 if activation == "sigmoid" else 6.0) / sum(layer.weight.shape))
    weight, bias = [rng.uniform(-bound, bound, shape) for shape in (layer.weight.shape, layer.weight.shape[1])]
    return dataclasses.replace(layer, weight=weight.astype(kind), bias=bias.astype(kind))  # type: ignore[type-var]


def of_weights(weights: Any, activation: Any) -> nn.MLP:
    """A network of given weights.

    Pairs (W, b) with W of shape (inputs, outputs); scikit-learn's `[coefs_, intercepts_]`; or PyTorch's `state_dict`,
    whose matrices are (outputs, inputs).
    """
    pairs = _pairs(weights)
    for (W, b), (after, _) in zip(pairs, [*pairs[1:], (None, None)], strict=True):
        if W.ndim != 2 or b.shape != W.shape[1:] or (after is not None and after.shape[0] != W.shape[1]):
            shapes = ", ".join([f"{W.shape} and {b.shape}" for W, b in pairs])
            raise ValueError(f"weights have to be layers (W, b) of shapes (inputs, outputs), (outputs,), got {shapes}.")
    sizes = [pairs[0][0].shape[0], *[len(b) for _, b in pairs]]
    model = nn.MLP(sizes, activation=NAMES.get(activation, activation), init="zeros", key=0)
    layers = tuple([dataclasses.replace(d, weight=W, bias=b) for d, (W, b) in zip(model.layers, pairs, strict=True)])  # type: ignore[type-var]
    return dataclasses.replace(model, layers=layers)  # type: ignore[type-var]


def _pairs(weights: Any) -> list[tuple[Array, Array]]:
    if isinstance(weights, Mapping):
        matrices = [_numbers(a).T for name, a in weights.items() if str(name).endswith("weight")]
        biases = [_numbers(a) for name, a in weights.items() if str(name).endswith("bias")]
        return list(zip(matrices, biases, strict=True))
    if not isinstance(weights, Sequence) or not len(weights):
        raise ValueError(
            f"weights have to be a list of (W, b), [coefs_, intercepts_] or a state_dict, got {weights!r}."
        )
    given = list(weights)
    if len(given) == 2 and isinstance(given[0], (list, tuple)) and all([np.ndim(W) == 2 for W in given[0]]):
        given = list(zip(*given, strict=True))
    pairs = [(_numbers(W), _numbers(b)) for W, b in given]
    if any([W.ndim == 2 and len(b) != W.shape[1] and len(b) == W.shape[0] for W, b in pairs]):
        return [(W.T, b) for W, b in pairs]
    return pairs


def _numbers(a: Any) -> Array:
    return np.asarray(a.detach() if hasattr(a, "detach") else a, dtype=np.float64)


def hidden(model: Any, x: Any) -> tuple[list[Any], Any]:
    """What goes into each layer that has parameters, the first excepted, and what comes out at the end."""
    seen, y = _through(model, x)
    return seen[1:], y


def _through(model: Any, x: Any) -> tuple[list[Any], Any]:
    if isinstance(model, nn.Sequential):
        met = []
        for part in model.layers:
            seen, x = _through(part, x)
            met += seen
        return met, x
    if isinstance(model, nn.MLP):
        met = [x]
        for k, activation in enumerate(model.activations):
            x = model.layers[k](x)
            x = activation(model.norms[k](x) if model.norms else x)
            met.append(x)
        return met, model.layers[-1](x)
    return [x] if nn.parameters(model) else [], model(x)
