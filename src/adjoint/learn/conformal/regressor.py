"""Intervals that hold the true value with a probability that was asked for."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..labels import Array
from ..scoring import CrossFit, cross_fitted, fitted
from ..wrapping import Wrapper
from .bands import Band, band_of
from .groups import Grouping, each_group, groups_of
from .quantiles import check_coverage, guarantee, rank_of
from .ranks import ranked

Method = Literal["absolute", "normalised", "quantile", "distribution"]


class ConformalRegressor(RegressorMixin, Wrapper):
    """Any regressor, with intervals that hold the true value in `coverage` of all cases.

    The guarantee holds for new examples that are exchangeable with those of calibration, whatever the regressor is
    worth.

    Parameters
    ----------
    estimator : regressor
        Fitted on a part of the rows, calibrated with the rest; `FrozenEstimator(fitted)` is taken as it is, and all
        rows given to `fit` calibrate.
    method : {"absolute", "normalised", "quantile", "distribution"}
        Intervals of one width; wider where errors are larger; between two quantiles that the estimator is fitted for,
        moved until they cover (it has a parameter `quantile`, or `alpha` with `loss="quantile"`); of a whole
        distribution for each example, which need not be symmetric (`predict_quantile`, `predict_cdf`).
    scale : regressor, optional
        For "normalised": fitted to the size of the errors. By default `predict(X, return_std=True)` where there is
        one, else a clone of the estimator.
    coverage : float
        The share of intervals that hold the true value; may be given to `predict_interval` instead.
    by : None, column, list of columns or callable
        Groups that are each covered by themselves: values of columns of X, or what a function of X gives.
    cv : float, int or splitter
        The share of rows held out for calibration; or the folds of CV+, where all rows are used for both and the
        guarantee is 1 - 2 (1 - coverage), as a rule `coverage`; with `LeaveOneOut()` the jackknife+.
    random_state : int, RandomState or None
        For the split.

    Attributes
    ----------
    estimators_ : list
        Fitted ones, one for each fold.
    n_calibration_ : int
        Rows used for calibration.
    guarantee_ : str
        What is guaranteed, in words.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2))
    >>> y = X[:, 0] + 0.1 * rng.normal(size=500)
    >>> model = ConformalRegressor(LinearRegression(), random_state=0).fit(X, y)
    >>> model.predict_interval([[1.0, 0.0]]).round(1)
    array([[0.8, 1.2]])
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: Method = "absolute",
        scale: Any = None,
        coverage: float = 0.9,
        by: Grouping = None,
        cv: Any = 0.2,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.scale = scale
        self.coverage = coverage
        self.by = by
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit clones of the estimator, and collect the errors on rows that they have not seen."""
        X, y, sample_weight = self._taken(X, y, sample_weight)
        check_coverage(self.coverage)
        band = band_of(self.method, self.scale, self.coverage)
        chance = check_random_state(self.random_state)
        found: CrossFit = cross_fitted(
            band.prepared(self._inner()), X, y, cv=self.cv, sample_weight=sample_weight,
            random_state=chance.randint(2**31),
        )  # fmt: skip
        self.estimators_ = found.estimators
        self.n_calibration_ = len(found.order)
        self._band: Band = band
        groups = groups_of(self.by, X, _num_samples(X))
        self._scores: dict[Any, list[Array]] = {name: [] for name in np.unique(groups[found.order]).tolist()}
        for estimator, rows in found:
            scores = band.scores(estimator, _safe_indexing(X, rows), y[rows])
            for name, sorted_ones in self._scores.items():
                sorted_ones.append(np.sort(scores[groups[rows] == name]))
        for parts in self._scores.values():
            band.check(sum(map(len, parts)), self.coverage)
        one = len(found.estimators) == 1
        self._final = found.estimators[0] if one else fitted(clone(found.estimators[0]), X, y, None, sample_weight)
        return self

    @property
    def guarantee_(self) -> str:
        """What is guaranteed, in words."""
        check_is_fitted(self, "estimators_")
        return guarantee(self, is_split=len(self.estimators_) == 1)

    def predict(self, X: Any) -> Array:
        """The value that the estimator predicts."""
        check_is_fitted(self, "estimators_")
        return self._band.middle(self._final, X)

    def predict_interval(self, X: Any, coverage: float | None = None) -> Array:
        """Lower and upper ends, shape (n, 2); a coverage for which there are too few calibration rows is refused."""
        check_is_fitted(self, "estimators_")
        coverage = self.coverage if coverage is None else coverage
        check_coverage(coverage)
        return self._ends(X, lambda count: self._band.ranks(count, coverage))

    def predict_quantile(self, X: Any, quantile: float) -> Array:
        """The value that the true one stays below with probability `quantile`, shape (n,); for "distribution"."""
        self._check_distribution("predict_quantile")
        check_coverage(quantile)
        return self._ends(X, lambda count: (None, rank_of(count, quantile)))[:, 1]

    def predict_cdf(self, X: Any, at: Any) -> Array:
        """The probability that the true value is at most `at`, one value for each row; for "distribution"."""
        self._check_distribution("predict_cdf")
        values = np.broadcast_to(np.asarray(at, dtype=np.float64), _num_samples(X))
        below, total = np.zeros(len(values)), np.zeros(len(values))
        groups = groups_of(self.by, X, len(values))
        for k, estimator in enumerate(self.estimators_):
            centre, _, width = self._band.parts(estimator, X)
            for name, rows in each_group(groups, self._scores, "the group"):
                ordered = self._scores[name][k]
                below[rows] += np.searchsorted(ordered, (values[rows] - centre[rows]) / width[rows], side="right")
                total[rows] += len(ordered)
        return (below + 0.5) / (total + 1.0)

    def _check_distribution(self, name: str) -> None:
        check_is_fitted(self, "estimators_")
        if self.method != "distribution":
            raise ValueError(f"{name} takes method='distribution', got {self.method!r}.")

    def _ends(self, X: Any, ranks: Any) -> Array:
        """The ends of intervals: order statistics of a_k - b_k s and c_k + b_k s."""
        parts = [self._band.parts(estimator, X) for estimator in self.estimators_]
        low, high, width = (np.stack(column) for column in zip(*parts, strict=True))
        count = low.shape[1]
        found = np.full((count, 2), -np.inf)
        for name, rows in each_group(groups_of(self.by, X, count), self._scores, "the group"):
            scores = self._scores[name]
            below, above = ranks(sum(map(len, scores)))
            if below is not None and self._band.is_signed:
                found[rows, 0] = ranked(low[:, rows], width[:, rows], scores, below)
            elif below is not None:  # the r-th smallest error on the other side
                found[rows, 0] = -ranked(-low[:, rows], width[:, rows], scores, below)
            found[rows, 1] = ranked(high[:, rows], width[:, rows], scores, above)
        return found
