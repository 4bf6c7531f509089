"""Sets of classes that hold the true one with a probability that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..labels import Array, encoded
from ..scoring import cross_fitted, fitted
from ..wrapping import Wrapper
from .groups import ALL, Grouping, each_group, groups_of, sorted_by_group
from .quantiles import check_coverage, guarantee, rank_of, ranks_of
from .scores import Method, held_by, of_all_classes, of_one_class

ROWS = 4096
"""Rows that are looked at together: memory grows with them, not with all rows times all classes."""


class ConformalClassifier(ClassifierMixin, Wrapper):
    """Any classifier, with sets of classes that hold the true one in `coverage` of all cases.

    The guarantee holds for new examples that are exchangeable with those of calibration, whatever the classifier is
    worth: a poor one gets large sets. It holds on average over examples; with `by`, in each group.

    Parameters
    ----------
    estimator : classifier with `predict_proba`
        Fitted on a part of the rows, calibrated with the rest; `FrozenEstimator(fitted)` is taken as it is, and all
        rows given to `fit` calibrate.
    method : {"lac", "aps", "raps", "saps"} or callable
        How strange a class looks: 1 - p for the smallest sets, sums of the larger probabilities for sets that grow
        with the difficulty of the example, or a function of probabilities, both of shape (n, classes).
    coverage : float
        The share of examples whose set holds the true class; may be given to `predict_set` instead.
    by : None, "class", column, list of columns or callable
        Groups that are each covered by themselves: the true classes, values of columns of X, or what a function of X
        gives.
    cv : float, int or splitter
        The share of rows held out for calibration; or the folds of cross-fitting, where all rows are used for both
        and the guarantee is 1 - 2 (1 - coverage), as a rule `coverage`.
    allow_empty : bool
        Whether a set may be empty; else it holds the likeliest class at the least.
    random_state : int, RandomState or None
        For the split, and for chance in "aps", "raps", "saps", without which they would cover too much.

    Attributes
    ----------
    classes_ : array
        The labels, which columns of sets stand for.
    estimators_ : list
        Fitted ones, one for each fold.
    n_calibration_ : int
        Rows used for calibration.
    guarantee_ : str
        What is guaranteed, in words.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ConformalClassifier(LogisticRegression(max_iter=1000), random_state=0).fit(X, y)
    >>> model.predict_set(X[:2])
    array([[ True, False, False],
           [ True, False, False]])
    >>> model.guarantee_
    'at least 0.9 of new examples, if exchangeable with 30 of calibration (split)'
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: Method | Callable[[Array], Array] = "lac",
        coverage: float = 0.9,
        by: Grouping = None,
        cv: Any = 0.2,
        allow_empty: bool = True,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.coverage = coverage
        self.by = by
        self.cv = cv
        self.allow_empty = allow_empty
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit clones of the estimator, and collect the scores of rows that they have not seen."""
        X, y, sample_weight = self._taken(X, y, sample_weight)
        check_coverage(self.coverage)
        chance = check_random_state(self.random_state)
        found = cross_fitted(
            self._inner(), X, y, cv=self.cv, sample_weight=sample_weight, random_state=chance.randint(2**31)
        )
        self.estimators_ = found.estimators
        self.classes_ = found.estimators[0].classes_
        self._is_split = len(found.estimators) == 1
        groups = groups_of(None if self.by == "class" else self.by, X, _num_samples(X))
        self._scores = []
        for estimator, rows in found:
            codes = encoded(_safe_indexing(y, rows), self.classes_)
            p = np.asarray(estimator.predict_proba(_safe_indexing(X, rows)))
            scores = of_one_class(self.method, p, codes, chance.random_sample(len(rows)))
            self._scores.append(sorted_by_group(scores, codes if self.by == "class" else groups[rows]))
        self.n_calibration_ = len(found.order)
        self._smallest_group = min(sum(len(part.get(g, ())) for part in self._scores) for g in self._scores[0])
        rank_of(self._smallest_group, self.coverage)
        self._final = found.estimators[0] if self._is_split else fitted(clone(self._inner()), X, y, None, sample_weight)
        self._seed = chance.randint(2**31)
        return self

    @property
    def guarantee_(self) -> str:
        """What is guaranteed, in words."""
        check_is_fitted(self, "classes_")
        return guarantee(self, is_split=self._is_split)

    def predict(self, X: Any) -> Array:
        """The likeliest class."""
        check_is_fitted(self, "classes_")
        return self._final.predict(X)

    @available_if(lambda self: hasattr(self._inner(), "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """The probabilities of the estimator, as they are."""
        check_is_fitted(self, "classes_")
        return self._final.predict_proba(X)

    def predict_p(self, X: Any) -> Array:
        """The p-value of each class, shape (n, classes): below c for the true one with probability c at the most."""
        check_is_fitted(self, "classes_")
        found = np.empty((_num_samples(X), len(self.classes_)))
        for rows, as_strange, total in self._counts(X):
            found[rows] = (1.0 + as_strange) / (total + 1.0)
        return found

    def predict_set(self, X: Any, coverage: float | None = None) -> Array:
        """Whether each class is in the set of each example, shape (n, classes).

        One calibration serves all levels; one for which there are too few calibration rows is refused.
        """
        check_is_fitted(self, "classes_")
        coverage = self.coverage if coverage is None else coverage
        check_coverage(coverage)
        rank_of(self._smallest_group, coverage)
        held = np.empty((_num_samples(X), len(self.classes_)), dtype=bool)
        if self._is_split:
            self._held_by_threshold(X, coverage, held)
        else:
            for rows, as_strange, total in self._counts(X):  # out if so few are as strange
                held[rows] = as_strange >= total + 1 - ranks_of(total, coverage)
        if not self.allow_empty:
            empty = np.flatnonzero(~held.any(axis=1))
            if len(empty):
                likeliest = np.argmax(self._final.predict_proba(_safe_indexing(X, empty)), axis=1)
                held[empty, likeliest] = True
        return held

    def _held_by_threshold(self, X: Any, coverage: float, held: Array) -> None:
        """Fill sets of a single calibrated estimator: scores of at most the quantile of their group."""
        (estimator,), (known,) = self.estimators_, self._scores
        at = {name: ordered[rank_of(len(ordered), coverage) - 1] for name, ordered in known.items()}
        p, luck = np.asarray(estimator.predict_proba(X)), self._luck(len(held))[0]
        groups = groups_of(None if self.by == "class" else self.by, X, len(held))
        for start in range(0, len(held), ROWS):
            rows = slice(start, start + ROWS)
            if self.by is None:
                limit: Any = at[ALL]
            elif self.by == "class":
                limit = np.array([[at.get(k, np.inf) for k in range(len(self.classes_))]])
            else:
                each_group(groups[rows], at, "the group")
                limit = np.array([at[name] for name in groups[rows].tolist()])[:, None]
            held[rows] = held_by(self.method, p[rows], luck[rows], limit)

    def _luck(self, count: int) -> Array:
        return np.random.default_rng(self._seed).random((len(self.estimators_), count))

    def _counts(self, X: Any) -> Iterator[tuple[Array, Array, Any]]:
        """Of some rows at a time: how many calibration scores are as strange as each class or more, and of how many."""
        count = _num_samples(X)
        groups = groups_of(None if self.by == "class" else self.by, X, count)
        luck = self._luck(count)
        every = [np.asarray(e.predict_proba(X)) for e in self.estimators_]
        for start in range(0, count, ROWS):
            rows = np.arange(start, min(start + ROWS, count))
            stranger, total = np.zeros((len(rows), len(self.classes_))), np.zeros((len(rows), len(self.classes_)))
            for p, own_luck, known in zip(every, luck, self._scores, strict=True):
                scores = of_all_classes(self.method, p[rows], own_luck[rows])
                if self.by == "class":
                    for k, name in enumerate(range(len(self.classes_))):
                        ordered = known.get(name, np.empty(0))
                        stranger[:, k] += len(ordered) - np.searchsorted(ordered, scores[:, k])
                        total[:, k] += len(ordered)
                    continue
                for name, members in each_group(groups[rows], known, "the group"):
                    ordered = known[name]
                    stranger[members] += len(ordered) - np.searchsorted(ordered, scores[members])
                    total[members] += len(ordered)
            yield rows, stranger, total

    def coverage_report(self, X: Any, y: Any, coverage: float | None = None) -> dict[str, float]:
        """How often the sets of new examples hold the true class, how large they are, how often of one class."""
        held = self.predict_set(X, coverage)
        sizes = held.sum(axis=1)
        codes = encoded(y, self.classes_)
        return {
            "coverage": float(np.mean(held[np.arange(len(codes)), codes])),
            "mean size": float(np.mean(sizes)),
            "one class": float(np.mean(sizes == 1)),
            "empty": float(np.mean(sizes == 0)),
        }
