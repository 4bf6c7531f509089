"""Any regressor, with intervals and a distribution for each example."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import config_context
from sklearn.base import RegressorMixin, clone
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted

from ..conformal.bands import band_of
from ..conformal.quantiles import rank_of
from ..conformal.regressor import ConformalRegressor
from ..labels import Array
from ..linear.ridge import Ridge
from ..scoring import CrossFit, cross_fitted, fitted, is_frozen
from ..wrapping import CV, Wrapper

LEVELS = (0.5, 0.8, 0.9, 0.95)
"""Coverages that `calibration_` looks at, beside the one that was asked for."""


class HonestRegressor(RegressorMixin, Wrapper):
    """Any regressor, with intervals that hold the true value as often as you ask: one call to `fit`.

    The regressor is cross-fitted (CV+): its errors on rows that it has not seen, with their sign, are the distribution
    around a prediction; then it is fitted to all rows. If it says how sure it is (`predict(X, return_std=True)`),
    intervals are wider where it is less so.

    Parameters
    ----------
    estimator : regressor, optional
        Ridge regression with the penalty of least leave-one-out error by default. `FrozenEstimator(fitted)` is taken
        as it is, and all rows given to `fit` are for calibration.
    coverage : float
        The share of intervals that hold the true value; may be given to `predict_interval` instead.
    cv : int, float or splitter
        Folds, or the share of rows that is held out.
    random_state : int, RandomState or None
        For the split.

    Attributes
    ----------
    guarantee_ : str
        What is guaranteed of intervals, in words.
    n_calibration_ : int
        Rows used for calibration.
    calibration_ : dict
        On rows left out: "root mean square error", "mean absolute error", "r2", "mean error"; and "coverage", for
        several levels how often intervals made of the errors in other folds hold the truth.
    estimator_ : regressor
        Fitted to all rows.
    intervals_ : ConformalRegressor
        What gives the intervals.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = HonestRegressor(random_state=0).fit(X, y)
    >>> model.predict_interval(X[:1]).round()
    array([[110., 296.]])
    >>> model.predict_cdf(X[:1], 200.0).round(1)  # the probability of at most 200
    array([0.5])
    >>> model.guarantee_
    'at least 0.8 of new examples, as a rule 0.9, if exchangeable with 442 of calibration (cross-fitting)'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "coverage": [Interval(Real, 0, 1, closed="neither")],
        "cv": CV,
        "random_state": ["random_state"],
    }

    def __init__(self, estimator: Any = None, *, coverage: float = 0.9, cv: Any = 5, random_state: Any = None) -> None:
        self.estimator = estimator
        self.coverage = coverage
        self.cv = cv
        self.random_state = random_state

    def _inner(self) -> Any:
        return Ridge("loo") if self.estimator is None else self.estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Cross-fit the estimator, and collect its errors on rows it has not seen.

        `sample_weight` and what else is given go to the estimator's `fit` (`groups` to the splitter), by their requests
        if metadata routing is on.
        """
        X, y, sample_weight = self._taken(X, y, sample_weight)
        metadata = self._routed(sample_weight, params)
        inner = self._inner()
        found = cross_fitted(inner, X, y, cv=self.cv, metadata=metadata, random_state=self.random_state)
        self.estimator_ = inner if is_frozen(inner) else fitted(clone(inner), X, y, metadata=metadata)
        given = replace(found, whole=self.estimator_)
        with config_context(enable_metadata_routing=False):  # from here on nothing is fitted to X
            self.intervals_ = ConformalRegressor(inner, method="distribution", coverage=self.coverage, cv=given)
            self.intervals_.fit(X, y)
        self.n_calibration_ = self.intervals_.n_calibration_
        self.calibration_ = self._numbers(found, X, y)
        return self

    @property
    def guarantee_(self) -> str:
        """What is guaranteed of intervals, in words."""
        check_is_fitted(self, "intervals_")
        return self.intervals_.guarantee_

    def predict(self, X: Any) -> Array:
        """The value that the estimator predicts."""
        check_is_fitted(self, "intervals_")
        return np.asarray(self.estimator_.predict(X))

    def predict_interval(self, X: Any, coverage: float | None = None) -> Array:
        """Lower and upper ends, shape (n, 2); a coverage for which there are too few calibration rows is refused."""
        check_is_fitted(self, "intervals_")
        return self.intervals_.predict_interval(X, coverage)

    def predict_quantile(self, X: Any, quantile: float) -> Array:
        """The value that the true one stays below with probability `quantile`, shape (n,)."""
        check_is_fitted(self, "intervals_")
        return self.intervals_.predict_quantile(X, quantile)

    def predict_cdf(self, X: Any, at: Any) -> Array:
        """The probability that the true value is at most `at`, one value for each row."""
        check_is_fitted(self, "intervals_")
        return self.intervals_.predict_cdf(X, at)

    def _numbers(self, found: CrossFit, X: Any, y: Array) -> dict[str, Any]:
        """How good predictions are on rows left out, and intervals made of the errors in other folds."""
        band = band_of("distribution", None, self.coverage)
        errors = [y[rows] - np.asarray(e.predict(_safe_indexing(X, rows)), dtype=np.float64) for e, rows in found]
        scores = [band.scores(e, _safe_indexing(X, rows), y[rows]) for e, rows in found]
        flat, truth = np.concatenate(errors), y[found.order]
        spread = float(np.var(truth))
        numbers: dict[str, Any] = {
            "root mean square error": float(np.sqrt(np.mean(flat**2))),
            "mean absolute error": float(np.mean(np.abs(flat))),
            "mean error": float(np.mean(flat)),
            "r2": 1.0 - float(np.mean(flat**2)) / spread if spread > 0.0 else float("nan"),
        }
        levels = sorted({*LEVELS, self.coverage})
        return {**numbers, "coverage": {level: share for level in levels if (share := held(scores, level)) is not None}}


def held(scores: list[Array], coverage: float) -> float | None:
    """How often intervals made of the scores in other folds hold; None if these are too few."""
    hits = []
    for k, own in enumerate(scores):
        others = scores[:k] + scores[k + 1 :]
        if not others:
            return None
        ordered = np.sort(np.concatenate(others))
        try:
            above = rank_of(len(ordered), (1.0 + coverage) / 2)
        except ValueError:
            return None
        hits.append((ordered[len(ordered) - above] <= own) & (own <= ordered[above - 1]))
    return float(np.mean(np.concatenate(hits)))
