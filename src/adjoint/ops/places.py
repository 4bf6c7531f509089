"""Places found by looking at values: piecewise constant, so they carry no derivative; the elements there do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.entry.facts import EMBEDDED, SUM, Form
from ..core.entry.moves import Shape
from ..core.errors import BatchError, message
from ..core.values import describe
from ..rules.stacking import leading, one_by_one
from . import costs
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


def _search_text(shapes: Sequence[Shape], params: dict[str, Any]) -> str:
    return "np.searchsorted({0}, {1}, {side}, {2})" if len(shapes) > 2 else "np.searchsorted({0}, {1}, {side})"


partition_places = declare(
    "partition_places",
    _partition_places,
    CONSTANT,
    stacking=leading,
    form=Form(source=EMBEDDED),
    cost=costs.sort,
)
argpartition = declare(
    "argpartition",
    lambda x, *, kth, axis, kind: np.argpartition(x, kth, axis, kind),
    CONSTANT,
    stacking=leading,
    form=Form(source="np.argpartition({0}, {kth}, {axis}, {kind})"),
    cost=costs.each_element,
)
lexsort = declare(
    "lexsort",
    lambda *keys, axis: np.lexsort(keys, axis),
    CONSTANT,
    stacking=one_by_one,
    form=Form(source="np.lexsort(({all},), {axis})"),
    cost=costs.sort,
)
searchsorted = declare(
    "searchsorted",
    _search,
    CONSTANT,
    stacking=one_by_one,
    fails_from=2,
    form=Form(source=_search_text),
    cost=costs.search,
)
isin = declare(
    "isin",
    lambda x, tests, *, kind: np.isin(x, tests, kind=kind),
    CONSTANT,
    stacking=one_by_one,
    form=Form(source="np.isin({0}, {1}, kind={kind})"),
)
digitize = declare(
    "digitize",
    lambda x, bins, *, right: np.digitize(x, bins, right),
    CONSTANT,
    stacking=one_by_one,
    fails_from=1,
    form=Form(source="np.digitize({0}, {1}, {right})"),
    cost=costs.search,
)
nonzero = declare(
    "nonzero",
    lambda x: np.stack(np.nonzero(x)),
    CONSTANT,
    stacking=_refuse,
    fails_from=0,
    form=Form(source="np.stack(np.nonzero({0}))"),
    cost=costs.nothing,
    ragged=True,
)
unique = declare(
    "unique",
    _unique_places,
    CONSTANT,
    stacking=_refuse,
    multiple=True,
    fails_from=0,
    form=Form(source=EMBEDDED),
    cost=costs.sort,
    ragged=True,
)

bin_of = declare(
    "bin_of",
    lambda x, edges: np.searchsorted(edges, x, side="right") - 1,
    CONSTANT,
    stacking=one_by_one,
    note="which of the bins, of ascending edges, a number is in",
    form=Form(source="np.searchsorted({1}, {0}, 'right') - 1", hold=SUM),
)
