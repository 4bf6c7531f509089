"""The rows to look at: those of training that move the loss on new ones most, and those that are predicted worst."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..sensitivity.effects import influence
from .asking import Answers
from .learning import losses_of

MOST = 10


def of_rows(answers: Answers, train: Any) -> dict[str, Any]:
    """Up to ten rows of either kind; where influence is not known, why."""
    name, losses = losses_of(answers)
    worst = np.argsort(-losses, kind="stable")[:MOST]
    found: dict[str, Any] = {"loss": name, "worst": [_described(answers, int(k), float(losses[k])) for k in worst]}
    values, words = _influence(answers, train)
    if values is None:
        return {**found, "influential": None, "why not": words}
    found["influence of"] = words
    X, y = train
    order = np.argsort(-np.abs(values), kind="stable")[:MOST]
    names, labels = _names(X, len(values)), np.asarray(y)
    found["influential"] = [{"row": names[k], "truth": _plain(labels[k]), "influence": float(values[k])} for k in order]
    return found


def _influence(answers: Answers, train: Any) -> tuple[Any, str]:
    """d loss / d weight of each row of training, and of which model; or None, and why not.

    Of the model, or of the estimator inside it, if one of them can be differentiated through.
    """
    if train is None:
        return None, "the rows of training were not given (train=)"
    why = ""
    for model in (answers.model, getattr(answers.model, "estimator_", None)):
        if model is None:
            continue
        try:
            found = influence(model, *train, on=(answers.X, answers.y))
        except Exception as error:  # whatever a model that is not known raises, the page is written without
            why = why or re.split(r"[:;\n]|\. ", str(error))[0]
            continue
        return np.asarray(getattr(found, "values", found), dtype=np.float64), type(model).__name__
    return None, why


def _described(answers: Answers, k: int, loss: float) -> dict[str, Any]:
    row = {"row": _names(answers.X, len(answers.y))[k], "truth": _plain(answers.y[k])}
    row |= {"prediction": _plain(answers.taken[k]), "loss": loss}
    if answers.p is not None:
        row["probability of the truth"] = float(answers.p[k, answers.codes[k]])
    return row


def _names(X: Any, count: int) -> list[str]:
    """What a frame calls its rows, or their numbers from 0."""
    index = getattr(X, "index", None)
    return (
        [str(name) for name in index] if index is not None and not callable(index) else [str(k) for k in range(count)]
    )


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
