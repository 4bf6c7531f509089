"""Any classifier, with probabilities that come true as often as they say."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.metrics import log_loss
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..labels import Array, encoded
from ..scoring import cross_fitted, is_frozen, logits_of, rows_of, seeds_of
from ..wrapping import CV, WITH_PROBABILITIES, Wrapper
from .one_by_one import IsotonicScaling, VennAbersScaling
from .scaling import MatrixScaling, TemperatureScaling, VectorScaling, folds_of

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
        out, but Venn-Abers, which is seldom the best of many classes.
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
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CalibratedClassifier(GaussianNB(), random_state=0).fit(X, y)
    >>> model.gain_[model.method_] < 0.5 * model.gain_["before"]
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "decision_function"]), *WITH_PROBABILITIES],
        "method": [StrOptions({"auto", *SCALINGS})],
        "cv": CV,
        "random_state": ["random_state"],
    }

    def __init__(
        self, estimator: Any = None, method: Method = "auto", *, cv: Any = 5, random_state: Any = None
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fit the estimator, and the scaling to its scores on rows it has not seen.

        `sample_weight` is for both; what else is given goes to the estimator's `fit` (`groups` to the splitter), by
        their requests if metadata routing is on.
        """
        X, y, sample_weight = self._taken(X, y, sample_weight)
        (seed,) = seeds_of(self.random_state, 1)
        metadata = self._routed(sample_weight, params)
        found = cross_fitted(self._inner(), X, y, cv=self.cv, metadata=metadata, random_state=seed)
        self.classes_ = found.classes
        logits = np.concatenate([logits_of(e, rows_of(X, rows), self.classes_) for e, rows in found])
        codes = encoded(rows_of(y, found.order), self.classes_)
        weights = None if sample_weight is None else np.asarray(sample_weight)[found.order]
        self.method_, self.calibrator_ = self._chosen(logits, codes, weights)
        self.estimator_ = found.estimators[0]
        if not is_frozen(self.estimator):
            self.estimator_ = found.on_all(self._inner(), X, y, metadata)
        return self

    def _chosen(self, logits: Array, codes: Array, weights: Array | None) -> tuple[str, Any]:
        """The method of least log loss on rows left out, the simplest of those as good as it, and its scaling."""
        tried = CHOICES if self.method == "auto" else (self.method,)
        self.gain_ = {"before": self._loss(codes, softmax(logits, axis=1), weights)}
        folds = folds_of(codes, logits.shape[1])
        if not folds:
            return tried[0], SCALINGS[tried[0]]().fit(logits, codes, weights)
        fitted_ones = {name: SCALINGS[name]().fit(logits, codes, weights) for name in tried}
        losses = {}
        for name, scaling in fitted_ones.items():
            found = getattr(scaling, "left_out_loss_", None)  # on these folds
            if found is None:
                found = self._loss(codes, scaled_left_out(SCALINGS[name], logits, codes, weights, folds), weights)
            losses[name] = found
        self.gain_.update(losses)
        best = min(losses.values())
        chosen = next(name for name in tried if losses[name] <= best + MARGIN)
        return chosen, fitted_ones[chosen]

    def _loss(self, codes: Array, p: Array, weights: Array | None) -> float:
        return float(log_loss(codes, p, labels=np.arange(p.shape[1]), sample_weight=weights))

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


def scaled_left_out(
    scaling: Any, logits: Array, codes: Array, weights: Array | None, folds: list[tuple[Array, Array]]
) -> Array:
    """The probabilities of each row by a scaling that was fitted to other rows."""
    p = np.empty_like(logits)
    for train, rest in folds:
        part = None if weights is None else weights[train]
        p[rest] = scaling().fit(logits[train], codes[train], part).transform(logits[rest])
    return p
