"""What all estimators around an estimator do alike: take its data, say its features, ask its tags."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, is_classifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_sample_weight,
    _num_features,
    _num_samples,
    column_or_1d,
)


class Wrapper(MetaEstimatorMixin, BaseEstimator):
    """An estimator around another one."""

    estimator: Any

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self._inner()).input_tags.sparse
        return tags

    def _inner(self) -> Any:
        """The estimator, or a plain one if none is given."""
        if self.estimator is not None:
            return self.estimator
        return LogisticRegression() if is_classifier(self) else LinearRegression()

    def _taken(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Data that can be indexed, with labels or values and weights checked; columns are noted."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        X, y = indexable(X, y)
        if is_classifier(self):
            check_classification_targets(y)
            y = column_or_1d(y, warn=True)
        else:
            y = column_or_1d(y, dtype=np.float64, warn=True)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, np.empty((_num_samples(X), 1)))
        _check_feature_names(self, X, reset=True)
        with suppress(TypeError):  # rows may be texts, or anything else that the estimator takes
            self.n_features_in_ = _num_features(X)
        return X, y, sample_weight
