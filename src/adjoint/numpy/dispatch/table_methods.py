"""Tables that a traced function has met: their methods follow other rules than those of arrays.

What comes of a table and a traced value is an array. Where a method of it would give another number than that of the
table, `x.std()` above all, it is refused.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError, message
from ...core.traced import Traced
from ...core.values import describe
from ...host.frames.ownership import is_library
from .lookup import implementation_of
from .registry import behaviour_of

_local = threading.local()
KEPT = 64
"""Of so many traces it is known which tables they met: those of callbacks come and go while others wait."""

SPREADS = frozenset((np.var, np.std))
"""What divides by one less in a table."""


class MetTables:
    """The tables that one trace has met: shapes, lengths, and lengths of those with missing numbers."""

    __slots__ = ("lengths", "missing", "shapes")

    def __init__(self) -> None:
        self.shapes: set[tuple[int, ...]] = set()
        self.lengths: set[int] = set()
        self.missing: set[int] = set()


def outermost(handle: Traced) -> int:
    """The level of the first trace that a value is in."""
    while isinstance(handle.value, Traced):
        handle = handle.value
    return handle.traced_by.level


def note(numbers: np.ndarray[Any, Any], handle: Traced) -> None:
    """Remember that a table of these numbers took part."""
    known: dict[int, MetTables] | None = getattr(_local, "met", None)
    if known is None:
        known = _local.met = {}
    met = known.setdefault(outermost(handle), MetTables())
    if len(known) > KEPT:
        del known[next(iter(known))]
    met.shapes.add(numbers.shape)
    met.lengths.update(numbers.shape)
    if numbers.dtype.kind in "fc" and np.isnan(numbers).any():
        met.missing.update(numbers.shape)


def refuse_rules_of_tables(handle: Traced, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuse a method whose result would be another one if the value were a table, as it is in the plain function."""
    known: dict[int, MetTables] | None = getattr(_local, "met", None)
    if known is None or implementation_of(function) is None or not behaviour_of(function).by_column:
        return
    met = known.get(outermost(handle))
    if met is None or not met.lengths.intersection(handle.shape) or is_library(sys._getframe(2)):
        return  # SciPy's own code has made an array of a table before
    name = function.__name__
    if function in SPREADS and "ddof" not in kwargs and len(args) < 4:
        what, fix = (
            "divides by n - 1, of an array by n",
            f"Write  x.{name}(ddof=1),  which both have, or  np.{name}(x).",
        )
    elif handle.ndim > 1 and handle.shape in met.shapes and not args and "axis" not in kwargs:
        what, fix = "goes column by column, of an array over all", f"Write  x.{name}(axis=0),  which both have."
    elif met.missing.intersection(handle.shape):
        what, fix = "leaves out missing numbers, of an array it does not", "Leave them out first:  series.dropna()."
    else:
        return
    raise UnsupportedError(
        message(
            f"The method {name}() of a table {what}, and this value may come of one.", got=describe(handle), fix=fix
        )
    )
