"""What a model says of rows that it has not seen: of those that are given, or of each fold by a model of the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..labels import Array, encoded
from ..scoring import CrossFit, cross_fitted, probabilities_of


@dataclass(frozen=True)
class Answers:
    """A model's answers: `y` the truth, `taken` what it predicts; `p`, `codes` and `classes` for classifiers.

    `folds` has who was asked about which rows, `how` says it in words.
    """

    model: Any
    X: Any
    y: Array
    taken: Array
    folds: CrossFit
    how: str
    classes: Array
    codes: Array
    p: Array | None

    @property
    def is_fitted(self) -> bool:
        """Whether the model was given fitted."""
        return self.folds.estimators[0] is self.model

    def each(self, ask: Callable[[Any, Any], Array]) -> Array:
        """What each model says of the rows that it has not seen, in the order of all rows."""
        parts = [ask(estimator, _safe_indexing(self.X, rows)) for estimator, rows in self.folds]
        return np.concatenate(parts)[np.argsort(self.folds.order)]


def asked(model: Any, X: Any, y: Any, *, train: Any, cv: Any) -> Answers:
    """Ask a fitted model about all rows; one that is not, by cross-fitting."""
    if not (is_classifier(model) or is_regressor(model)):
        raise TypeError(f"report takes a classifier or a regressor, got {type(model).__name__}.")
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(
            f"report takes one target, got y of the shape {values.shape}: report on each column by itself."
        )
    if len(values) != _num_samples(X):
        raise ValueError(f"X has {_num_samples(X)} rows, but y has {len(values)}.")
    if is_classifier(model):
        check_classification_targets(values)
        if type_of_target(values).startswith("multilabel"):
            raise ValueError("report takes one label for each row: report on each label by itself.")
    else:
        values = values.astype(np.float64)
    if train is not None or is_fitted(model, X):
        folds, how = CrossFit([model], [np.arange(len(values))]), f"{len(values):,} rows that were given"
    else:
        folds = cross_fitted(model, X, values, cv=cv, random_state=0)
        count = len(folds.rows)
        how = f"{len(folds.order):,} rows left out in turn ({count} folds)" if count > 1 else "rows held out"
        kept = np.sort(folds.order)
        if len(kept) < len(values):  # rows held out once: the others say nothing
            values, X = values[kept], _safe_indexing(X, kept)
            folds = CrossFit(folds.estimators, [np.searchsorted(kept, rows) for rows in folds.rows])
    nothing: Array = np.empty(0)
    found = Answers(model, X, values, nothing, folds, how, nothing, nothing, None)
    taken = found.each(lambda estimator, rows: np.asarray(estimator.predict(rows)))
    if not is_classifier(model):
        check_finite(model, taken.astype(np.float64))
        return Answers(
            model, X, values, taken.astype(np.float64).reshape(len(values)), folds, how, nothing, nothing, None
        )
    classes = folds.classes
    says = all(hasattr(estimator, "predict_proba") for estimator in folds.estimators)
    p = found.each(lambda estimator, rows: probabilities_of(estimator, rows, classes)) if says else None
    if p is not None:
        check_finite(model, p)
    return Answers(model, X, values, taken, folds, how, classes, encoded(values, classes), p)


def check_finite(model: Any, values: Array) -> None:
    """Refuse predictions that are no numbers: no score could be made of them."""
    bad = ~np.isfinite(values.reshape(len(values), -1)).all(axis=1)
    if np.any(bad):
        raise ValueError(
            f"{type(model).__name__} predicts nan or infinity for {int(bad.sum())} of {len(values)} rows, the first "
            f"one being row {int(np.argmax(bad))}."
        )


def is_fitted(model: Any, X: Any) -> bool:
    """Whether a model can predict."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        try:
            model.predict(_safe_indexing(X, np.arange(min(2, _num_samples(X)))))
        except Exception:  # whatever a model raises that has nothing to predict with
            return False
    return True
