"""Calibration scores by groups: all together, by class, or by a property of the example."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import Interval

from ..labels import Array
from ..wrapping import CV

ALL = 0
"""The group of everybody, where no groups are asked for."""


def groups_of(by: Any, X: Any, count: int) -> Array:
    """The group of each row: the value of a column, of several, or what a function of X says."""
    if by is None:
        return np.full(count, ALL)
    if callable(by):
        found = np.asarray(by(X))
        if found.shape != (count,):
            raise ValueError(f"by has to give one group for each of {count} rows, got the shape {found.shape}.")
        return found
    if isinstance(by, (list, tuple)):
        columns = [np.asarray(_safe_indexing(X, c, axis=1)).ravel() for c in by]
        return np.array(["\x1f".join(map(str, row)) for row in zip(*columns, strict=True)])
    return np.asarray(_safe_indexing(X, by, axis=1)).ravel()


def each_group(groups: Array, known: dict[Any, Any], words: str) -> list[tuple[Any, Array]]:
    """The groups among new rows, with their rows; one without calibration examples is refused."""
    found = []
    for name in np.unique(groups).tolist():
        if name not in known:
            raise ValueError(f"{words} {name!r} has no calibration examples.")
        found.append((name, np.flatnonzero(groups == name)))
    return found


Grouping = None | str | int | list[Any] | Callable[[Any], Any]

CONSTRAINTS: dict[str, Any] = {
    "coverage": [Interval(Real, 0, 1, closed="neither")],
    "by": [str, Integral, list, tuple, callable, None],
    "weight": [callable, None],
    "cv": CV,
    "random_state": ["random_state"],
}
"""What parameters of sets and intervals alike may be."""
