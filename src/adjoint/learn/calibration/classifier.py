"""Any classifier, with probabilities that come true as often as they say."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin, clone
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import check_is_fitted

from ..labels import Array, encoded
from ..scoring import cross_fitted, fitted, is_frozen, logits_of
from ..wrapping import Wrapper
from .one_by_one import IsotonicScaling, VennAbersScaling
from .scaling import MatrixScaling, TemperatureScaling, VectorScaling

Method = Literal["auto", "temperature", "vector", "matrix", "isotonic", "venn-abers"]
SCALINGS = {
    "temperature": TemperatureScaling,
    "vector": VectorScaling,
    "matrix": MatrixScaling,
    "isotonic": IsotonicScaling,
    "venn-abers": VennAbersScaling,
}
CHOICES = ("temperature", "vector", "matrix", "isotonic")
"""What "auto" chooses among, the simplest first."""
MARGIN = 1e-3
"""By how much a scaling with more parameters has to be better to be chosen, in nats."""


class CalibratedClassifier(ClassifierMixin, Wrapper):
    """Any classifier, with probabilities that come true as often as they say.

    Parameters
    ----------
    estimator : classifier
        Cross-fitted: the scaling sees only rows that the classifier was not trained on, then the classifier is fitted
        to all. `FrozenEstimator(fitted)` is taken as it is, and all rows given to `fit` are for the scaling.
    method : {"auto", "temperature", "vector", "matrix", "isotonic", "venn-abers"}
        One temperature; a factor and an offset for each class; a matrix, both held close to the temperature; steps
        for each class against the others, which take many rows; or the best of these by the log loss on rows left
        out, but Venn-Abers, which is slow.
    cv : int, float or splitter
        Folds, or the share of rows held out.
    random_state : int, RandomState or None
        For the split.

    Attributes
    ----------
    classes_ : array
        The labels, whatever they are.
    calibrator_ : TemperatureScaling, VectorScaling, MatrixScaling, ...
        The fitted scaling.
    method_ : str
        The one that was chosen.
    gain_ : dict
        Log loss on rows left out: "before", and of each method that was tried.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> model = CalibratedClassifier(GaussianNB(), random_state=0).fit(X, y)
    >>> model.gain_[model.method_] < model.gain_["before"]
    True
    """

    def __init__(
        self, estimator: Any = None, method: Method = "auto", *, cv: Any = 5, random_state: Any = None
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the estimator, and the scaling to its scores on rows it has not seen."""
        if self.method != "auto" and self.method not in SCALINGS:
            raise ValueError(
                f"method has to be 'auto' or one of {', '.join(map(repr, SCALINGS))}, got {self.method!r}."
            )
        X, y, sample_weight = self._taken(X, y, sample_weight)
        chance = check_random_state(self.random_state).randint(2**31)
        found = cross_fitted(self._inner(), X, y, cv=self.cv, sample_weight=sample_weight, random_state=chance)
        self.classes_ = found.estimators[0].classes_
        logits = np.concatenate([logits_of(e, _safe_indexing(X, rows)) for e, rows in found])
        codes = encoded(_safe_indexing(y, found.order), self.classes_)
        weights = None if sample_weight is None else np.asarray(sample_weight)[found.order]
        self.method_ = self._chosen(logits, codes, weights, chance)
        self.calibrator_ = SCALINGS[self.method_]().fit(logits, codes, weights)
        is_single = len(found.estimators) == 1
        self.estimator_ = found.estimators[0]
        if not (is_single and is_frozen(self.estimator)):
            self.estimator_ = fitted(clone(self._inner()), X, y, None, sample_weight)
        return self

    def _chosen(self, logits: Array, codes: Array, weights: Array | None, seed: int) -> str:
        """The method of least log loss on rows left out; the simplest one of those that are as good."""
        tried = CHOICES if self.method == "auto" else (self.method,)
        labels = np.arange(logits.shape[1])
        self.gain_ = {"before": log_loss(codes, softmax(logits, axis=1), labels=labels, sample_weight=weights)}
        folds = min(5, int(np.min(np.bincount(codes, minlength=len(labels)))))
        if folds < 2:
            return tried[0]
        losses = {}
        for name in tried:
            p = np.empty_like(logits)
            for train, rest in StratifiedKFold(folds, shuffle=True, random_state=seed).split(logits, codes):
                part = None if weights is None else weights[train]
                p[rest] = SCALINGS[name]().fit(logits[train], codes[train], part).transform(logits[rest])
            losses[name] = log_loss(codes, np.clip(p, 1e-15, 1.0), labels=labels, sample_weight=weights)
        self.gain_.update(losses)
        best = min(losses.values())
        return next(name for name in tried if losses[name] <= best + MARGIN)

    def decision_function(self, X: Any) -> Array:
        """Logits: logarithms of the probabilities; for two classes the difference."""
        logs = np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny))
        return logs[:, 1] - logs[:, 0] if logs.shape[1] == 2 else logs

    def predict_proba(self, X: Any) -> Array:
        """Calibrated probabilities of the classes."""
        check_is_fitted(self)
        return self.calibrator_.transform(logits_of(self.estimator_, X))

    def predict(self, X: Any) -> Array:
        """The likeliest class."""
        check_is_fitted(self)
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]
