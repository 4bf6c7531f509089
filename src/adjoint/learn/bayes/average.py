"""An average of models, weighted by how likely each of them is."""

from __future__ import annotations

from inspect import signature
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax
from scipy.stats import norm as normal
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import Tags, _safe_indexing, check_random_state, get_tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, _routing_enabled, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..labels import Array, encoded
from ..scoring import Metadata, fitted, is_frozen, splits
from ..wrapping import CV
from .either import Either
from .laplace import Laplace
from .reading import unwrapped

SMALLEST = np.finfo(np.float64).tiny


class BayesianAverage(Either):
    r"""Several models at once: the sum of what they predict, each times its weight.

    .. math:: p(y | x) = \sum_k w_k \, p(y | x, k), \qquad \sum_k w_k = 1

    The weights sum to one: nothing is divided by the number of models again.

    Parameters
    ----------
    estimators : list of estimators, or of pairs (name, estimator)
        All classifiers or all regressors. `FrozenEstimator(fitted)` is taken as it is.
    weights : {"evidence", "stacking", "equal"}
        By the marginal likelihood p(y | k), which is the posterior of k if all models are equally likely at first: one
        of them is taken to be true, and with many rows one gets all the weight. By the greatest log likelihood of the
        mixture on rows that were left out, where none has to be true. Or all alike.
    cv : int, float or splitter
        Folds for "stacking".
    random_state : int, RandomState or None
        For the folds.

    Attributes
    ----------
    estimators_ : list
        Fitted ones. For "evidence" each is a `Laplace`, made where it is not one (`weights="all"`).
    weights_ : array (estimators,)
    log_evidence_ : array (estimators,)
        Of each, for "evidence".
    log_scores_ : array (estimators,)
        The mean log likelihood of each on rows that were left out, for "stacking".
    classes_ : array
        The labels, for classifiers.

    Examples
    --------
    >>> from adjoint import learn
    >>> from sklearn.preprocessing import PolynomialFeatures
    >>> from sklearn.pipeline import make_pipeline
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1.0, 1.0, size=(40, 1))
    >>> y = X[:, 0] ** 2 + 0.1 * rng.normal(size=40)
    >>> powers = [make_pipeline(PolynomialFeatures(k, include_bias=False), learn.Ridge()) for k in (1, 2, 3, 4)]
    >>> model = BayesianAverage(powers).fit(X, y)
    >>> model.weights_.round(2)
    array([0.  , 0.67, 0.16, 0.16])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimators": [list, tuple],
        "weights": [StrOptions({"evidence", "stacking", "equal"})],
        "cv": CV,
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimators: Any,
        *,
        weights: Literal["evidence", "stacking", "equal"] = "evidence",
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimators = estimators
        self.weights = weights
        self.cv = cv
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = all(get_tags(each).input_tags.sparse for each in self._members())
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fit all estimators, with the rows' weights and what else is given, and find their own weights."""
        self._validate_params()
        members = self._members()
        if not (all(map(is_classifier, members)) or all(map(is_regressor, members))):
            raise TypeError("estimators have to be all classifiers or all regressors.")
        X, y, sample_weight = self._taken(X, y, sample_weight)
        if self.weights == "evidence":
            members = [each if isinstance(unwrapped(each)[1], Laplace) else _with_evidence(each) for each in members]
        metadata = self._each_routed(members, sample_weight, params)
        self.estimators_ = [
            each if is_frozen(each) else fitted(clone(each), X, y, metadata=own)
            for each, own in zip(members, metadata, strict=True)
        ]
        if is_classifier(self):
            self.classes_ = self.estimators_[0].classes_
            if not all(np.array_equal(each.classes_, self.classes_) for each in self.estimators_):
                raise ValueError("estimators have to know the same classes.")
        self._sigmas = np.full(len(members), np.nan)
        if self.weights == "evidence":
            self.log_evidence_ = np.array([unwrapped(each)[1].log_evidence_ for each in self.estimators_])
            self.weights_ = softmax(self.log_evidence_)
        elif self.weights == "stacking":
            scores, rows = self._left_out(members, X, y, metadata)
            counts = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight)[rows]
            self.log_scores_ = counts @ scores / np.sum(counts)
            self.weights_ = stacked(scores, counts)
        else:
            self.weights_ = np.full(len(members), 1.0 / len(members))
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Labels, or mean values; with `return_std` the deviation of the mixture: of each model, and between models."""
        check_is_fitted(self)
        if is_classifier(self):
            return self._labels(X, return_std)
        if not return_std:
            return self.weights_ @ np.stack([each.predict(X) for each in self.estimators_])
        pairs = [_distribution(each, X, s) for each, s in zip(self.estimators_, self._sigmas, strict=True)]
        means, deviations = (np.stack(part) for part in zip(*pairs, strict=True))
        mean = self.weights_ @ means
        return mean, np.sqrt(self.weights_ @ (deviations**2 + (means - mean) ** 2))

    @available_if(lambda self: is_classifier(self))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the mixture."""
        check_is_fitted(self)
        total = sum(w * each.predict_proba(X) for w, each in zip(self.weights_, self.estimators_, strict=True))
        return np.asarray(total)

    def _named(self) -> dict[str, Any]:
        """The estimators by name; those that have none are numbered."""
        pairs = [
            each if isinstance(each, tuple) else (f"estimator_{k}", each) for k, each in enumerate(self.estimators)
        ]
        named: dict[str, Any] = dict(pairs)
        if not named or len(named) < len(pairs):
            raise ValueError("estimators has to have at least one estimator, and a name only once.")
        return named

    def _members(self) -> list[Any]:
        return list(self._named().values())

    def _inner(self) -> Any:
        return self._members()[0]

    def get_metadata_routing(self) -> MetadataRouter:
        """Who is asked what metadata they take: this one, the `fit` of each estimator, the splitter's `split`."""
        router = MetadataRouter(owner=self).add_self_request(self)
        for name, each in self._named().items():
            router.add(**{name: each}, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        return router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))

    def _each_routed(self, members: list[Any], sample_weight: Any, params: dict[str, Any]) -> list[Metadata]:
        """What goes to each estimator, and to the splitter."""
        if _routing_enabled():
            routed = process_routing(self, "fit", sample_weight=sample_weight, **params)
            return [Metadata(routed[name].fit, routed.splitter.split) for name in self._named()]
        split = {"groups": params.pop("groups")} if "groups" in params else {}
        return [Metadata({**Metadata.of(each, sample_weight).fit, **params}, split) for each in members]

    def _left_out(self, members: list[Any], X: Any, y: Any, metadata: list[Metadata]) -> tuple[Array, Array]:
        """The log likelihood of each row that was left out by each member, and which rows these are."""
        seed = check_random_state(self.random_state).randint(2**31)
        folds = list(splits(members[0], X, y, cv=self.cv, random_state=seed, **metadata[0].split))
        parts = [(_safe_indexing(X, rest), y[rest]) for _, rest in folds]
        columns = []
        for k, member in enumerate(members):
            trained = [
                member if is_frozen(member) else fitted(clone(member), X, y, train, metadata=metadata[k])
                for train, _ in folds
            ]
            if is_classifier(self):
                logs = [_log_probabilities(each, *part) for each, part in zip(trained, parts, strict=True)]
            else:
                errors = [each.predict(rows) - values for each, (rows, values) in zip(trained, parts, strict=True)]
                self._sigmas[k] = np.sqrt(np.mean(np.concatenate(errors) ** 2))
                logs = [_log_density(each, *part, self._sigmas[k]) for each, part in zip(trained, parts, strict=True)]
            columns.append(np.concatenate(logs))
        return np.stack(columns, axis=1), np.concatenate([rest for _, rest in folds])


