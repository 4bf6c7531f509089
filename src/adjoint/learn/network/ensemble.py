"""Deep ensembles: networks that differ in their first weights, and how far they disagree."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import xlogy
from scipy.stats import norm as normal
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..labels import Array
from ..scoring import fitted
from .members import can_be_stacked, trained_together

SEEDS = 2**31 - 1


def _classifies(self: Any) -> bool:
    return is_classifier(self.estimator)


def _regresses(self: Any) -> bool:
    return is_regressor(self.estimator)


class DeepEnsemble(MetaEstimatorMixin, BaseEstimator):
    """Several networks that differ in their first weights, as one estimator.

    Where training data say little, its members say different things: their mean is better than any of them, and
    `disagreement` tells how far to trust it. Members of `MLPClassifier` and `MLPRegressor` are trained at once, in one
    program that `ad.vmap` makes of the step of one of them, on the same batches; any other estimator is fitted once for
    each seed.

    Parameters
    ----------
    estimator : estimator
        What is cloned for each member. `random_state` is set, here and in what is inside it.
    n_members : int
        How many.
    random_state : int, RandomState or None
        Decides the seeds of the members.

    Attributes
    ----------
    estimators_ : list
        The members, fitted.
    classes_ : array
        The labels, of classifiers.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from adjoint import learn
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = DeepEnsemble(learn.MLPClassifier((16,), learning_rate_init=0.02), random_state=0).fit(X, y)
    >>> model.predict([[-1.0, 0.5], [2.0, 0.0]])
    array([0, 1])
    >>> far, near = model.disagreement([[8.0, -8.0], [-1.0, 0.5]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "n_members": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(self, estimator: Any, *, n_members: int = 5, random_state: Any = None) -> None:
        self.estimator = estimator
        self.n_members = n_members
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags, own = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = own.estimator_type
        tags.classifier_tags, tags.regressor_tags, tags.target_tags = (
            own.classifier_tags, own.regressor_tags, own.target_tags,
        )  # fmt: skip
        tags.input_tags = own.input_tags
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train all members."""
        self._validate_params()
        seeds = check_random_state(self.random_state).randint(SEEDS, size=self.n_members).tolist()
        if can_be_stacked(self.estimator):
            self.estimators_ = list(trained_together(self.estimator, X, y, sample_weight, seeds))
        else:
            self.estimators_ = [
                fitted(_seeded(clone(self.estimator), seed), X, y, None, sample_weight) for seed in seeds
            ]
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self.estimators_[0], name):
                setattr(self, name, getattr(self.estimators_[0], name))
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The likeliest label, or the mean value.

        Parameters
        ----------
        X : array (n, columns)
            Rows.
        return_std : bool
            Whether to give standard deviations too, of regressors: between members, and within them if they have
            `distribution="gaussian"`.
        """
        if _classifies(self):
            if return_std:
                raise ValueError("return_std is for regressors: of a classifier, take predict_proba or disagreement.")
            chosen = np.argmax(self.predict_proba(X), axis=1)
            return self.classes_[chosen]
        means, variances = self._moments(X)
        mean = np.mean(means, axis=0)
        return (mean, np.sqrt(np.var(means, axis=0) + np.mean(variances, axis=0))) if return_std else mean

    @available_if(_classifies)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """The mean of the members' probabilities."""
        return np.mean(self._each("predict_proba", X), axis=0)

    @available_if(_classifies)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Array:
        """Its logarithm."""
        return np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny))

    @available_if(_regresses)  # type: ignore[untyped-decorator]
    def predict_quantile(self, X: Any, quantiles: Any = None) -> Array:
        """Quantiles (n, levels) or (n, outputs, levels): of the normal distribution with the mean and the standard
        deviation of the ensemble, for members with `distribution="gaussian"`; the mean of those of the members, for
        "quantiles".
        """
        check_is_fitted(self)
        first = self.estimators_[0]
        if getattr(first, "distribution", None) != "gaussian":
            return np.mean([each.predict_quantile(X, quantiles) for each in self.estimators_], axis=0)
        levels = np.atleast_1d(np.asarray(first.quantiles if quantiles is None else quantiles, dtype=np.float64))
        mean, std = self.predict(X, return_std=True)
        return mean[..., None] + std[..., None] * normal.ppf(levels)

    def disagreement(self, X: Any) -> Array:
        """How far members differ on each row.

        Of regressors the standard deviation of their predictions. Of classifiers the entropy of the mean of their
        probabilities less the mean of their entropies, in nats: 0 where all say the same, however unsure they are.
        """
        if not _classifies(self):
            return np.std(self._moments(X)[0], axis=0)
        p = self._each("predict_proba", X)
        return np.maximum(_entropy(np.mean(p, axis=0)) - np.mean(_entropy(p), axis=0), 0.0)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or R squared."""
        measure = accuracy_score if _classifies(self) else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def _each(self, method: str, X: Any) -> Array:
        check_is_fitted(self)
        return np.stack([getattr(each, method)(X) for each in self.estimators_])

    def _moments(self, X: Any) -> tuple[Array, Array]:
        """Means and variances that each member gives."""
        if getattr(self.estimator, "distribution", None) != "gaussian":
            means = self._each("predict", X)
            return means, np.zeros_like(means)
        check_is_fitted(self)
        pairs = [each.predict(X, return_std=True) for each in self.estimators_]
        return np.stack([mean for mean, _ in pairs]), np.stack([std**2 for _, std in pairs])


def _entropy(p: Array) -> Array:
    return -np.sum(xlogy(p, p), axis=-1)


def _seeded(estimator: Any, seed: int) -> Any:
    """With a seed wherever one can be set."""
    rng = np.random.RandomState(seed)
    names = [n for n in sorted(estimator.get_params()) if n == "random_state" or n.endswith("__random_state")]
    return estimator.set_params(**{name: rng.randint(SEEDS) for name in names})
