"""Sets of classes that hold the true one with a probability that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..labels import Array, encoded
from ..scoring import cross_fitted, probabilities_of, rows_of, seeds_of
from ..wrapping import WITH_PROBABILITIES, Wrapper
from .groups import ALL, CONSTRAINTS, Grouping, each_group, groups_of
from .pools import pooled
from .quantiles import ROUNDING, check_coverage, guarantee, rank_of
from .scores import Method, held_by, of_all_classes, of_one_class
from .shift import Weight, all_weights, effective_count, warn_of_everything, weights_of

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
    weight : callable, optional
        How many times likelier a row is among new examples than among those of calibration: a function of X, as
        `density_ratio` learns one. The guarantee then holds for new examples that differ in the distribution of X alone
        (covariate shift), if the weights are right.
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
    n_effective_ : float
        With `weight`: how many rows of equal weight are worth as much.
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

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": WITH_PROBABILITIES,
        "method": [StrOptions({"lac", "aps", "raps", "saps"}), callable],
        "allow_empty": ["boolean"],
        **CONSTRAINTS,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: Method | Callable[[Array], Array] = "lac",
        coverage: float = 0.9,
        by: Grouping = None,
        weight: Weight = None,
        cv: Any = 0.2,
        allow_empty: bool = True,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.coverage = coverage
        self.by = by
        self.weight = weight
        self.cv = cv
        self.allow_empty = allow_empty
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fit clones of the estimator, and collect the scores of rows that they have not seen.

        `sample_weight` and what else is given go to the estimator's `fit` (`groups` to the splitter), by their requests
        if metadata routing is on. Rows calibrate alike whatever their sample weight: for new examples that are
        distributed otherwise there is `weight`.
        """
        X, y, sample_weight = self._taken(X, y, sample_weight)
        metadata = self._routed(sample_weight, params)
        seed, luck_seed, self._seed = seeds_of(self.random_state, 3)
        found = cross_fitted(self._inner(), X, y, cv=self.cv, metadata=metadata, random_state=seed)
        luck = np.random.default_rng(luck_seed)
        self.estimators_ = found.estimators
        self.classes_ = found.classes
        self._is_split = len(found.estimators) == 1
        weights = all_weights(self.weight, X, found.order, _num_samples(X))
        groups = groups_of(None if self.by == "class" else self.by, X, _num_samples(X))
        folds = []
        for estimator, rows in found:
            codes = encoded(rows_of(y, rows), self.classes_)
            p = probabilities_of(estimator, rows_of(X, rows), self.classes_)
            scores = of_one_class(self.method, p, codes, luck.random(len(rows)))
            own = None if weights is None else weights[rows]
            folds.append((scores, codes if self.by == "class" else groups[rows], own))
        self._pools = pooled(folds)
        self.n_calibration_ = len(found.order)
        self.n_effective_ = self.n_calibration_ if weights is None else effective_count(weights[found.order])
        self._check_level(self.coverage)
        self._final = found.estimators[0] if self._is_split else found.on_all(self._inner(), X, y, metadata)
        return self

    def _check_level(self, coverage: float) -> None:
        check_coverage(coverage)
        rank_of(min(pool.count for pool in self._pools.values()), coverage)

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
        for rows, as_strange, total, own in self._strangeness(X):
            found[rows] = (own + as_strange) / (own + total)
        return found

    def predict_set(self, X: Any, coverage: float | None = None) -> Array:
        """Whether each class is in the set of each example, shape (n, classes).

        One calibration serves all levels; one for which there are too few calibration rows is refused. With `weight`,
        an example that outweighs all calibration rows gets all classes, and a warning says how many do.
        """
        check_is_fitted(self, "classes_")
        coverage = self.coverage if coverage is None else coverage
        self._check_level(coverage)
        held = np.empty((_num_samples(X), len(self.classes_)), dtype=bool)
        if self._is_split:
            self._held_by_threshold(X, coverage, held)
        else:
            for rows, as_strange, total, own in self._strangeness(X):  # in if the p-value is above 1 - coverage
                held[rows] = own + as_strange > (1.0 - coverage + ROUNDING) * (own + total)
        if not self.allow_empty:
            empty = np.flatnonzero(~held.any(axis=1))
            if len(empty):
                likeliest = np.argmax(self._final.predict_proba(_safe_indexing(X, empty)), axis=1)
                held[empty, likeliest] = True
        return held

    def _held_by_threshold(self, X: Any, coverage: float, held: Array) -> None:
        """Fill sets of a single calibrated estimator: scores of at most the quantile of their group."""
        (estimator,) = self.estimators_
        p, luck = probabilities_of(estimator, X, self.classes_), self._luck(len(held))[0]
        groups = groups_of(None if self.by == "class" else self.by, X, len(held))
        weights = weights_of(self.weight, X, len(held))
        outweighed = 0
        for start in range(0, len(held), ROWS):
            rows = slice(start, start + ROWS)
            own = None if weights is None else weights[rows]
            limits = self._limits(coverage, groups[rows], own)
            held[rows] = held_by(self.method, p[rows], luck[rows], limits)
            outweighed += int(np.sum(np.any(np.isinf(limits), axis=1))) if own is not None else 0
        warn_of_everything(outweighed, len(held), "their sets hold all classes")

    def _limits(self, coverage: float, groups: Array, own: Array | None) -> Any:
        """The largest score that is in the set: a number, or of shape (1 or n, 1 or classes)."""
        if self.by == "class":
            count = 1 if own is None else len(own)
            columns = [
                self._pools[k].threshold(coverage, own) if k in self._pools else np.inf
                for k in range(len(self.classes_))
            ]
            return np.stack([np.broadcast_to(column, count) for column in columns], axis=1)
        if self.by is None and own is None:
            return self._pools[ALL].threshold(coverage, None)
        limits = np.empty((len(groups), 1))
        for name, rows in each_group(groups, self._pools, "the group"):
            limits[rows, 0] = self._pools[name].threshold(coverage, None if own is None else own[rows])
        return limits

    def _luck(self, count: int) -> Array:
        return np.random.default_rng(self._seed).random((len(self.estimators_), count))

    def _strangeness(self, X: Any) -> Iterator[tuple[Array, Array, Array, Any]]:
        """Of some rows at a time: the weight of calibration scores as strange as each class, of all, and their own."""
        count, classes = _num_samples(X), len(self.classes_)
        groups = groups_of(None if self.by == "class" else self.by, X, count)
        weights = weights_of(self.weight, X, count)
        luck = self._luck(count)
        every = [probabilities_of(e, X, self.classes_) for e in self.estimators_]
        for start in range(0, count, ROWS):
            rows = np.arange(start, min(start + ROWS, count))
            stranger, total = np.zeros((len(rows), classes)), np.zeros((len(rows), classes))
            own = 1.0 if weights is None else weights[rows, None]
            if self.by == "class":
                places: list[tuple[Any, Any]] = [(k, (slice(None), k)) for k in range(classes) if k in self._pools]
            else:
                places = each_group(groups[rows], self._pools, "the group")
            for fold, (p, own_luck) in enumerate(zip(every, luck, strict=True)):
                scores = of_all_classes(self.method, p[rows], own_luck[rows])
                for name, at in places:
                    part = self._pools[name].parts[fold]
                    stranger[at] += part.as_strange(scores[at])
                    total[at] += part.total
            yield rows, stranger, total, own

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