def stacked(scores: Array, counts: Array) -> Array:
    """Weights that sum to one, of the greatest mean log likelihood of the mixture, up to 1e-9.

    That is concave in the weights, and its slopes say how far the maximum is at most: by the largest slope less 1.
    """
    likelihoods = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    share = counts / np.sum(counts)

    def slopes(weights: Array) -> Array:
        return (share / (likelihoods @ weights)) @ likelihoods

    def loss(weights: Array) -> float:
        return -float(share @ np.log(likelihoods @ weights))

    weights = np.full(scores.shape[1], 1.0 / scores.shape[1])
    found = minimize(
        loss, weights, jac=lambda w: -slopes(w), method="SLSQP", bounds=[(1e-12, 1.0)] * len(weights),
        constraints={"type": "eq", "fun": lambda w: np.sum(w) - 1.0, "jac": np.ones_like},
        options={"ftol": 1e-14, "maxiter": 500},
    )  # fmt: skip
    best = np.maximum(found.x, 0.0) / np.sum(np.maximum(found.x, 0.0))
    weights = best if loss(best) < loss(weights) else weights
    for _ in range(10_000):
        slope = slopes(weights)
        if np.max(slope) - 1.0 < 1e-9:
            break
        weights = weights * slope  # expectation and maximisation: never worse
    return weights / np.sum(weights)


def _with_evidence(member: Any) -> Laplace:
    """A member that has no evidence of its own."""
    inner = unwrapped(member)[1]
    is_network = hasattr(inner, "hidden_layer_sizes")
    return Laplace(member, weights="all", curvature="kron" if is_network else "full")


def _log_probabilities(member: Any, X: Any, y: Array) -> Array:
    """Of the true labels."""
    p = member.predict_proba(X)
    return np.log(np.maximum(p[np.arange(len(y)), encoded(y, member.classes_)], SMALLEST))


def _log_density(member: Any, X: Any, y: Array, sigma: float) -> Array:
    """Of the true values, for a Gaussian."""
    return normal.logpdf(y, *_distribution(member, X, sigma))


def _distribution(member: Any, X: Any, sigma: float) -> tuple[Array, Array]:
    """The mean and the deviation of a regressor's predictions, its own or the one that is known of its errors."""
    if "return_std" in signature(member.predict).parameters:
        mean, deviation = member.predict(X, return_std=True)
        return np.asarray(mean), np.asarray(deviation)
    if np.isnan(sigma):
        raise ValueError(
            f"{type(member).__name__} says no deviation (predict has no return_std): take weights='stacking', which "
            "finds it on rows that were left out, or put a Laplace around it."
        )
    mean = np.asarray(member.predict(X))
    return mean, np.full(len(mean), sigma)
