"""What all estimators around an estimator do alike: take its data, say its features, ask its tags, route metadata."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.linear_model import LinearRegression
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, _routing_enabled, process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_sample_weight,
    _num_features,
    _num_samples,
    column_or_1d,
    has_fit_parameter,
)

from .linear.logistic import LogisticRegression
from .scoring import Metadata, is_frozen

CV: list[Any] = [Interval(RealNotInt, 0, 1, closed="neither"), "cv_object"]
"""What `cv` may be: a share of rows, a number of folds, a splitter."""
WITH_PROBABILITIES: list[Any] = [HasMethods(["fit", "predict_proba"]), None]
"""What `estimator` may be, where probabilities are needed."""


class Wrapper(MetaEstimatorMixin, BaseEstimator):
    """An estimator around another one."""

    estimator: Any
    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self._inner()).input_tags.sparse
        return tags

    def _inner(self) -> Any:
        """The estimator, or a plain one if none is given."""
        if self.estimator is not None:
            return self.estimator
        return LogisticRegression() if isinstance(self, ClassifierMixin) else LinearRegression()

    def _taken(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Data that can be indexed, with labels or values and weights checked, as parameters are; columns are noted."""
        self._validate_params()
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        X, y = indexable(X, y)
        y = self._target(y)
        if sample_weight is not None:
            rows = np.empty((_num_samples(X), 1))
            sample_weight = _check_sample_weight(sample_weight, rows, ensure_non_negative=True)
        _check_feature_names(self, X, reset=True)
        with suppress(TypeError):  # rows may be texts, or anything else that the estimator takes
            self.n_features_in_ = _num_features(X)
        return X, y, sample_weight

    def _target(self, y: Any) -> Any:
        """Labels or numbers that are checked."""
        if not isinstance(self, ClassifierMixin):
            return column_or_1d(y, dtype=np.float64, warn=True)
        if isinstance(y, np.ndarray) and y.ndim == 1 and y.dtype.kind in "biuU":
            return y  # labels beyond doubt: looking at them all would take longer than a conformal split
        check_classification_targets(y)
        return column_or_1d(y, warn=True)

    def get_metadata_routing(self) -> MetadataRouter:
        """Who is asked what metadata they take: this one, the estimator's `fit`, the splitter's `split`."""
        router = MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self._inner(), method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        if hasattr(self, "cv"):
            router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router

    def _routed(self, sample_weight: Any, params: dict[str, Any]) -> Metadata:
        """What goes to the estimator and to the splitter, of all that `fit` was given beside the data.

        By their requests if metadata routing is on; else `groups` go to the splitter and all else to the estimator,
        weights only if it takes any.
        """
        if _routing_enabled():
            routed = process_routing(self, "fit", sample_weight=sample_weight, **params)
            return Metadata(routed.estimator.fit, routed.splitter.split if hasattr(self, "cv") else {})
        params = dict(params)
        split = {"groups": params.pop("groups")} if "groups" in params and hasattr(self, "cv") else {}
        inner = self._inner()
        if sample_weight is not None and not is_frozen(inner) and not has_fit_parameter(inner, "sample_weight"):
            warnings.warn(
                f"{type(inner).__name__}.fit takes no sample_weight, so weights do not reach it. In a pipeline they do "
                "by sklearn.set_config(enable_metadata_routing=True) and set_fit_request(sample_weight=True).",
                UserWarning,
                stacklevel=3,
            )
        return Metadata({**Metadata.of(inner, sample_weight).fit, **params}, split)
