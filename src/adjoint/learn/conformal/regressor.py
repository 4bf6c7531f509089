"""Intervals that hold the true value with a probability that was asked for."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import RegressorMixin, is_classifier
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..labels import Array
from ..scoring import CrossFit, cross_fitted, rows_of, seeds_of
from ..wrapping import Wrapper
from .bands import Band, band_of
from .groups import CONSTRAINTS, Grouping, each_group, groups_of
from .pools import pooled
from .quantiles import check_coverage, guarantee, rank_of
from .ranks import ranked
from .shift import Weight, all_weights, effective_count, warn_of_everything, weights_of

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
    weight : callable, optional
        How many times likelier a row is among new examples than among those of calibration: a function of X, as
        `density_ratio` learns one. The guarantee then holds for new examples that differ in the distribution of X alone
        (covariate shift), if the weights are right.
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
    n_effective_ : float
        With `weight`: how many rows of equal weight are worth as much.
    guarantee_ : str
        What is guaranteed, in words.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2))
    >>> y = X[:, 0] + 0.1 * rng.normal(size=500)
    >>> model = ConformalRegressor(LinearRegression(), random_state=0).fit(X, y)
    >>> low, high = model.predict_interval([[1.0, 0.0]])[0]
    >>> bool(0.75 < low < 0.9 < 1.1 < high < 1.25)
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        "method": [StrOptions({"absolute", "normalised", "quantile", "distribution"})],
        "scale": [HasMethods(["fit", "predict"]), None],
        **CONSTRAINTS,
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        method: Method = "absolute",
        scale: Any = None,
        coverage: float = 0.9,
        by: Grouping = None,
        weight: Weight = None,
        cv: Any = 0.2,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.scale = scale
        self.coverage = coverage
        self.by = by
        self.weight = weight
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fit clones of the estimator, and collect the errors on rows that they have not seen.

        `sample_weight` and what else is given go to the estimator's `fit` (`groups` to the splitter), by their requests
        if metadata routing is on. Rows calibrate alike whatever their sample weight: for new examples that are
        distributed otherwise there is `weight`.
        """
        X, y, sample_weight = self._taken(X, y, sample_weight)
        if is_classifier(self._inner()):
            raise ValueError(f"ConformalRegressor takes a regressor, got {type(self._inner()).__name__}.")
        band = band_of(self.method, self.scale, self.coverage)
        metadata = self._routed(sample_weight, params)
        (seed,) = seeds_of(self.random_state, 1)
        inner = band.prepared(self._inner())
        found: CrossFit = cross_fitted(inner, X, y, cv=self.cv, metadata=metadata, random_state=seed)
        self.estimators_ = found.estimators
        self.n_calibration_ = len(found.order)
        self._band: Band = band
        weights = all_weights(self.weight, X, found.order, _num_samples(X))
        self.n_effective_ = self.n_calibration_ if weights is None else effective_count(weights[found.order])
        groups = groups_of(self.by, X, _num_samples(X))
        self._pools = pooled(
            (
                band.scores(estimator, rows_of(X, rows), y[rows]),
                groups[rows],
                None if weights is None else weights[rows],
            )
            for estimator, rows in found
        )
        for pool in self._pools.values():
            rank_of(pool.count, band.level(self.coverage))
        self._final = found.estimators[0] if len(found.rows) == 1 else found.on_all(inner, X, y, metadata)
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
        """Lower and upper ends, shape (n, 2); a coverage for which there are too few calibration rows is refused.

        With `weight`, an example that outweighs all calibration rows gets the whole line, and a warning says how many
        do.
        """
        check_is_fitted(self, "estimators_")
        coverage = self.coverage if coverage is None else coverage
        check_coverage(coverage)
        return self._ends(X, self._band.level(coverage), both=True)

    def predict_quantile(self, X: Any, quantile: float) -> Array:
        """The value that the true one stays below with probability `quantile`, shape (n,); for "distribution"."""
        self._check_distribution("predict_quantile")
        check_coverage(quantile)
        return self._ends(X, quantile, both=False)[:, 1]

    def predict_cdf(self, X: Any, at: Any) -> Array:
        """The probability that the true value is at most `at`, one value for each row; for "distribution"."""
        self._check_distribution("predict_cdf")
        values = np.broadcast_to(np.asarray(at, dtype=np.float64), _num_samples(X))
        below, total = np.zeros(len(values)), np.zeros(len(values))
        groups = groups_of(self.by, X, len(values))
        weights = weights_of(self.weight, X, len(values))
        for k, estimator in enumerate(self.estimators_):
            centre, _, width = self._band.parts(estimator, X)
            for name, rows in each_group(groups, self._pools, "the group"):
                part = self._pools[name].parts[k]
                below[rows] += part.up_to((values[rows] - centre[rows]) / width[rows])
                total[rows] += part.total
        own = 1.0 if weights is None else weights
        return (below + 0.5 * own) / (total + own)

    def _check_distribution(self, name: str) -> None:
        check_is_fitted(self, "estimators_")
        if self.method != "distribution":
            raise ValueError(f"{name} takes method='distribution', got {self.method!r}.")

    def _ends(self, X: Any, level: float, *, both: bool) -> Array:
        """The ends of intervals: where a_k - b_k s and c_k + b_k s reach the level."""
        parts = [self._band.parts(estimator, X) for estimator in self.estimators_]
        low, high, width = (np.stack(column) for column in zip(*parts, strict=True))
        count = low.shape[1]
        weights = weights_of(self.weight, X, count)
        found = np.full((count, 2), -np.inf)
        for name, rows in each_group(groups_of(self.by, X, count), self._pools, "the group"):
            pool = self._pools[name]
            wanted = pool.wanted(level, None if weights is None else weights[rows])
            found[rows, 1] = ranked(high[:, rows], width[:, rows], pool.parts, wanted)
            if both:  # the same on the other side
                other = [part.mirrored for part in pool.parts] if self._band.is_signed else pool.parts
                found[rows, 0] = -ranked(-low[:, rows], width[:, rows], other, wanted)
        if weights is not None:
            warn_of_everything(int(np.sum(np.isposinf(found[:, 1]))), count, "their intervals have no end")
        return found
