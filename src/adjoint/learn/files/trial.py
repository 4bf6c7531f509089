"""A trial of a model: what it predicts for one made-up row, kept beside it and looked at when it is loaded.

Wrong shapes, missing attributes and versions of scikit-learn that mean something else by an attribute show here, where
the file can still be named.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from adjoint import nn

from ..labels import Array

METHODS = ("predict_proba", "decision_function", "transform")
"""Of these the first that there is, is tried; those of `ALSO` are tried in any case."""
ALSO = ("predict", "predict_set", "predict_interval")
MOST_COLUMNS = 100_000

Trial = tuple[Any, list[Any], list[Array]]
"""Names of columns or None, the values of a row, and what the model gives for it."""


def tried(model: Any) -> Trial | None:
    """A row, and what the model gives for it; None for a model that takes none that can be thought of."""
    for names, values in _rows(model):
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                return names, values, _given(model, names, values)
        except Exception:  # noqa: S112  (whatever an estimator says of a row that it does not take)
            continue
    return None


def _rows(model: Any) -> Iterator[tuple[Any, list[Any]]]:
    """Zeros; with names of columns; with a known category where the model has met some."""
    count = getattr(model, "n_features_in_", 0) or _inputs(model) or 1
    if not 0 < count <= MOST_COLUMNS:
        return
    yield None, [0.0] * count
    if hasattr(model, "feature_names_in_"):
        names = [str(name) for name in model.feature_names_in_]
        known: dict[str, Any] = {**categories_of(model), **dict.fromkeys(dates_of(model), "2000-01-01")}
        yield names, [known.get(name, 0.0) for name in names]
        yield names, [None] * count


def _inputs(model: Any) -> int:
    """The number of inputs of a model of `nn` that begins with a dense layer; 0 for any other."""
    if hasattr(model, "fit") or not callable(model):
        return 0
    first = next(iter(nn.parameters(model).values()), np.empty(0))
    return len(first) if first.ndim == 2 else 0


def categories_of(model: Any) -> dict[str, str]:
    """The first category of each column of texts, from all encoders and imputers inside a model."""
    found: dict[str, str] = {}
    for x in _estimators(model, set()):
        if hasattr(x, "feature_names_in_"):
            known = getattr(x, "categories_", None) or [[value] for value in getattr(x, "statistics_", ())]
            for name, categories in zip(x.feature_names_in_, known, strict=False):
                if len(categories) and isinstance(categories[0], str):
                    found[str(name)] = str(categories[0])
    return found | dict.fromkeys(_columns_of_kind(model, "word"), "")


def dates_of(model: Any) -> set[str]:
    """The columns of dates, from all encoders inside a model that know of any."""
    return _columns_of_kind(model, "date")


def _columns_of_kind(model: Any, kind: str) -> set[str]:
    """From encoders that read tables by themselves."""
    pairs = [zip(x.names_, x.kinds_, strict=False) for x in _estimators(model, set()) if hasattr(x, "kinds_")]
    return {str(name) for pair in pairs for name, own in pair if own == kind}


def _estimators(x: Any, met: set[int]) -> Iterator[Any]:
    """All estimators inside a model, and itself."""
    if id(x) in met or not isinstance(x, (list, tuple, dict, BaseEstimator)):
        return
    met.add(id(x))
    inside = x if isinstance(x, (list, tuple, dict)) else vars(x)
    for part in list(inside.values()) if isinstance(inside, dict) else inside:
        yield from _estimators(part, met)
    if isinstance(x, BaseEstimator):
        yield x


def outcome(model: Any, trial: Any) -> Any:
    """What a loaded model gives for the row of its trial."""
    return None if trial is None else (*trial[:2], _given(model, *trial[:2]))


def _given(model: Any, names: Any, values: list[Any]) -> list[Array]:
    if len(values) > MOST_COLUMNS:
        raise ValueError(f"a row of {len(values)} columns")
    row: Any = np.array([values])
    if names is not None:
        import pandas as pd

        row = pd.DataFrame([values], columns=names)
    if not hasattr(model, "fit"):
        return [_dense(model(row))]
    called = [name for name in METHODS if hasattr(model, name)][:1] + [name for name in ALSO if hasattr(model, name)]
    return [_dense(getattr(model, name)(row)) for name in called]


def _dense(values: Any) -> Array:
    found = np.asarray(values.todense() if hasattr(values, "todense") else values)
    return found.astype(object) if found.dtype.kind not in "biufUSO" else found


def same(found: Any, trial: Any) -> bool:
    """Whether predictions are those of the trial, but for rounding."""
    if found is None or trial is None:
        return found is trial
    return len(found[2]) == len(trial[2]) and all(map(_alike, found[2], trial[2]))


def _alike(a: Any, b: Any) -> bool:
    if not isinstance(b, np.ndarray) or a.shape != b.shape:
        return False
    if a.dtype.kind in "biuf" and b.dtype.kind in "biuf":
        return bool(np.allclose(a, b, rtol=1e-6, atol=1e-9, equal_nan=True))
    return a.tolist() == b.tolist()
