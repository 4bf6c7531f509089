"""Estimators that are made of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..decision.deciding import checked_costs
from .registry import InputColumns, Results, converted, converts, labelled, labels, probabilities_of, refuse

if TYPE_CHECKING:
    from .graph import OnnxGraph


@converts("sklearn.Pipeline")
def pipeline(g: OnnxGraph, model: Any, x: InputColumns, coverage: float | None) -> Results:
    """One after another."""
    found: Results = {"transformed": x}
    for _, step in model.steps:
        if step not in (None, "passthrough"):
            found = converted(g, step, found["transformed"], coverage)
    return found


@converts("sklearn.FrozenEstimator")
def frozen(g: OnnxGraph, model: Any, x: InputColumns, coverage: float | None) -> Results:
    """The estimator inside."""
    return converted(g, model.estimator, x, coverage)


@converts("sklearn.ColumnTransformer")
def columns(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """Each transformer with its columns, side by side."""
    parts = []
    for name, transformer, _ in model.transformers_:
        places = model._transformer_to_input_indices[name]
        if transformer == "drop" or len(places) == 0:
            continue
        inner = x.only([int(k) for k in places])
        parts.append(inner if transformer == "passthrough" else converted(g, transformer, inner)["transformed"])
    return {"transformed": _joined(g, parts)}


@converts("sklearn.FeatureUnion")
def union(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """Every transformer with all columns, side by side."""
    if model.transformer_weights:
        raise refuse(model, "transformer_weights")
    parts = [
        x if transformer == "passthrough" else converted(g, transformer, x)["transformed"]
        for _, transformer in model.transformer_list
        if transformer != "drop"
    ]
    return {"transformed": _joined(g, parts)}


def _joined(g: OnnxGraph, parts: list[InputColumns]) -> InputColumns:
    return InputColumns(
        g, matrix=g.joined(*[part.numbers() for part in parts]), width=sum(part.width for part in parts)
    )


@converts("learn.CostSensitiveClassifier")
def by_cost(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """The decision of least expected cost."""
    if callable(model.costs):
        raise refuse(model, "costs that are a function")
    p = probabilities_of(g, model.estimator_, x)
    count = len(model.classes_)
    matrix = 1.0 - np.eye(count) if model.costs is None else checked_costs(model.costs, count)
    if matrix.ndim != 2:
        raise refuse(model, "costs for each example")
    names = model.classes_ if model.decisions is None else np.asarray(model.decisions)
    cost = g.affine(p, matrix.T)
    decision = g("Gather", labels(g, names), g("ArgMin", cost, axis=1, keepdims=0), axis=0)
    if model.costs is None:  # of equal probabilities the first class
        decision = labelled(g, names, p)
    found = {"label": labelled(g, model.classes_, p), "probabilities": p}
    return {**found, "decision": decision, "expected_cost": cost}


@converts("sklearn.VotingClassifier", "sklearn.VotingRegressor")
def voting(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """Means of probabilities, or of values."""
    regresses = not hasattr(model, "classes_")
    if not regresses and model.voting != "soft":
        raise refuse(model, "voting='hard'")
    weights = model._weights_not_none or [1.0] * len(model.estimators_)
    total: str | None = None
    for weight, estimator in zip(weights, model.estimators_, strict=True):
        one = converted(g, estimator, x)["value" if regresses else "probabilities"]
        part = g("Mul", one, np.array(float(weight) / float(np.sum(weights))))
        total = part if total is None else g("Add", total, part)
    if total is None:
        raise refuse(model, "no estimators")
    if regresses:
        return {"value": total}
    return {"probabilities": total, "label": labelled(g, model.classes_, total)}
