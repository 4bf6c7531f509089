"""Scores of classifiers on rows that they have not seen: from a fitted one, by holding rows out, or by cross-fitting.

`Wrapper(estimator).fit(X, y)` splits by itself, so that nothing leaks; `Wrapper(FrozenEstimator(fitted)).fit(X, y)`
takes all rows for calibration. There is no other verb.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, has_fit_parameter

from .labels import Array

SMALLEST = np.finfo(np.float64).tiny
"""Probabilities of 0 have this one's logarithm."""


def logits_of(estimator: Any, X: Any) -> Array:
    """Logits of the classes: what a scaling is fitted to.

    Those that the estimator calls so (`decision_function_is_logits`), else logarithms of its probabilities, else its
    decision function. Numbers are never taken for probabilities because they sum to one.
    """
    if getattr(estimator, "decision_function_is_logits", False) or not hasattr(estimator, "predict_proba"):
        values = np.asarray(estimator.decision_function(X), dtype=np.float64)
        return np.stack([np.zeros_like(values), values], axis=1) if values.ndim == 1 else values
    return np.log(np.maximum(np.asarray(estimator.predict_proba(X), dtype=np.float64), SMALLEST))


def is_frozen(estimator: Any) -> bool:
    """Whether an estimator is fitted already and stays as it is."""
    return isinstance(estimator, FrozenEstimator)


@dataclass(frozen=True)
class CrossFit:
    """Estimators with the rows that each of them has not seen."""

    estimators: list[Any]
    rows: list[Array]

    def __iter__(self) -> Iterator[tuple[Any, Array]]:
        return iter(zip(self.estimators, self.rows, strict=True))

    @property
    def order(self) -> Array:
        """All rows that some estimator has not seen, in the order of `rows`."""
        return np.concatenate(self.rows)


def cross_fitted(
    estimator: Any, X: Any, y: Any, *, cv: Any, sample_weight: Any = None, random_state: Any = None
) -> CrossFit:
    """Fit clones on some rows each, so that the other ones can be used to calibrate.

    `cv` is a share of rows to hold out, a number of folds, or a splitter; for a frozen estimator it is not used.
    """
    if is_frozen(estimator):
        return CrossFit([estimator], [np.arange(_num_samples(X))])
    estimators, rows = [], []
    for train, rest in splits(estimator, X, y, cv=cv, random_state=random_state):
        estimators.append(fitted(clone(estimator), X, y, train, sample_weight))
        rows.append(rest)
    return CrossFit(estimators, rows)


def fitted(estimator: Any, X: Any, y: Any, rows: Array | None = None, sample_weight: Any = None) -> Any:
    """An estimator fitted to some rows, or all, with weights if it takes any."""
    if rows is not None:
        X, y = _safe_indexing(X, rows), _safe_indexing(y, rows)
        sample_weight = None if sample_weight is None else np.asarray(sample_weight)[rows]
    if sample_weight is not None and has_fit_parameter(estimator, "sample_weight"):
        return estimator.fit(X, y, sample_weight=sample_weight)
    return estimator.fit(X, y)


def splits(estimator: Any, X: Any, y: Any, *, cv: Any, random_state: Any = None) -> Iterator[tuple[Array, Array]]:
    """Rows to fit on and rows to calibrate with."""
    classifies = is_classifier(estimator)
    if isinstance(cv, Real) and not isinstance(cv, Integral):
        if not 0.0 < float(cv) < 1.0:
            raise ValueError(
                f"cv has to be a share of rows between 0 and 1, a number of folds or a splitter, got {cv!r}."
            )
        kind = StratifiedShuffleSplit if classifies else ShuffleSplit
        splitter: Any = kind(1, test_size=float(cv), random_state=random_state)
    elif isinstance(cv, Integral) or cv is None:
        count = 5 if cv is None else int(cv)
        folds = StratifiedKFold if classifies else KFold
        splitter = folds(count, shuffle=True, random_state=random_state)
    else:
        splitter = check_cv(cv, y, classifier=classifies)
    yield from splitter.split(X, y)
