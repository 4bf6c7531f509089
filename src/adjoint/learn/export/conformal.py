"""Conformal sets and intervals: calibration scores are constants of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..conformal.bands import Quantiles, gives_deviation
from ..conformal.quantiles import ROUNDING, check_coverage, rank_of
from ..conformal.scores import FREE, FURTHER, PENALTY
from ..labels import encoded
from .registry import (
    InputColumns,
    Results,
    converted,
    converts,
    labelled,
    logits_of,
    probabilities_of,
    refuse,
    softmax,
)

if TYPE_CHECKING:
    from .graph import OnnxGraph


@converts("learn.ConformalClassifier")
def sets(g: OnnxGraph, model: Any, x: InputColumns, coverage: float | None) -> Results:
    """Whether each class is in the set: a matrix of truth values."""
    if model.weight is not None or model.by not in (None, "class") or callable(model.method):
        raise refuse(model, "weight=, groups by= of columns, or a method that is a function")
    level = model.coverage if coverage is None else coverage
    model._check_level(level)
    chance = None if model.method == "lac" else g.input("chance", len(model.estimators_))
    found = converted(g, model._final, x)
    held = _by_threshold(g, model, x, level, chance) if model._is_split else _by_count(g, model, x, level, chance)
    if not model.allow_empty:
        empty = g("Not", g.cast(g.total(g.number(held), keep=True), np.bool_))
        likeliest = g("ArgMax", found["probabilities"], axis=1, keepdims=1)
        held = g("Or", held, g("And", empty, g("Equal", likeliest, np.arange(len(model.classes_))[None])))
    return {name: found[name] for name in ("label", "probabilities")} | {"set": held}


def _by_threshold(g: OnnxGraph, model: Any, x: InputColumns, level: float, chance: str | None) -> str:
    scores = _scores(g, model, model.estimators_[0], x, chance, 0)
    limits = np.atleast_2d(model._limits(level, np.zeros(1, dtype=int), None)).astype(np.float64)
    return g("LessOrEqual", scores, limits)


def _by_count(g: OnnxGraph, model: Any, x: InputColumns, level: float, chance: str | None) -> str:
    """In the set if the p-value is above 1 - coverage, over the scores of all folds."""
    total = np.zeros((1, len(model.classes_)))
    strange = None
    for fold, estimator in enumerate(model.estimators_):
        scores = g("Unsqueeze", _scores(g, model, estimator, x, chance, fold), np.array([2]))
        rows = []
        for k in range(len(model.classes_)):
            pool = model._pools.get(k if model.by == "class" else 0)
            rows.append(np.empty(0) if pool is None else pool.parts[fold].scores)
        longest = max(map(len, rows))
        table = np.stack([np.append(r, np.full(longest - len(r), -np.inf)) for r in rows])  # none is below -inf
        total += [len(r) for r in rows]
        count = g.total(g.number(g("GreaterOrEqual", table[None], scores)), axis=2)
        strange = count if strange is None else g("Add", strange, count)
    if strange is None:
        raise refuse(model, "no folds")
    return g("Greater", g("Add", strange, np.array(1.0)), (1.0 - level + ROUNDING) * (1.0 + total))


def _scores(g: OnnxGraph, model: Any, estimator: Any, x: InputColumns, chance: str | None, fold: int) -> str:
    """How strange each class looks, as in `conformal/scores.py`."""
    count = len(model.classes_)
    p = probabilities_of(g, estimator, x)
    if len(estimator.classes_) != count:
        p = g.affine(p, np.eye(count)[encoded(estimator.classes_, model.classes_)])
    if chance is None:
        return g("Neg", p)
    luck = g.columns(chance, [fold])
    ordered, order = g.several("TopK", 2, p, np.array([count]), axis=1)
    rank = np.arange(count, dtype=np.float64)[None]
    if model.method == "saps":
        largest = g.columns(ordered, [0])
        further = g("Add", largest, g("Mul", np.array(FURTHER), g("Add", rank - 1.0, luck)))
        scores = g("Where", rank == 0.0, g("Mul", luck, largest), further)
    else:
        scores = g("Sub", g("CumSum", ordered, np.int64(1)), g("Mul", luck, ordered))
        if model.method == "raps":
            scores = g("Add", scores, PENALTY * np.maximum(rank + 1.0 - FREE, 0.0))
    return g("ScatterElements", g("Mul", p, np.array(0.0)), order, scores, axis=1)


@converts("learn.ConformalRegressor")
def intervals(g: OnnxGraph, model: Any, x: InputColumns, coverage: float | None) -> Results:
    """The ends of intervals: order statistics of what the estimators of all folds say."""
    if model.weight is not None or model.by is not None:
        raise refuse(model, "weight= or groups by=")
    share = model.coverage if coverage is None else coverage
    check_coverage(share)
    (pool,) = model._pools.values()
    rank = rank_of(pool.count, model._band.level(share))
    low, high = [], []
    for estimator, part in zip(model.estimators_, pool.parts, strict=True):
        below, above, width = _parts(g, model._band, estimator, x)
        other = part.mirrored if model._band.is_signed else part
        high.append(g("Add", above, g("Mul", width, part.scores[None])))
        low.append(g("Sub", g("Mul", width, other.scores[None]), below))
    ends = [g("Neg", _ranked(g, low, rank)), _ranked(g, high, rank)]
    middle = converted(g, model._final, x)["value"]
    if isinstance(model._band, Quantiles):
        middle = g("ReduceMean", middle, np.array([1]), keepdims=0)
    return {"value": middle, "interval": g.joined(*ends)}


def _ranked(g: OnnxGraph, folds: list[str], rank: int) -> str:
    """The r-th smallest in each row, of shape (n, 1); scores of a single fold are in order."""
    if len(folds) == 1:
        return g.columns(folds[0], [rank - 1])
    smallest, _ = g.several("TopK", 2, g.joined(*folds), np.array([rank]), axis=1, largest=0)
    return g.columns(smallest, [rank - 1])


def _parts(g: OnnxGraph, band: Any, estimator: Any, x: InputColumns) -> tuple[str, str, str]:
    """The ends of an interval of score 0 and its width, of shape (n, 1)."""
    found = converted(g, estimator, x)
    if isinstance(band, Quantiles):
        ends = [g("ReduceMin", found["value"], np.array([1])), g("ReduceMax", found["value"], np.array([1]))]
        return ends[0], ends[1], g.constant(np.ones((1, 1)))
    middle = g.standing(found["value"])
    if type(band).__name__ == "Band" or not gives_deviation(estimator):
        return middle, middle, g.constant(np.ones((1, 1)))
    if "deviation" not in found:
        raise refuse(estimator, "its deviations")
    return middle, middle, g.standing(found["deviation"])


@converts("learn.HonestClassifier")
def honest_classifier(g: OnnxGraph, model: Any, x: InputColumns, coverage: float | None) -> Results:
    """Calibrated probabilities, decisions by them, and sets by the scores as they were."""
    return {**converted(g, model.decider_, x), "set": converted(g, model.sets_, x, coverage)["set"]}


@converts("learn.HonestRegressor")
def honest_regressor(g: OnnxGraph, model: Any, x: InputColumns, coverage: float | None) -> Results:
    """Values and intervals."""
    return {**converted(g, model.intervals_, x, coverage), "value": converted(g, model.estimator_, x)["value"]}


@converts("learn.Softmax")
def softmax_of_scores(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """A classifier whose scores are taken for logits."""
    p = softmax(g, logits_of(g, model.estimator_, x))
    return {"probabilities": p, "label": labelled(g, model.classes_, p)}


@converts("learn.WithScale")
def with_scale(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """A value, and the size of its error."""
    size = g("Max", converted(g, model.scale_, x)["value"], np.array(model.floor_))
    return {"value": converted(g, model.estimator_, x)["value"], "deviation": size}


@converts("learn.TwoQuantiles")
def two_quantiles(g: OnnxGraph, model: Any, x: InputColumns) -> Results:
    """Lower and upper quantile, side by side."""
    return {"value": g.joined(*[g.standing(converted(g, e, x)["value"]) for e in model.estimators_])}
