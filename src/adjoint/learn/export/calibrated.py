"""Calibrated classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..labels import Array
from .registry import InputColumns, Results, converts, labelled, logits_of, softmax
from .scalers import interpolated

if TYPE_CHECKING:
    from .graph import OnnxGraph


@converts("learn.CalibratedClassifier")
def calibrated(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """Logits of the estimator, scaled."""
    logits = logits_of(g, model.estimator_, x)
    p = scaled(g, model.calibrator_, logits)
    return {"probabilities": p, "label": labelled(g, model.classes_, p)}


@converts("learn.TemperatureScaling", "learn.VectorScaling", "learn.MatrixScaling", "learn.IsotonicScaling",
          "learn.VennAbersScaling")  # fmt: skip
def scaling(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """A scaling by itself, whose columns are logits."""
    return {"probabilities": scaled(g, model, x.numbers())}


def scaled(g: OnnxGraph, scaling: Any, logits: str) -> str:
    """Probabilities of logits, by a fitted scaling."""
    centred = g("Sub", logits, g("ReduceMean", logits, np.array([1])))
    if hasattr(scaling, "coef_"):
        return softmax(g, g.affine(centred, scaling.coef_, scaling.intercept_))
    if hasattr(scaling, "temperature_"):
        return softmax(g, g("Div", centred, np.array(float(scaling.temperature_))))
    p = softmax(g, centred)
    if hasattr(scaling, "steps_"):
        columns = [
            interpolated(g, g.columns(p, [k]), step.X_thresholds_, step.y_thresholds_)
            for k, step in enumerate(scaling.steps_)
        ]
        return _normalised(g, g.joined(*columns), len(columns))
    if len(scaling.tables_) == 1:
        second = _merged(g, scaling.tables_[0], g.columns(p, [1]))
        return g.joined(g("Sub", np.array(1.0), second), second)
    merged = [_merged(g, table, g.columns(p, [k])) for k, table in enumerate(scaling.tables_)]
    return _normalised(g, g.joined(*merged), len(merged))


def _merged(g: OnnxGraph, table: Any, column: str) -> str:
    """One probability from the two of Venn and Abers: high / (1 - low + high)."""
    scores = g.constant(table.scores[None])

    def at(values: Array, comparison: str) -> str:
        below = g.total(g.number(g(comparison, scores, column)), keep=True)
        return g("Gather", g.constant(values), g.cast(below, np.int64))

    high = at(np.append(table.high, 1.0), "Less")
    low = at(np.append(0.0, table.low), "LessOrEqual")
    return g("Div", high, g("Add", g("Sub", np.array(1.0), low), high))


def _normalised(g: OnnxGraph, p: str, count: int) -> str:
    total = g.total(p, keep=True)
    some = g("Greater", total, np.array(0.0))
    return g("Where", some, g("Div", p, g("Where", some, total, np.array(1.0))), np.array(1.0 / count))
