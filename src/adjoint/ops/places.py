"""Places found by looking at values: piecewise constant, so they carry no derivative; the elements there do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.errors import BatchError, message
from ..core.values import describe
from ..rules.stacking import leading, one_by_one
from .declare import CONSTANT, declare


def _refuse(primitive: Any, values: Sequence[Any], batched: Sequence[bool], params: dict, size: int) -> Any:
    raise BatchError(
        message(
            f"np.{primitive.name} finds a different number of elements in each example of a batch.",
            got=describe(values[batched.index(True)]),
            fix="Use a mask of fixed shape, as in  np.where(condition, x, 0.0).",
        )
    )


def _partition_places(x: Any, *, kth: Any, axis: int, kind: str) -> Any:
    """Where each element of `np.partition` came from; its order between the pivots is NumPy's own."""
    found = np.partition(x, kth, axis, kind)
    places = np.empty(x.shape, int)
    np.put_along_axis(places, np.argsort(found, axis, kind="stable"), np.argsort(x, axis, kind="stable"), axis)
    return places


def _unique_places(x: Any, *, axis: int | None, equal_nan: bool, sorted: bool) -> Any:
    """Where the elements of `np.unique` came from, the inverse and the counts, and the values themselves."""
    _, first, inverse, counts = np.unique(x, True, True, True, axis, equal_nan=equal_nan)
    values = np.unique(x, axis=axis, equal_nan=equal_nan, sorted=sorted)
    if axis is None and not sorted:  # NumPy may give the values in the order of a hash table
        first = first[np.argsort(np.argsort(values, kind="stable"), kind="stable")]
    return first, inverse, counts


def _search(a: Any, v: Any, *sorter: Any, side: str) -> Any:
    return np.searchsorted(a, v, side, *sorter)


partition_places = declare("partition_places", _partition_places, CONSTANT, stacking=leading)
argpartition = declare(
    "argpartition", lambda x, *, kth, axis, kind: np.argpartition(x, kth, axis, kind), CONSTANT, stacking=leading
)
lexsort = declare("lexsort", lambda *keys, axis: np.lexsort(keys, axis), CONSTANT, stacking=one_by_one)
searchsorted = declare("searchsorted", _search, CONSTANT, stacking=one_by_one, fails_from=2)
isin = declare("isin", lambda x, tests, *, kind: np.isin(x, tests, kind=kind), CONSTANT, stacking=one_by_one)
digitize = declare(
    "digitize", lambda x, bins, *, right: np.digitize(x, bins, right), CONSTANT, stacking=one_by_one, fails_from=1
)
nonzero = declare("nonzero", lambda x: np.stack(np.nonzero(x)), CONSTANT, stacking=_refuse, fails_from=0)
unique = declare("unique", _unique_places, CONSTANT, stacking=_refuse, multiple=True, fails_from=0)
