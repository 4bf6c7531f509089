"""A network that was trained for one thing, trained a little further for another."""

from __future__ import annotations

import copy
import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    MetaEstimatorMixin,
    TransformerMixin,
    clone,
    is_classifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from adjoint import nn

from ..labels import Array
from ..network.estimator import Network
from .parts import adapted, merged, with_head

Train = Literal["all", "head", "biases", "low-rank"]


def _classifies(self: Any) -> bool:
    return is_classifier(self._source())


class FineTuned(MetaEstimatorMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A fitted network, trained further on new rows: the whole of it, or little of it.

    Parameters
    ----------
    estimator : MLPClassifier or MLPRegressor
        A fitted one, frozen (`FrozenEstimator`) or not; it is never changed, and clones of this one keep it. One that
        is not fitted is fitted to the same rows first, with a warning.
    train : {"all", "head", "biases", "low-rank"}
        What is trained: all parameters; the last layer; the biases of dense layers; or a matrix of low rank added to
        each of their weight matrices. Where labels are others than those of `estimator`, or outputs more or fewer, the
        last layer is new and trained in any case. Where all weights of a layer are fewer than the numbers of its change
        of low rank, it is trained as it is; so is the last layer of a regressor.
    rank : int
        Of "low-rank".
    max_iter, learning_rate_init : int, float, optional
        In place of those of `estimator`.
    random_state : int, RandomState or None
        For new weights, and the order of rows.

    Attributes
    ----------
    estimator_ : MLPClassifier or MLPRegressor
        The network as it is now, a plain one; `merged()` gives a copy of it.
    n_trained_parameters_ : int
        How many numbers are trained.
    classes_ : array
        The labels, of a classifier.

    Examples
    --------
    >>> from adjoint import learn
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> X = X / 16.0
    >>> source = learn.MLPClassifier((32,), max_iter=20, random_state=0).fit(X[y < 5], y[y < 5])
    >>> tuned = learn.FineTuned(source, train="head", random_state=0).fit(X[y >= 5], y[y >= 5])
    >>> tuned.n_trained_parameters_, tuned.classes_.tolist()
    (165, [5, 6, 7, 8, 9])
    >>> bool(np.all(tuned.estimator_.model_.layers[0].weight == source.model_.layers[0].weight))
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": [HasMethods(["fit", "predict"])],
        "train": [StrOptions({"all", "head", "biases", "low-rank"})],
        "rank": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "learning_rate_init": [Interval(Real, 0, None, closed="neither"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        train: Train = "all",
        rank: int = 4,
        max_iter: int | None = None,
        learning_rate_init: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.train = train
        self.rank = rank
        self.max_iter = max_iter
        self.learning_rate_init = learning_rate_init
        self.random_state = random_state

    def __sklearn_clone__(self) -> Self:
        """A clone with the same source: without its weights there would be nothing to tune."""
        params = self.get_params(deep=False)
        source = params.pop("estimator")
        kept = source if _is_fitted(self._source()) else clone(source)
        return type(self)(kept, **{name: clone(value, safe=False) for name, value in params.items()})

    def __sklearn_tags__(self) -> Tags:
        tags, inner = super().__sklearn_tags__(), get_tags(self._source())
        tags.estimator_type, tags.target_tags = inner.estimator_type, inner.target_tags
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.transformer_tags = inner.transformer_tags
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train what is to be trained, from the weights of the source."""
        self._begin(X, y, None, sample_weight)
        self._tuner.fit(X, y, sample_weight=sample_weight)
        return self._taken()

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One epoch more; frozen parts stay frozen. The first call takes `classes`, if there are new ones."""
        if not hasattr(self, "_tuner"):
            known = getattr(self._source(), "classes_", None)
            if classes is None and known is not None and not np.all(np.isin(y, known)):
                raise ValueError("classes must be passed on the first call to partial_fit, as y has new labels.")
            self._begin(X, y, classes if classes is not None else known, sample_weight)
        options = {"classes": classes} if classes is not None else {}
        self._tuner.partial_fit(X, y, sample_weight=sample_weight, **options)
        return self._taken()

    def predict(self, X: Any, **options: Any) -> Any:
        """As the network predicts; `return_std=True` goes to it."""
        return self._fitted().predict(X, **options)

    @available_if(_classifies)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Array:
        """The probability of each class."""
        return np.asarray(self._fitted().predict_proba(X))

    @available_if(_classifies)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Array:
        """Logits, as those of the network."""
        return np.asarray(self._fitted().decision_function(X))

    @property
    def decision_function_is_logits(self) -> bool:
        """Whether softmax of the decision function gives probabilities."""
        return bool(getattr(self._source(), "decision_function_is_logits", False))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or the share of variance explained."""
        return float(self._fitted().score(X, y, sample_weight=sample_weight))

    def transform(self, X: Any, layer: int = -1) -> Array:
        """What a hidden layer makes of rows."""
        return np.asarray(self._fitted().transform(X, layer=layer))

    def merged(self) -> Any:
        """The tuned network as a plain estimator, which knows nothing of what was frozen."""
        return copy.deepcopy(self._fitted())

    @property
    def _n_features_out(self) -> int:
        return int(self.estimator_._n_features_out)

    def _source(self) -> Any:
        return self.estimator.estimator if isinstance(self.estimator, FrozenEstimator) else self.estimator

    def _fitted(self) -> Any:
        check_is_fitted(self)
        return self.estimator_

    def _begin(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        """Make the network that is trained, with its frozen parts."""
        self._validate_params()
        source = self._source()
        if not isinstance(source, Network):
            raise TypeError(f"FineTuned takes an MLPClassifier or MLPRegressor, got {type(source).__name__}.")
        if y is None:
            raise ValueError("FineTuned requires y to be passed, but the target y is None.")
        rng = check_random_state(self.random_state)
        if not _is_fitted(source):
            warnings.warn(
                f"{type(source).__name__} is not fitted, so FineTuned fits it to the same rows first: give a fitted "
                "one.", UserWarning, stacklevel=3,
            )  # fmt: skip
            source = clone(source).fit(X, y, sample_weight=sample_weight)
        else:
            validate_data(source, X, skip_check_array=True, reset=False)
        self._origin = source
        tuner = copy.copy(source)
        tuner._forget()
        options = {"max_iter": self.max_iter, "learning_rate_init": self.learning_rate_init}
        tuner.set_params(
            warm_start=True, random_state=rng.randint(2**31 - 1),
            **{name: value for name, value in options.items() if value is not None},
        )  # fmt: skip
        self._base = self._with_outputs(tuner, source, y, classes, sample_weight, rng)
        new = self._base is not source.model_
        tuner.model_ = adapted(
            self._base, self.train, self.rank, rng,
            trains_head=new or (self.train == "low-rank" and not is_classifier(source)),
        )  # fmt: skip
        self.n_trained_parameters_ = nn.count_parameters(tuner.model_)
        self._tuner = tuner

    def _with_outputs(self, tuner: Any, source: Any, y: Any, classes: Any, sample_weight: Any, rng: Any) -> Any:
        """The network of the source, with a new head if the labels or the number of outputs are others."""
        if is_classifier(source):
            check_classification_targets(y)
            counts = slice(None) if sample_weight is None else np.asarray(sample_weight) > 0.0
            found = np.unique(column_or_1d(y)[counts] if classes is None else column_or_1d(classes))
            if np.array_equal(found, source.classes_):
                return source.model_
            tuner.classes_ = found
            return with_head(source.model_, len(found), rng)
        values = np.asarray(y)
        outputs = 1 if values.ndim == 1 else values.shape[1]
        if outputs == source.n_outputs_:
            tuner._is_flat = values.ndim == 1
            return source.model_
        if source.distribution is not None:
            raise ValueError(
                f"y has {outputs} outputs, the source {source.n_outputs_}: a new head needs distribution=None."
            )
        tuner.n_outputs_, tuner._is_flat = outputs, values.ndim == 1
        return with_head(source.model_, outputs, rng, np.std(values, axis=0))

    def _taken(self) -> Self:
        plain = copy.copy(self._tuner)
        plain.set_params(warm_start=self._origin.warm_start)
        plain.model_ = merged(self._base, self._tuner.model_)
        self.estimator_ = plain
        self.n_features_in_ = plain.n_features_in_
        self.n_iter_ = plain.n_iter_
        for name in ("classes_", "feature_names_in_"):
            if hasattr(plain, name):
                setattr(self, name, getattr(plain, name))
        return self


def _is_fitted(estimator: Any) -> bool:
    try:
        check_is_fitted(estimator, "model_")
    except (NotFittedError, TypeError):
        return False
    return True
