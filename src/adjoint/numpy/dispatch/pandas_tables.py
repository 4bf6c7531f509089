"""Products of pandas' tables with traced values: `table @ x`, which pandas would try to convert, is an array."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.traced import Traced
from ..patching.replacements import Answer, divert
from .foreign import check_labels, foreign


def _dot(original: Callable[..., Any], self: Any, other: Any) -> Any:
    """By position; labels that the table is multiplied along have to be those that were met before."""
    if not isinstance(other, Traced) or not other.shape:
        return original(self, other)
    numbers = foreign(self, other)
    if self.ndim > 1:
        check_labels(self, self.columns, other)
    return np.dot(numbers, other)


def teach() -> None:
    """Let products of pandas, which has been imported, hand traced values to arrays."""
    pandas = sys.modules["pandas"]
    for kind in (pandas.DataFrame, pandas.Series):
        divert(vars(kind)["dot"], Answer(ours=_dot, calls_back=True), f"pandas.{kind.__name__}.dot")
