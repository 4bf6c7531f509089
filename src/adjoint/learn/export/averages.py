"""Several models at once, and models with uncertain weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..labels import Array
from .networks import hidden_of, layer
from .registry import InputColumns, Results, converted, converts, labelled, refuse, softmax

if TYPE_CHECKING:
    from .graph import OnnxGraph


@converts("learn.DeepEnsemble", "learn.BayesianAverage")
def average(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """The mean of probabilities, or of values: of all alike, or by weights."""
    count = len(model.estimators_)
    weights = np.asarray(getattr(model, "weights_", np.full(count, 1.0 / count)), dtype=np.float64)
    classifies = hasattr(model, "classes_")
    name = "probabilities" if classifies else "value"
    parts = [g("Mul", converted(g, each, x)[name], w) for each, w in zip(model.estimators_, weights, strict=True)]
    total = parts[0]
    for part in parts[1:]:
        total = g("Add", total, part)
    return {name: total, "label": labelled(g, model.classes_, total)} if classifies else {name: total}


@converts("learn.RiskControl")
def risk_control(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """Sets of all classes with a probability of at least the threshold that was found."""
    found = converted(g, model.estimator_, x)
    if not np.array_equal(model.estimator_.classes_, model.classes_) or not np.isfinite(model.threshold_):
        raise refuse(model, "several labels for each row, classes that were not met, or no threshold")
    held = g("GreaterOrEqual", found["probabilities"], np.array(model.threshold_))
    return {name: found[name] for name in ("label", "probabilities")} | {"set": held}


@converts("learn.Laplace")
def laplace(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """Outputs with the variance that the weights of a linear model, or of a last layer, give them."""
    rows = x
    for step in model._steps:
        rows = converted(g, step, rows)["transformed"]
    outputs, features = _outputs(g, model, rows.numbers())
    if not hasattr(model, "classes_"):
        if len(_slopes(model)) > 1:
            raise refuse(model, "several outputs")
        variance = _variance(g, model, features, np.ones(1))
        deviation = g("Sqrt", g("Add", variance, np.array(model._found.sigma2)))
        return {"value": g("Squeeze", outputs, np.array([1])), "deviation": deviation}
    if model.link != "probit":
        raise refuse(model, f"link={model.link!r}")
    count = len(_slopes(model))
    directions = np.array([[-1.0, 1.0]]) if count == 2 else np.eye(count)
    logits = g.affine(outputs, directions.T)
    variances = g.joined(*[g.standing(_variance(g, model, features, d)) for d in directions])
    scaled = g("Div", logits, g("Sqrt", g("Add", np.array(1.0), g("Mul", np.array(np.pi / 8.0), variances))))
    both = g.joined(g("Mul", scaled, np.array(0.0)), scaled) if len(directions) == 1 else scaled
    p = softmax(g, both)
    return {"probabilities": p, "label": labelled(g, model.classes_, p)}


def _outputs(g: OnnxGraph, model: Any, value: str) -> tuple[str, list[str]]:
    """The outputs, and what each block of weights is multiplied with."""
    found = model._found.model
    if hasattr(found, "tree"):
        last = {name.rpartition(".")[0] for name in found.names}
        if len(last) > 1 or model.weights != "last":
            raise refuse(model, f"weights={model.weights!r} of a network: take weights='last'")
        inner = hidden_of(g, found.tree, value)
        outputs = layer(g, found.tree, value)
        names = [name.rpartition(".")[2] for name in found.names]
    else:
        inner = g("Sub", value, found.centre[None])
        outputs, names = g.affine(g.affine(inner, found.weight, found.bias), found.slopes), list(found.random)
    ones = g("Add", g("Mul", g.columns(inner, [0]), np.array(0.0)), np.array(1.0))
    return outputs, [inner if name == "weight" else ones for name in names]


def _slopes(model: Any) -> Array:
    """The derivative of the outputs by what the last weights give, (outputs, columns of weights)."""
    found = model._found.model
    return np.asarray(getattr(found, "slopes", np.eye(found.blocks[0].mean.shape[1])))


def _variance(g: OnnxGraph, model: Any, features: list[str], direction: Array) -> str:
    """The variance of a sum of outputs, of shape (n,): f S f, with S the covariance of its weights."""
    blocks = model._found.model.blocks
    own = _slopes(model).T @ direction
    across = [np.kron(np.eye(len(block.mean)), own[:, None]) for block in blocks]
    spread = np.zeros((sum(len(a) for a in across), sum(a.shape[1] for a in across)))
    row = column = 0
    for part in across:
        spread[row : row + len(part), column : column + part.shape[1]] = part
        row, column = row + len(part), column + part.shape[1]
    matrix = spread.T @ model.covariance_ @ spread
    inputs = g.joined(*features)
    square = g.total(g("Mul", g.affine(inputs, matrix), inputs))
    extra = model._found.sigma2 * float(model._found.of_intercept) * float(direction @ direction)
    return g("Add", square, np.array(extra))
