"""Laplace's approximation: a Gaussian over the weights of a fitted model, and what it says about predictions."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import Tags, _safe_indexing, check_array, check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names, check_is_fitted, validate_data

from ..labels import Array, encoded
from ..scoring import fitted, is_frozen
from .approximation import CURVATURES, approximation
from .either import Either
from .links import averaged
from .reading import MOST_CHECKED, check_predictions, model_of, transformed, unwrapped


class Laplace(Either):
    r"""A fitted model with a Gaussian over its weights, so that predictions know how sure they are.

    The posterior of the weights is approximated by N(mean, (G / sigma^2 + lambda)^-1), where the mean is what the
    estimator has found, G is the Gauss-Newton matrix of its likelihood on the rows given to `fit`, and lambda is the
    precision of the prior N(0, 1 / lambda). Outputs are Gaussian then, to first order in the weights.

    What is exact: everything for least squares and ridge regression with "full" or "kron", where the mean is that of
    the posterior, too, for the prior that was chosen. For logistic regression G is the Hessian, and the Gaussian is an
    approximation. For networks G is one as well, and the mean stays where training ended.

    Parameters
    ----------
    estimator : classifier or regressor
        A linear model or a network of dense layers, of this library or of scikit-learn, or a pipeline that ends with
        one. It is fitted to the rows given to `fit`; `FrozenEstimator(fitted)` stays as it is, and `fit` wants the rows
        that it was trained on.
    weights : {"last", "all"} or pattern
        Which weights are random: those of the last dense layer, all, or those with such a name ("layers.0.*").
    curvature : {"full", "kron", "diag"}
        All of G; for each array of weights a Kronecker product; its diagonal.
    prior_precision : float or "evidence"
        lambda, or where the marginal likelihood is greatest.
    sigma : float, "evidence" or "residuals"
        The deviation of the noise in a regression; where the marginal likelihood is greatest; or the root of the mean
        squared residual.
    link : {"probit", "centred", "samples"}
        How probabilities are averaged over Gaussian logits: softmax(z / sqrt(1 + pi/8 var z)); the same of logits less
        their mean, as what all of them share says nothing; or by `n_samples` draws, the only one with no formula in it.
    n_samples : int
        For "samples".
    random_state : int, RandomState or None
        For "samples" and `sample`.

    Attributes
    ----------
    estimator_ : estimator
        The fitted one.
    classes_ : array
        The labels, for classifiers.
    prior_precision_, sigma_ : float
        What was given or found; sigma_ for regressors.
    log_evidence_ : float
        The logarithm of the marginal likelihood of y; of two models, the one with the greater is the likelier. In a
        linear regression the intercept has a flat prior, of density 1.
    effective_parameters_ : float
        How many weights the data say something about: the sum of s / (s + lambda sigma^2) over eigenvalues s of G.
    mean_ : array (weights,)
        Of the random weights: array after array, each of shape (inputs, outputs) in rows.
    names_ : list of str
        Their names.

    Examples
    --------
    >>> from adjoint import learn
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1.0, 1.0, size=(50, 1))
    >>> y = 2.0 * X[:, 0] + 0.1 * rng.normal(size=50)
    >>> model = Laplace(learn.LeastSquares()).fit(X, y)
    >>> value, deviation = model.predict([[0.0], [10.0]], return_std=True)
    >>> value.round(1), deviation.round(2)
    (array([ 0. , 20.3]), array([0.1 , 0.27]))
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit"])],
        "weights": [str],
        "curvature": [StrOptions(set(CURVATURES))],
        "prior_precision": [Interval(Real, 0, None, closed="neither"), StrOptions({"evidence"})],
        "sigma": [Interval(Real, 0, None, closed="neither"), StrOptions({"evidence", "residuals"})],
        "link": [StrOptions({"probit", "centred", "samples"})],
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        weights: str = "last",
        curvature: Literal["full", "kron", "diag"] = "full",
        prior_precision: float | Literal["evidence"] = "evidence",
        sigma: float | Literal["evidence", "residuals"] = "evidence",
        link: Literal["probit", "centred", "samples"] = "probit",
        n_samples: int = 1000,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.weights = weights
        self.curvature = curvature
        self.prior_precision = prior_precision
        self.sigma = sigma
        self.link = link
        self.n_samples = n_samples
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fit the estimator, unless it is frozen, and find the curvature at its weights.

        Weights count in the likelihood, and go to the estimator; so does what else is given.
        """
        self._validate_params()
        if not (is_classifier(self) or is_regressor(self)):
            raise TypeError(f"Laplace takes a classifier or a regressor, got {type(self.estimator).__name__}.")
        X, y, sample_weight = self._taken(X, y, sample_weight)
        metadata = self._routed(sample_weight, params)
        frozen = is_frozen(self.estimator)
        self.estimator_ = self.estimator if frozen else fitted(clone(self.estimator), X, y, metadata=metadata)
        self._steps, core = unwrapped(self.estimator_)
        rows = self._rows(X)
        weights = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if is_classifier(self):
            self.classes_ = self.estimator_.classes_
            targets = encoded(y, self.classes_)
        else:
            targets = y.reshape(len(rows), -1)
        model = model_of(core, rows, targets, weights, self.weights)
        few = np.arange(min(len(rows), MOST_CHECKED))
        check_predictions(self.estimator_, _safe_indexing(X, few), model.outputs(rows[few]))
        found = approximation(
            model,
            rows,
            targets,
            weights,
            classifies=is_classifier(self),
            curvature=self.curvature,
            precision=self.prior_precision,
            sigma=self.sigma,
        )
        self._found = found
        self.prior_precision_ = found.t / found.sigma2
        if is_regressor(self):
            self.sigma_ = float(np.sqrt(found.sigma2))
        self.log_evidence_ = found.log_evidence
        self.names_ = [block.name for block in found.model.blocks]
        self.mean_ = np.concatenate([block.mean.ravel() for block in found.model.blocks])
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Values or labels; with `return_std` the deviation of a new observation from the value, noise included."""
        check_is_fitted(self)
        if is_classifier(self):
            return self._labels(X, return_std)
        rows = self._rows(X)
        values = self._found.model.outputs(rows)
        values = values[:, 0] if values.shape[1] == 1 else values
        if not return_std:
            return values
        return values, np.sqrt(self._variance(rows) + self._found.sigma2)

    @available_if(lambda self: is_classifier(self.estimator))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes, averaged over the weights."""
        check_is_fitted(self)
        rows = self._rows(X)
        parts = []
        chance = check_random_state(self.random_state)
        noise = chance.standard_normal((self.n_samples, len(self.classes_))) if self.link == "samples" else None
        for logits, covariance in self._found.outputs(rows):
            parts.append(averaged(logits, covariance, noise, is_centred=self.link == "centred"))
        return np.concatenate(parts)

    def function_variance(self, X: Any) -> Array:
        """The variance of the model's outputs, noise not included: shape (n,), or (n, outputs) if there are several.

        Outputs of classifiers are logits.
        """
        check_is_fitted(self)
        return self._variance(self._rows(X))

    def function_covariance(self, X: Any) -> Array:
        """The covariance of the outputs for each row, shape (n, outputs, outputs)."""
        check_is_fitted(self)
        return np.concatenate([covariance for _, covariance in self._found.outputs(self._rows(X))])

    def sample(self, n: int = 1, random_state: Any = None) -> Array:
        """Weights drawn from the posterior, shape (n, weights), in the order of `mean_`."""
        check_is_fitted(self)
        chance = check_random_state(self.random_state if random_state is None else random_state)
        return self.mean_ + np.sqrt(self._found.sigma2) * self._found.posterior.draw(chance, n)

    @property
    def covariance_(self) -> Array:
        """The covariance of the weights, shape (weights, weights), in the order of `mean_`."""
        check_is_fitted(self)
        return self._found.sigma2 * self._found.posterior.matrix()

    @property
    def effective_parameters_(self) -> float:
        """How many weights the data say something about."""
        check_is_fitted(self)
        return len(self.mean_) - self._found.t * self._found.posterior.trace

    def _target(self, y: Any) -> Any:
        """Labels or numbers that are checked; a regression may have several."""
        values = np.asarray(y)
        is_plain = is_classifier(self) or values.ndim != 2 or values.shape[1] == 1
        return super()._target(y) if is_plain else check_array(values, dtype=np.float64)

    def _rows(self, X: Any) -> Array:
        """What the model itself gets: checked numbers."""
        if not self._steps:
            return validate_data(self, X, dtype=np.float64, reset=False)
        _check_feature_names(self, X, reset=False)
        return transformed(self._steps, X)

    def _variance(self, rows: Array) -> Array:
        parts = [np.einsum("nkk->nk", covariance) for _, covariance in self._found.outputs(rows)]
        variance = np.concatenate(parts)
        return variance[:, 0] if variance.shape[1] == 1 else variance
