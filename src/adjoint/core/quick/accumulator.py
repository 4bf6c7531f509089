"""Whose memory a cotangent is: an `Accumulator` has made its array, so that it may write to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Numeric


class Accumulator:
    """A sum of cotangents in a large array that nobody else sees before the sweep back has come to its place."""

    __slots__ = ("total",)

    def __init__(self, total: np.ndarray) -> None:
        self.total = total

    def __add__(self, c: Numeric) -> Any:
        if type(c) is not np.ndarray:
            return self.total + c  # which may be traced, or of another kind
        np.add(self.total, c, out=self.total)
        return self


def accumulated(had: Accumulator | Numeric, c: np.ndarray, *, is_new: bool) -> Any:
    """The sum of large cotangents at a fan-out; `is_new` says that nobody else has the second one's array."""
    if type(had) is not np.ndarray:
        return had + c  # type: ignore[operator]
    return Accumulator(np.add(had, c, out=c if is_new else None))
