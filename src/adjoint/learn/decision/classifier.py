"""A classifier that decides by expected cost."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..labels import Array
from ..scoring import fitted
from ..wrapping import WITH_PROBABILITIES, Wrapper
from .deciding import checked_costs, decide, expected_cost


class CostSensitiveClassifier(ClassifierMixin, Wrapper):
    """Any classifier, whose `predict` is the decision of least expected cost: arg min_i sum_j costs[i, j] p_j.

    It is only as good as the probabilities: put a `CalibratedClassifier` inside.

    Parameters
    ----------
    estimator : classifier with `predict_proba`
        `FrozenEstimator(fitted)` is taken as it is.
    costs : array of shape (decisions, classes), callable or None
        `costs[i, j]`: deciding i when j is true; rows are decisions, columns are classes in sorted order. Or a
        function of X that gives (n, decisions, classes). None is 1 for every wrong class: the likeliest class is
        decided.
    decisions : array, optional
        What each row of `costs` stands for, as ["healthy", "ill", "ask"]; the classes by default.

    Attributes
    ----------
    classes_ : array
        The labels.
    threshold_ : float
        For two classes and one matrix: the probability of the second class from which on it is decided.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.array([[-2.0], [1.0], [2.0], [3.0]])
    >>> model = CostSensitiveClassifier(LogisticRegression(), costs=[[0, 10], [1, 0]]).fit(X, [0, 0, 1, 1])
    >>> round(model.threshold_, 6) == round(1 / 11, 6)
    True
    >>> model.predict(X)
    array([0, 1, 1, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": WITH_PROBABILITIES,
        "costs": [callable, "array-like", None],
        "decisions": ["array-like", None],
    }

    def __init__(self, estimator: Any = None, costs: Any = None, *, decisions: Any = None) -> None:
        self.estimator = estimator
        self.costs = costs
        self.decisions = decisions

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fit the estimator, with `sample_weight` and what else is given."""
        X, y, sample_weight = self._taken(X, y, sample_weight)
        metadata = self._routed(sample_weight, params)
        self.estimator_ = fitted(clone(self._inner()), X, y, metadata=metadata)
        self.classes_ = self.estimator_.classes_
        if self.costs is not None and not callable(self.costs):
            self._named(checked_costs(self.costs, len(self.classes_)))
        return self

    def predict(self, X: Any) -> Array:
        """The decision of least expected cost for each row."""
        check_is_fitted(self)
        p = self.estimator_.predict_proba(X)
        if self.costs is None and self.decisions is None:
            return self.classes_[np.argmax(p, axis=1)]
        matrix = self._matrix(X)
        return self._named(matrix)[decide(p, matrix)]

    def expected_cost(self, X: Any) -> Array:
        """What each decision is expected to cost, shape (n, decisions)."""
        check_is_fitted(self)
        return expected_cost(self.estimator_.predict_proba(X), self._matrix(X))

    @available_if(lambda self: hasattr(self._inner(), "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """The probabilities of the estimator, as they are."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @property
    def threshold_(self) -> float:
        """The probability of the second class from which on it is decided."""
        check_is_fitted(self)
        matrix = np.zeros(()) if callable(self.costs) else self._matrix(None)
        if matrix.shape != (2, 2):
            raise AttributeError("threshold_ is for two classes, two decisions, and one matrix of costs.")
        missed, alarm = matrix[0, 1] - matrix[1, 1], matrix[1, 0] - matrix[0, 0]
        if alarm + missed == 0.0:
            raise AttributeError("threshold_ is not defined: one decision is as good as the other whatever is true.")
        return float(alarm / (alarm + missed))

    def _matrix(self, X: Any) -> Array:
        count = len(self.classes_)
        if self.costs is None:
            return 1.0 - np.eye(count)
        return checked_costs(self.costs(X) if callable(self.costs) else self.costs, count)

    def _named(self, matrix: Array) -> Array:
        """What decisions are called; refused if there are not as many names as rows."""
        names = self.classes_ if self.decisions is None else np.asarray(self.decisions)
        if len(names) != matrix.shape[-2]:
            raise ValueError(
                f"costs has {matrix.shape[-2]} decisions, but there are {len(names)} names: say decisions=."
            )
        return names
