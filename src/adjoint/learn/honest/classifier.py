"""Any classifier, with probabilities, sets and decisions from one cross-fitting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import softmax
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..calibration.classifier import SCALINGS, CalibratedClassifier, Method, scaled_left_out
from ..calibration.decomposition import brier_losses, log_losses
from ..calibration.errors import calibration_error
from ..calibration.scaling import folds_of
from ..conformal.classifier import ConformalClassifier
from ..decision.classifier import CostSensitiveClassifier
from ..labels import Array, encoded
from ..scoring import CrossFit, cross_fitted, fitted, is_frozen, logits_of
from ..wrapping import CV, WITH_PROBABILITIES, Wrapper


class HonestClassifier(ClassifierMixin, Wrapper):
    """Any classifier, with calibrated probabilities, sets with a guarantee, and decisions by cost: one call to `fit`.

    The classifier is cross-fitted once. Its scores on rows that it has not seen calibrate the probabilities and give
    the sets; then it is fitted to all rows. Sets are made of the classifier's own scores, not of the calibrated ones:
    these have seen the labels of the rows that the guarantee counts.

    Parameters
    ----------
    estimator : classifier, optional
        Anything with `predict_proba` or `decision_function`; logistic regression by default.
        `FrozenEstimator(fitted)` is taken as it is, and all rows given to `fit` are for calibration.
    costs : array of shape (decisions, classes), callable or None
        `costs[i, j]`: deciding i when j is true; `predict` gives the decision of least expected cost. None: the
        likeliest class.
    decisions : list, optional
        What the rows of `costs` stand for, if not the classes: ["healthy", "ill", "ask"].
    coverage : float
        The share of examples whose set holds the true class; may be given to `predict_set` instead.
    method : {"auto", "temperature", "vector", "matrix", "isotonic", "venn-abers"}
        How probabilities are calibrated, as in `CalibratedClassifier`.
    cv : int, float or splitter
        Folds, or the share of rows that is held out.
    random_state : int, RandomState or None
        For the split.

    Attributes
    ----------
    classes_ : array
        The labels.
    guarantee_ : str
        What is guaranteed of sets, in words.
    n_calibration_ : int
        Rows used for calibration.
    calibration_ : dict
        On rows left out, of the classifier ("before") and calibrated ("after", by a scaling fitted to other rows):
        "log loss", "Brier score", "calibration error", "accuracy"; and the "method" that was chosen.
    estimator_ : classifier
        Fitted to all rows.
    calibrated_, sets_, decider_ : CalibratedClassifier, ConformalClassifier, CostSensitiveClassifier
        The parts.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = HonestClassifier(GaussianNB(), costs=[[0, 10], [1, 0]], random_state=0).fit(X[:400], y[:400])
    >>> model.predict_proba(X[400:402]).round(2)
    array([[1.  , 0.  ],
           [0.01, 0.99]])
    >>> model.predict_set(X[400:402])
    array([[ True, False],
           [False,  True]])
    >>> model.guarantee_
    'at least 0.8 of new examples, as a rule 0.9, if exchangeable with 400 of calibration (cross-fitting)'
    >>> error = model.calibration_["calibration error"]
    >>> error["after"] < error["before"]
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "decision_function"]), *WITH_PROBABILITIES],
        "costs": [callable, "array-like", None],
        "decisions": ["array-like", None],
        "coverage": [Interval(Real, 0, 1, closed="neither")],
        "method": [StrOptions({"auto", *SCALINGS})],
        "cv": CV,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        costs: Any = None,
        decisions: Any = None,
        coverage: float = 0.9,
        method: Method = "auto",
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.decisions = decisions
        self.coverage = coverage
        self.method = method
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Cross-fit the estimator once, and take all that is needed from its scores on rows it has not seen.

        `sample_weight` is for the estimator and the scaling; what else is given goes to the estimator's `fit` (`groups`
        to the splitter), by their requests if metadata routing is on.
        """
        X, y, sample_weight = self._taken(X, y, sample_weight)
        metadata = self._routed(sample_weight, params)
        chance = check_random_state(self.random_state).randint(2**31)
        inner = with_probabilities(self._inner())
        found = cross_fitted(inner, X, y, cv=self.cv, metadata=metadata, random_state=chance)
        whole = inner if is_frozen(inner) else fitted(clone(inner), X, y, metadata=metadata)
        with config_context(enable_metadata_routing=False):  # from here on nothing is fitted to X
            self._take(inner, replace(found, whole=whole), X, y, sample_weight, chance)
        return self

    def _take(self, inner: Any, found: CrossFit, X: Any, y: Any, sample_weight: Any, seed: int) -> None:
        """Make sets, probabilities and decisions of one cross-fitting."""
        self.estimator_ = found.whole
        self.sets_ = ConformalClassifier(inner, coverage=self.coverage, cv=found).fit(X, y)
        self.calibrated_ = CalibratedClassifier(FrozenEstimator(found.whole), self.method, cv=found, random_state=seed)
        self.calibrated_.fit(X, y, sample_weight)
        self.calibrated_.estimator_ = found.whole
        self.classes_ = self.calibrated_.classes_
        self.decider_ = CostSensitiveClassifier(
            FrozenEstimator(self.calibrated_), self.costs, decisions=self.decisions
        ).fit(X, y)
        self.n_calibration_ = self.sets_.n_calibration_
        self.calibration_ = self._numbers(found, X, y, sample_weight)

    @property
    def guarantee_(self) -> str:
        """What is guaranteed of sets, in words."""
        check_is_fitted(self, "sets_")
        return self.sets_.guarantee_

    @property
    def threshold_(self) -> float:
        """For two classes and one matrix of costs: the probability of the second class from which on it is decided."""
        check_is_fitted(self, "decider_")
        return self.decider_.threshold_

    def predict(self, X: Any) -> Array:
        """The decision of least expected cost, or without costs the likeliest class."""
        check_is_fitted(self, "decider_")
        return self.decider_.predict(X)

    def predict_proba(self, X: Any) -> Array:
        """Calibrated probabilities of the classes."""
        check_is_fitted(self, "calibrated_")
        return self.calibrated_.predict_proba(X)

    def decision_function(self, X: Any) -> Array:
        """Logits: logarithms of the calibrated probabilities; for two classes the difference."""
        check_is_fitted(self, "calibrated_")
        return self.calibrated_.decision_function(X)

    def expected_cost(self, X: Any) -> Array:
        """What each decision is expected to cost, shape (n, decisions)."""
        check_is_fitted(self, "decider_")
        return self.decider_.expected_cost(X)

    def predict_set(self, X: Any, coverage: float | None = None) -> Array:
        """Whether each class is in the set of each example, shape (n, classes)."""
        check_is_fitted(self, "sets_")
        return self.sets_.predict_set(X, coverage)

    def coverage_report(self, X: Any, y: Any, coverage: float | None = None) -> dict[str, float]:
        """How often the sets of new examples hold the true class, how large they are, how often of one class."""
        check_is_fitted(self, "sets_")
        return self.sets_.coverage_report(X, y, coverage)

    def _numbers(self, found: CrossFit, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
        """How good probabilities are on rows left out, as the classifier gives them and calibrated."""
        logits = np.concatenate([logits_of(e, _safe_indexing(X, rows), self.classes_) for e, rows in found])
        codes = encoded(_safe_indexing(y, found.order), self.classes_)
        weights = None if sample_weight is None else np.asarray(sample_weight)[found.order]
        method = self.calibrated_.method_
        folds = folds_of(codes, logits.shape[1])
        kept = {"before": softmax(logits, axis=1)}
        if folds:
            kept["after"] = scaled_left_out(SCALINGS[method], logits, codes, weights, folds)
        scores: dict[str, Callable[[Array, Array], Array]] = {
            "log loss": log_losses,
            "Brier score": brier_losses,
            "accuracy": lambda p, codes: np.argmax(p, axis=1) == codes,
        }
        numbers: dict[str, Any] = {
            name: {when: float(np.average(score(p, codes), weights=weights)) for when, p in kept.items()}
            for name, score in scores.items()
        }
        numbers["calibration error"] = {
            when: calibration_error(codes, p, labels=np.arange(logits.shape[1]), sample_weight=weights)
            for when, p in kept.items()
        }
        return {**numbers, "method": method}


def with_probabilities(estimator: Any) -> Any:
    """The estimator, or one around it that makes probabilities of its decision function."""
    if hasattr(estimator, "predict_proba"):
        return estimator
    if is_frozen(estimator):
        return FrozenEstimator(Softmax(estimator.estimator).taken())
    return Softmax(estimator)


class Softmax(ClassifierMixin, BaseEstimator):
    """A classifier whose decision function is taken for logits."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Fit the estimator."""
        self.estimator_ = clone(self.estimator).fit(X, y, **params)
        self.classes_ = self.estimator_.classes_
        return self

    def taken(self) -> Self:
        """With the estimator as it is, fitted."""
        self.estimator_ = self.estimator
        self.classes_ = self.estimator_.classes_
        return self

    def predict_proba(self, X: Any) -> Array:
        """Its softmax."""
        return softmax(logits_of(self.estimator_, X), axis=1)

    def predict(self, X: Any) -> Array:
        """The likeliest class."""
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]
