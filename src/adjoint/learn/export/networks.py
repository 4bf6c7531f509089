"""Models of `adjoint.nn`, made of dense layers, activations and normalisation; and networks as estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint import nn

from .registry import InputColumns, Results, converted, converts, labelled, refuse, softmax
from .scalers import transformed

if TYPE_CHECKING:
    from .graph import OnnxGraph

ZERO, ONE = np.array(0.0), np.array(1.0)
SIMPLE = {nn.relu: "Relu", nn.tanh: "Tanh", np.tanh: "Tanh", nn.sigmoid: "Sigmoid", nn.softplus: "Softplus"}
"""Activations that are one operation."""


def layer(g: OnnxGraph, part: Any, value: str) -> str:
    """What a layer gives for a matrix."""
    return converted(g, part, InputColumns(g, matrix=value))["output"]


@converts("nn.Dense")
def dense(g: OnnxGraph, part: Any, x: InputColumns) -> Results:
    """X W + b."""
    return {"output": g.affine(x.numbers(), part.weight, part.bias)}


@converts("nn.Sequential")
def sequential(g: OnnxGraph, part: Any, x: InputColumns) -> Results:
    """One after another."""
    return {"output": _through(g, part.layers, x.numbers())}


@converts("nn.MLP")
def perceptron(g: OnnxGraph, part: Any, x: InputColumns) -> Results:
    """Dense layers with activations between them."""
    return {"output": _through(g, steps_of(part), x.numbers())}


def steps_of(model: Any) -> list[Any]:
    """The layers of a network, from the first to the last, outside of training."""
    if isinstance(model, nn.Sequential):
        return [step for part in model.layers for step in steps_of(part)]
    if not isinstance(model, nn.MLP):
        return [model]
    found: list[Any] = []
    for k, part in enumerate(model.layers[:-1]):
        found += [part, *model.norms[k : k + 1], model.activations[k]]
    return [*found, model.layers[-1]]


def _through(g: OnnxGraph, parts: Any, value: str) -> str:
    for part in parts:
        value = layer(g, part, value)
    return value


def hidden_of(g: OnnxGraph, model: Any, value: str) -> str:
    """What the last dense layer gets."""
    parts = steps_of(model)
    if not isinstance(parts[-1], nn.Dense):
        raise refuse(model, "something after its last dense layer")
    return _through(g, parts[:-1], value)


@converts("nn.Dropout")
def dropout(g: OnnxGraph, part: Any, x: InputColumns) -> Results:
    """Nothing, outside of training."""
    return {"output": x.numbers()}


@converts("nn.PReLU")
def prelu(g: OnnxGraph, part: Any, x: InputColumns) -> Results:
    """X, or times a slope below 0."""
    value = x.numbers()
    return {"output": g("Where", g("Greater", value, ZERO), value, g("Mul", value, np.asarray(part.slope)[None]))}


@converts("nn.BatchNorm")
def batch_norm(g: OnnxGraph, part: Any, x: InputColumns) -> Results:
    """By the running statistics."""
    factor = part.scale / np.sqrt(part.variance + part.epsilon)
    return {"output": g("Add", g("Mul", x.numbers(), factor[None]), (part.shift - part.mean * factor)[None])}


@converts("nn.LayerNorm")
def layer_norm(g: OnnxGraph, part: Any, x: InputColumns) -> Results:
    """By the mean and the variance of each row."""
    centred = g("Sub", x.numbers(), g("ReduceMean", x.numbers(), np.array([1])))
    variance = g("ReduceMean", g("Mul", centred, centred), np.array([1]))
    unit = g("Div", centred, g("Sqrt", g("Add", variance, np.array(part.epsilon))))
    return {"output": g("Add", g("Mul", unit, part.scale[None]), part.shift[None])}


@converts("nn.Activation")
def activation_layer(g: OnnxGraph, part: Any, x: InputColumns) -> Results:
    """A function as a layer."""
    return {"output": activation(g, part.function, x.numbers())}


def activation(g: OnnxGraph, function: Any, x: str) -> str:
    """An activation of `nn`, with its default parameters."""
    if function is nn.identity:
        return x
    if function in SIMPLE:
        return g(SIMPLE[function], x)
    if function is nn.silu:
        return g("Mul", x, g("Sigmoid", x))
    if function is nn.leaky_relu:
        return g("Where", g("Greater", x, ZERO), x, g("Mul", x, np.array(0.01)))
    if function is nn.elu:
        return g("Where", g("Greater", x, ZERO), x, g("Sub", g("Exp", g("Min", x, ZERO)), ONE))
    if function is nn.gelu:  # erf is there in single precision only
        erf = g.number(g("Erf", g.cast(g("Mul", x, np.array(np.sqrt(0.5))), np.float32)))
        return g("Mul", x, g("Mul", np.array(0.5), g("Add", erf, ONE)))
    if function is nn.softmax:
        return g("Softmax", x, axis=-1)
    if function is nn.log_softmax:
        return g("LogSoftmax", x, axis=-1)
    raise refuse(nn.Activation(function), f"the function {getattr(function, '__name__', 'given')!r}")


@converts("learn.Units")
def units(g: OnnxGraph, part: Any, x: InputColumns) -> Results:
    """In the units of the targets."""
    return {"output": g("Add", g("Mul", x.numbers(), part.scale[None]), part.shift[None])}


@converts("learn.Ascending")
def ascending(g: OnnxGraph, part: Any, x: InputColumns) -> Results:
    """Quantiles that cannot cross, (n, outputs, levels): the first, and distances to the next ones."""
    steps = g("Reshape", x.numbers(), np.array([0, -1, len(part.scale)]))
    count = g("Gather", g("Shape", steps), np.array([1]))
    first, rest = g("Slice", steps, np.array([0]), np.array([1]), np.array([1])), g(
        "Slice", steps, np.array([1]), count, np.array([1])
    )  # fmt: skip
    levels = g("CumSum", g("Concat", first, g("Softplus", rest), axis=1), np.int64(1))
    scaled = g("Add", g("Mul", levels, part.scale[None, None]), part.shift[None, None])
    return {"output": g("Transpose", scaled, perm=[0, 2, 1])}


@converts("learn.MLPClassifier")
def classifier(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """Logits of a network."""
    logits = layer(g, model.model_, x.numbers())
    return {"logits": logits, "probabilities": softmax(g, logits), "label": labelled(g, model.classes_, logits)}


@converts("learn.MLPRegressor")
def regressor(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """Values of a network, with deviations if it gives any; the median if it gives quantiles."""
    found = layer(g, model.model_, x.numbers())
    if model.distribution == "gaussian":
        count = model.n_outputs_
        deviation = g("Exp", g.columns(found, np.arange(count, 2 * count)))
        return {"value": _flat(g, model, g.columns(found, np.arange(count))), "deviation": _flat(g, model, deviation)}
    if model.distribution == "quantiles":
        levels = model._levels()
        shares = [np.interp(np.clip(0.5, levels[0], levels[-1]), levels, row) for row in np.eye(len(levels))]
        median = g("Squeeze", g("MatMul", found, np.array(shares)[:, None]), np.array([2]))
        return {"value": _flat(g, model, median)}
    return {"value": _flat(g, model, g("Exp", found) if model._is_log else found)}


def _flat(g: OnnxGraph, model: Any, value: str) -> str:
    return g("Squeeze", value, np.array([1])) if model._is_flat else value


@converts("learn.FineTuned")
def fine_tuned(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """The network that was tuned."""
    return converted(g, model.estimator_, x)


@converts("learn.MaskedPretrainer")
def pretrained(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """Hidden features."""
    return transformed(g, hidden_of(g, model.model_, x.numbers()), model._n_features_out)


def inputs_of(model: Any) -> int:
    """The number of columns that a model of `nn` takes."""
    for name, value in nn.parameters(model).items():
        return int(value.shape[0] if name.endswith("weight") and value.ndim == 2 else value.shape[-1])
    raise refuse(model, "no first layer")
