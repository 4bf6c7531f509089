"""Decision trees and forests: all trees are walked at once, one level at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .registry import InputColumns, Results, converts, labelled, refuse

if TYPE_CHECKING:
    from .graph import OnnxGraph

NAMES = ("DecisionTree", "ExtraTree", "RandomForest", "ExtraTrees")


@converts(*[f"sklearn.{name}{kind}" for name in NAMES for kind in ("Classifier", "Regressor")])
def forest(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """The mean over trees of what their leaves say."""
    if model.n_outputs_ > 1:
        raise refuse(model, "several outputs")
    trees = [tree.tree_ for tree in getattr(model, "estimators_", [model])]
    start = np.cumsum([0, *[tree.node_count for tree in trees]])
    inner = np.concatenate([tree.children_left for tree in trees]) >= 0
    here = np.arange(start[-1])

    def table(name: str, offset: bool = False) -> Any:
        parts = [getattr(t, name) + (s if offset else 0) for t, s in zip(trees, start[:-1], strict=True)]
        return np.concatenate(parts)

    left = np.where(inner, table("children_left", offset=True), here)
    right = np.where(inner, table("children_right", offset=True), here)
    feature, threshold = np.where(inner, table("feature"), 0), np.where(inner, table("threshold"), 0.0)
    to_left = np.concatenate([_missing_left(tree) for tree in trees])
    columns = g.number(g.cast(x.numbers(), np.float32))  # as scikit-learn has it
    roots = g.constant(start[None, :-1].astype(np.int64))
    rows = _rows(g, columns)
    node = g("Add", roots, rows)
    tables = [g.constant(t) for t in (left, right, feature.astype(np.int64), threshold, to_left)]
    for _ in range(max(tree.max_depth for tree in trees)):
        at_left, at_right, at_feature, at_threshold, at_missing = (g("Gather", t, node) for t in tables)
        value = g("GatherElements", columns, at_feature, axis=1)
        goes = g("Or", g("LessOrEqual", value, at_threshold), g("And", g("IsNaN", value), at_missing))
        node = g("Where", goes, at_left, at_right)
    values = np.concatenate([tree.value[:, 0, :] for tree in trees])
    if not hasattr(model, "classes_"):
        return {"value": g("ReduceMean", g("Gather", g.constant(values[:, 0]), node), np.array([1]), keepdims=0)}
    p = values / np.sum(values, axis=1, keepdims=True)
    found = g("ReduceMean", g("Gather", g.constant(p), node), np.array([1]), keepdims=0)
    return {"probabilities": found, "label": labelled(g, model.classes_, found)}


def _missing_left(tree: Any) -> Any:
    return tree.__getstate__()["nodes"]["missing_go_to_left"].astype(bool)


def _rows(g: OnnxGraph, columns: str) -> str:
    """Zeros of shape (n, 1), integers."""
    return g.cast(g("IsInf", g.columns(columns, [0])), np.int64)
