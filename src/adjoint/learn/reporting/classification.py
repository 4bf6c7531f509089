"""The numbers of a report about a classifier."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from ..calibration.binning import binned
from ..calibration.decomposition import brier_losses, log_losses, score_decomposition
from ..calibration.errors import asked as questions
from ..decision.deciding import checked_costs, decide
from ..display.costs import CostDisplay
from ..display.reliability import ReliabilityDisplay
from ..labels import Array, Predictions
from .asking import Answers
from .intervals import Score, with_intervals
from .sets import of_sets

BINS = 10
MOST = 10_000
"""Rows that parts of scores are computed from, at most: scalings are fitted twenty times for them."""
POINTS = 200
"""Thresholds at which the cost is kept, at most."""


def of_classes(answers: Answers, *, costs: Any, coverage: float) -> dict[str, Any]:
    """All numbers of a classifier but those that take refitting."""
    names = [*answers.classes, *sorted(set(answers.taken.tolist()) - set(answers.classes.tolist()), key=str)]
    place = {name: k for k, name in enumerate(names)}
    taken = np.array([place[name] for name in answers.taken.tolist()])
    counts = np.zeros((len(names), len(answers.classes)), dtype=int)
    np.add.at(counts, (taken, answers.codes), 1)
    found: dict[str, Any] = {
        "classes": [str(c) for c in answers.classes],
        "scores": _scores(answers, taken),
        "confusion": {"decisions": [str(n) for n in names], "counts": counts.tolist()},
    }
    if answers.p is not None:
        found["decomposition"] = _parts(answers)
        found["reliability"] = _reliability(answers)
        found["sets"] = of_sets(answers, coverage)
    paid = _costs(answers, costs)
    if paid is not None:
        found["costs"] = paid
    found["per class"] = _per_class(answers, counts, found)
    return found


def _scores(answers: Answers, taken: Array) -> dict[str, Any]:
    """Accuracy and its kin, proper scores, the area under the curve, the calibration error."""
    codes, count = answers.codes, len(answers.classes)
    hit = taken == codes
    met = np.bincount(codes, minlength=count) > 0

    def rates(weights: Array) -> tuple[Array, Array]:
        """Recall and F1 of each class."""
        right, true, said = (
            np.bincount(c, w, minlength=max(count, taken.max() + 1))[:count]
            for c, w in ((codes, weights * hit), (codes, weights), (taken, weights))
        )
        with np.errstate(invalid="ignore"):
            return right / true, 2 * right / (true + said)

    scores: dict[str, Score] = {
        "accuracy": lambda w: float(np.average(hit, weights=w)),
        "balanced accuracy": lambda w: float(np.nanmean(rates(w)[0])),
        "F1, mean over classes": lambda w: float(np.nanmean(rates(w)[1])),
    }
    p = answers.p
    if p is not None:
        log, brier = log_losses(p, codes), brier_losses(p, codes)
        scores["log loss"] = lambda w: float(np.average(log, weights=w))
        scores["Brier score"] = lambda w: float(np.average(brier, weights=w))
        if met.all():
            scores["area under the ROC curve"] = Area(codes, p)
        top = questions(Predictions(p, codes, np.ones(len(codes))), "top-label")[0]
        scores["calibration error"] = lambda w: binned(top[0], top[1], w, BINS, "uniform").error()
    return with_intervals(len(codes), scores, biased=("calibration error",))


class Area:
    """The area under the ROC curve of weighted rows, sorted once: each draw of a bootstrap takes two sums.

    Of two classes, or the mean of each against the others; nan where a draw lacks a class.
    """

    def __init__(self, codes: Array, p: Array) -> None:
        columns = [1] if p.shape[1] == 2 else range(p.shape[1])
        self.sides = [(codes == k, np.unique(p[:, k], return_inverse=True)[1]) for k in columns]

    def __call__(self, weights: Array) -> float:
        """The area with these weights."""
        return float(np.mean([self._one(hit, place, weights) for hit, place in self.sides]))

    @staticmethod
    def _one(hit: Array, place: Array, weights: Array) -> float:
        """The share of pairs in the right order; those that are equal count half."""
        right, wrong = np.bincount(place, weights * hit), np.bincount(place, weights * ~hit)
        pairs = np.sum(right) * np.sum(wrong)
        return float(right @ (np.cumsum(wrong) - wrong / 2) / pairs) if pairs > 0 else float("nan")


def _parts(answers: Answers) -> dict[str, Any]:
    some = np.random.default_rng(0).permutation(len(answers.codes))[:MOST]
    p = np.asarray(answers.p)[some]
    found = score_decomposition(answers.codes[some], p, labels=np.arange(len(answers.classes)))
    return {
        name: {**asdict(parts), "resolution": parts.resolution}
        for name, parts in (("log loss", found.log), ("Brier score", found.brier))
    }


def _reliability(answers: Answers) -> dict[str, Any]:
    kind: Any = "binary" if len(answers.classes) == 2 else "top-label"
    display = ReliabilityDisplay.from_predictions(
        answers.codes, answers.p, kind=kind, bins=BINS, labels=np.arange(len(answers.classes)), plot=False
    )
    bins = display.bins[0]
    rows = [
        {
            "from": float(bins.edges[k]), "to": float(bins.edges[k + 1]), "count": int(bins.count[k]),
            "confidence": float(bins.confidence[k]), "accuracy": float(bins.accuracy[k]),
            "low": float(display.low[0][k]), "high": float(display.high[0][k]),
        }
        for k in range(len(bins.count)) if bins.count[k] > 0
    ]  # fmt: skip
    return {"kind": kind, "error": display.error, "bins": rows}


def _costs(answers: Answers, costs: Any) -> dict[str, Any] | None:
    """What decisions have cost: those of the model, the likeliest class, those of least expected cost."""
    costs = getattr(answers.model, "costs", None) if costs is None else costs
    if costs is None:
        return None
    each = checked_costs(costs(answers.X) if callable(costs) else costs, len(answers.classes))
    given = getattr(answers.model, "decisions", None)
    names = [str(c) for c in (answers.classes if given is None else given)]
    names += [f"decision {k}" for k in range(len(names), each.shape[-2])]
    rows, codes = np.arange(len(answers.codes)), answers.codes

    def mean(decisions: Array) -> float:
        return float(np.mean(each[rows, decisions, codes] if each.ndim == 3 else each[decisions, codes]))

    found: dict[str, Any] = {"decisions": names, "matrix": each.tolist() if each.ndim == 2 else None, "mean": {}}
    place = {name: k for k, name in enumerate(names)}
    own = [place.get(str(name)) for name in answers.taken.tolist()]
    if None not in own:
        found["mean"]["what the model decides"] = mean(np.array(own))
    if answers.p is None:
        return found
    found["mean"]["the likeliest class"] = mean(np.argmax(answers.p, axis=1))
    found["mean"]["least expected cost"] = mean(decide(answers.p, each))
    display = CostDisplay.from_predictions(
        codes, answers.p, costs=each, decisions=names, labels=np.arange(len(answers.classes)), plot=False
    )
    found["by pair"], found["always"] = display.matrix.tolist(), display.expected.tolist()
    if display.thresholds is not None:
        at = display.thresholds
        kept = np.unique(np.linspace(0, len(at.at) - 1, POINTS).astype(int))
        found["thresholds"] = {
            "rule": at.rule, "cost at rule": at.cost(at.rule), "best": at.best, "cost at best": at.cost(at.best),
            "at": np.minimum(at.at[kept], 1.0).tolist(),
            "observed": at.observed[kept].tolist(), "expected": at.expected[kept].tolist(),
        }  # fmt: skip
    return found


def _per_class(answers: Answers, counts: Array, found: dict[str, Any]) -> list[dict[str, Any]]:
    rows = []
    held = found.get("sets", {}).get("by class")
    for k, name in enumerate(found["classes"]):
        true, said, right = int(counts[:, k].sum()), int(counts[k].sum()), int(counts[k, k])
        row: dict[str, Any] = {
            "class": name, "rows": true, "decided": said,
            "precision": right / said if said else None, "recall": right / true if true else None,
            "F1": 2 * right / (true + said) if true + said else None,
        }  # fmt: skip
        if answers.p is not None:
            hit, p = answers.codes == k, answers.p[:, k]
            row["area"] = float(roc_auc_score(hit, p)) if 0 < true < len(hit) else None
            row["mean probability"], row["share"] = float(np.mean(p)), float(np.mean(hit))
            row["calibration error"] = binned(p, hit, np.ones(len(p)), BINS, "uniform").error()
            row["in its set"] = held[k] if held else None
        rows.append(row)
    return rows
