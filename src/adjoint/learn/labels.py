"""Labels and probabilities, brought into one form in one place.

Labels are whatever scikit-learn takes: text, any integers, truth values. They are encoded here and nowhere else, so
that classes 1, 2, 3 mean the same as 0, 1, 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import _check_sample_weight

Array = np.ndarray[Any, np.dtype[Any]]

ROUNDING = 1e-6
"""By how much rows of probabilities may miss a sum of one: single precision over a few hundred classes."""


def encoded(y: Any, classes: Array) -> Array:
    """The position of each label in `classes`, which are sorted.

    >>> encoded(["b", "a"], np.array(["a", "b"]))
    array([1, 0])
    """
    labels = y if isinstance(y, np.ndarray) and y.ndim == 1 else column_or_1d(y)
    places = np.searchsorted(classes, labels)
    known = classes[np.minimum(places, len(classes) - 1)] == labels
    if not np.all(known):
        raise ValueError(f"y has the label {labels[~known][0]!r}, which is none of the classes {list(classes)}.")
    return places


def check_several(estimator: Any) -> None:
    """Raise if a classifier has met one class alone."""
    if len(estimator.classes_) < 2:
        raise ValueError(
            f"{type(estimator).__name__} needs samples of at least 2 classes in the data, but the data contains only "
            f"one class: {estimator.classes_[0]!r}."
        )


def classes_of(y: Any, count: int, labels: Any = None, *, name: str = "p") -> Array:
    """The classes that `count` columns of probabilities or logits stand for, in the order of the columns.

    These are `labels` if given, else the distinct labels in `y`; if `y` lacks some of them, whole numbers from 0 on
    are meant.
    """
    if labels is not None:
        classes = np.unique(labels)
        if len(classes) != count:
            raise ValueError(f"labels has {len(classes)} classes, but p has {count} columns.")
        return classes
    met = np.unique(column_or_1d(y))
    if len(met) == count:
        return met
    if met.dtype.kind in "iub" and met.min() >= 0 and met.max() < count:
        return np.arange(count)
    fix = ": say which by labels=" if name == "p" else ""
    raise ValueError(f"{name} has {count} columns, but y has the {len(met)} labels {list(met[:5])}{fix}.")


def probabilities(p: Any) -> Array:
    """Checked probabilities, a column for each class; a vector is the probability of the second of two."""
    values = check_array(p, ensure_2d=False, dtype=(np.float64, np.float32), ensure_min_samples=0, input_name="p")
    if values.ndim == 1:
        values = np.stack([1.0 - values, values], axis=1)
    if values.ndim != 2 or values.shape[1] < 2:
        raise ValueError(f"p has to be a vector or have a column for each class, got the shape {np.shape(p)}.")
    if values.size and (values.min() < 0.0 or values.max() > 1.0 + ROUNDING):
        raise ValueError("p has to be probabilities between 0 and 1; of logits, take the softmax first.")
    if np.any(np.abs(values.sum(axis=1) - 1.0) > ROUNDING * np.sqrt(values.shape[1])):
        raise ValueError("p has rows that do not sum to 1; of logits, take the softmax first.")
    return values


@dataclass(frozen=True)
class Predictions:
    """Probabilities of classes beside the true ones: `p` is (n, classes), `codes` and `weights` are (n,)."""

    p: Array
    codes: Array
    weights: Array


def predictions(y: Any, p: Any, *, labels: Any = None, sample_weight: Any = None) -> Predictions:
    """Checked probabilities and encoded labels; a vector `p` is the probability of the greater of two labels."""
    values = probabilities(p)
    check_consistent_length(values, y)
    codes = encoded(y, classes_of(y, values.shape[1], labels))
    weights = _check_sample_weight(sample_weight, values, dtype=np.float64, ensure_non_negative=True)
    return Predictions(values, codes, weights)
