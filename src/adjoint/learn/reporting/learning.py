"""The learning curve, and how much worse a model is on new rows than on those that it was trained on."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold, StratifiedKFold, learning_curve
from sklearn.utils.validation import _num_samples

from ...training.progress import Progress
from ..calibration.decomposition import brier_losses, log_losses
from ..labels import Array, encoded
from ..scoring import probabilities_of
from .asking import Answers

SHARES = (0.1, 0.22, 0.4, 0.65, 1.0)
"""Of the rows that a fold has to train on."""
FEWEST = 10


def of_learning(answers: Answers, train: Any, cv: Any, *, progress: bool | None) -> dict[str, Any] | None:
    """Refit on growing parts of the rows of training, or of those that are given, by cross-validation."""
    if cv is None or isinstance(answers.model, FrozenEstimator):
        return None
    X, y = (answers.X, answers.y) if train is None else (train[0], np.asarray(train[1]))
    count = _num_samples(X)
    splitter = cv
    if isinstance(cv, (int, np.integer)):
        kind = StratifiedKFold if is_classifier(answers.model) else KFold
        splitter = kind(int(cv), shuffle=True, random_state=0)
    elif isinstance(cv, float):
        kind = StratifiedKFold if is_classifier(answers.model) else KFold
        splitter = kind(5, shuffle=True, random_state=0)
    name = score_name(answers)
    rows, known, new = [], [], []
    with Progress(len(SHARES), enabled=progress, unit="learning curve") as bar, warnings.catch_warnings():
        for kind_of_warning in (ConvergenceWarning, FitFailedWarning, UserWarning, RuntimeWarning):
            warnings.simplefilter("ignore", kind_of_warning)
        for step, part in enumerate(SHARES):
            try:
                sizes, on_train, on_new = learning_curve(
                    clone(answers.model), X, y, cv=splitter, train_sizes=[part], shuffle=True, random_state=0,
                    scoring=score, error_score=np.nan,
                )  # fmt: skip
            except ValueError:  # so few rows that no fold could be fitted
                continue
            if sizes[0] >= FEWEST and np.isfinite(on_new).any():
                rows.append(int(sizes[0]))
                known.append([float(v) for v in on_train[0] if np.isfinite(v)])
                new.append([float(v) for v in on_new[0] if np.isfinite(v)])
            bar.update(step + 1)
    if len(rows) < 2:
        return None
    means = [[float(np.mean(folds)) for folds in side] for side in (known, new)]
    spread = [float(np.std(folds)) for folds in new]
    return {"score": name, "rows": rows, "train": means[0], "new": means[1], "deviation": spread, "of": count}


def of_gap(answers: Answers, train: Any, learning: dict[str, Any] | None) -> dict[str, Any] | None:
    """The score on rows of training and on new ones."""
    name = score_name(answers)
    if train is not None:
        known, new = score(answers.model, train[0], np.asarray(train[1])), score(answers.model, answers.X, answers.y)
        return {"score": name, "train": known, "new": new, "gap": new - known, "how": "rows of training, and new ones"}
    if learning is None:
        return None
    known, new = learning["train"][-1], learning["new"][-1]
    return {"score": name, "train": known, "new": new, "gap": new - known, "how": "refitted, by cross-validation"}


def score_name(answers: Answers) -> str:
    """What the curve shows: proper and bounded where there are probabilities."""
    if not is_classifier(answers.model):
        return "root mean square error"
    return "Brier score" if answers.p is not None else "error rate"


def score(estimator: Any, X: Any, y: Array) -> float:
    """The number behind the name: the smaller, the better."""
    if not is_classifier(estimator):
        errors = np.asarray(y, dtype=np.float64) - np.asarray(estimator.predict(X), dtype=np.float64).reshape(len(y))
        return float(np.sqrt(np.mean(errors**2)))
    if not hasattr(estimator, "predict_proba"):
        return float(np.mean(np.asarray(estimator.predict(X)) != y))
    classes = np.union1d(estimator.classes_, y)
    return float(np.mean(brier_losses(probabilities_of(estimator, X, classes), encoded(y, classes))))


def losses_of(answers: Answers) -> tuple[str, Array]:
    """The loss of each row, and its name."""
    if not is_classifier(answers.model):
        return "absolute error", np.abs(answers.y - answers.taken)
    if answers.p is None:
        return "wrong", (answers.taken != answers.y).astype(np.float64)
    return "log loss", log_losses(answers.p, answers.codes)
