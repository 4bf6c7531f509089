"""Scores of classifiers on rows that they have not seen: from a fitted one, by holding rows out, or by cross-fitting.

`Wrapper(estimator).fit(X, y)` splits by itself, so that nothing leaks; `Wrapper(FrozenEstimator(fitted)).fit(X, y)`
takes all rows for calibration. There is no other verb.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit, check_cv
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _check_method_params, _num_samples, check_is_fitted, has_fit_parameter

from .labels import Array, encoded

SMALLEST = np.finfo(np.float64).tiny
"""Probabilities of 0 have this one's logarithm."""


def logits_of(estimator: Any, X: Any, classes: Array | None = None) -> Array:
    """Logits of the classes: what a scaling is fitted to; of `classes` if given, of which the estimator may lack some.

    Those that the estimator calls so (`decision_function_is_logits`), else logarithms of its probabilities, else its
    decision function. Numbers are never taken for probabilities because they sum to one.
    """
    if getattr(estimator, "decision_function_is_logits", False) or not hasattr(estimator, "predict_proba"):
        values = np.asarray(estimator.decision_function(X), dtype=np.float64)
        values = np.stack([np.zeros_like(values), values], axis=1) if values.ndim == 1 else values
        return _aligned(values, estimator, classes, float(np.log(SMALLEST)))
    return np.log(np.maximum(probabilities_of(estimator, X, classes), SMALLEST))


def probabilities_of(estimator: Any, X: Any, classes: Array | None = None) -> Array:
    """Probabilities in double precision; of `classes` if given, 0 for those that the estimator has not met."""
    return _aligned(np.asarray(estimator.predict_proba(X), dtype=np.float64), estimator, classes, 0.0)


def _aligned(values: Array, estimator: Any, classes: Array | None, missing: float) -> Array:
    if classes is None or values.shape[1] == len(classes):
        return values
    found = np.full((len(values), len(classes)), missing)
    found[:, encoded(estimator.classes_, classes)] = values
    return found


def seeds_of(random_state: Any, count: int) -> list[int]:
    """Seeds for so many purposes from one `random_state`; of a number without the legacy generator, which is slow."""
    if isinstance(random_state, Integral):
        return np.random.SeedSequence(int(random_state)).generate_state(count).tolist()
    return check_random_state(random_state).randint(2**31, size=count).tolist()


def rows_of(X: Any, rows: Array) -> Any:
    """Some rows of X, without a copy if they are all."""
    count = _num_samples(X)
    return X if len(rows) == count and np.array_equal(rows, np.arange(count)) else _safe_indexing(X, rows)


def is_frozen(estimator: Any) -> bool:
    """Whether an estimator is fitted already and stays as it is."""
    return isinstance(estimator, FrozenEstimator)


@dataclass(frozen=True)
class CrossFit:
    """Estimators with the rows that each has not seen; `whole` has seen all, where several wrappers share it."""

    estimators: list[Any]
    rows: list[Array]
    whole: Any = None

    def __iter__(self) -> Iterator[tuple[Any, Array]]:
        return iter(zip(self.estimators, self.rows, strict=True))

    @property
    def classes(self) -> Array:
        """The labels that some estimator has met: a rare one may be missing from a fold."""
        return np.unique(np.concatenate([e.classes_ for e in self.estimators]))

    def on_all(self, estimator: Any, X: Any, y: Any, metadata: Metadata) -> Any:
        """The estimator fitted to all rows: the one that is shared, or else a new one."""
        return fitted(clone(estimator), X, y, metadata=metadata) if self.whole is None else self.whole

    @property
    def order(self) -> Array:
        """All rows that some estimator has not seen, in the order of `rows`."""
        return np.concatenate(self.rows)


@dataclass(frozen=True)
class Metadata:
    """What `fit` was given beside the data: for the estimator's `fit`, and for the splitter's `split`."""

    fit: Mapping[str, Any]
    split: Mapping[str, Any]

    @classmethod
    def of(cls, estimator: Any, sample_weight: Any) -> Metadata:
        """Weights alone, for an estimator that takes any."""
        takes = sample_weight is not None and has_fit_parameter(estimator, "sample_weight")
        return cls({"sample_weight": sample_weight} if takes else {}, {})


def cross_fitted(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any,
    sample_weight: Any = None,
    metadata: Metadata | None = None,
    random_state: Any = None,
) -> CrossFit:
    """Fit clones on some rows each, so that the other ones can be used to calibrate.

    `cv` is a share of rows to hold out, a number of folds, or a splitter; for a frozen estimator it is not used. It may
    also be a `CrossFit` of the same rows: so wrappers share one.
    `metadata` is what `Wrapper._routed` gives; without it, weights go to `fit` if it takes any.
    """
    if isinstance(cv, CrossFit):
        return cv
    if is_frozen(estimator):
        check_is_fitted(estimator.estimator)
        return CrossFit([estimator], [np.arange(_num_samples(X))])
    metadata = Metadata.of(estimator, sample_weight) if metadata is None else metadata
    estimators, rows = [], []
    for train, rest in splits(estimator, X, y, cv=cv, random_state=random_state, **metadata.split):
        estimators.append(fitted(clone(estimator), X, y, train, metadata=metadata))
        rows.append(rest)
    return CrossFit(estimators, rows)


def fitted(
    estimator: Any,
    X: Any,
    y: Any,
    rows: Array | None = None,
    sample_weight: Any = None,
    *,
    metadata: Metadata | None = None,
) -> Any:
    """An estimator fitted to some rows, or all, with the part of the metadata that belongs to them."""
    metadata = Metadata.of(estimator, sample_weight) if metadata is None else metadata
    if rows is None:
        return estimator.fit(X, y, **metadata.fit)
    given = _check_method_params(X, metadata.fit, indices=rows)
    return estimator.fit(_safe_indexing(X, rows), _safe_indexing(y, rows), **given)


def splits(
    estimator: Any, X: Any, y: Any, *, cv: Any, random_state: Any = None, **metadata: Any
) -> Iterator[tuple[Array, Array]]:
    """Rows to fit on and rows to calibrate with."""
    classifies = is_classifier(estimator) and np.ndim(y) == 1  # several labels have no strata
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
    yield from splitter.split(X, y, **metadata)
