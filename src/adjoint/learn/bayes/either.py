"""An estimator around others that is a classifier if they are, and a regressor if they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import Tags, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ..labels import Array
from ..wrapping import Wrapper


class Either(Wrapper):
    """Classifier or regressor, as the estimator inside."""

    classes_: Array
    predict_proba: Any

    def __sklearn_tags__(self) -> Tags:
        tags, inner = super().__sklearn_tags__(), get_tags(self._inner())
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.target_tags.required = True
        return tags

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, or the coefficient of determination."""
        measure = accuracy_score if is_classifier(self) else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    def predict(self, X: Any) -> Any:
        """Labels or values."""
        raise NotImplementedError

    def _labels(self, X: Any, return_std: bool) -> Array:
        """The likeliest labels of a classifier, which has no deviations."""
        if return_std:
            raise ValueError("return_std is for regressors; of classes, predict_proba has what is not sure.")
        labels: Array = self.classes_[np.argmax(self.predict_proba(X), axis=1)]
        return labels

    def _target(self, y: Any) -> Any:
        """Labels or numbers that are checked."""
        if not is_classifier(self):
            return super()._target(y)
        check_classification_targets(y)
        return column_or_1d(y, warn=True)
