"""Masks: sets of elements as arrays of truth values, True for everywhere, or None for nowhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..traced import Traced
from ..types import Mask, Numeric
from ..values import shape_of, sum_to


def either(mask: Mask | None, other: Mask | None) -> Any:
    """Where one of two masks holds. A mask is an array, True for everywhere, or None for nowhere."""
    mask, other = _mask(mask), _mask(other)
    if mask is True or other is True:
        return True
    return other if mask is None else mask if other is None else mask | other


def both(mask: Mask | None, other: Mask | None) -> Any:
    """Where two masks hold."""
    mask, other = _mask(mask), _mask(other)
    if mask is None or other is None:
        return None
    return other if mask is True else mask if other is True else mask & other


def but(mask: Mask | None, other: Mask | None) -> Any:
    """Where one mask holds and another does not."""
    mask, other = _mask(mask), _mask(other)
    return None if other is True else mask if other is None else both(mask, np.logical_not(other))


def _mask(x: Mask | None) -> Any:
    return (True if x else None) if type(x) in (bool, np.bool) else x


def spread_out(mask: Mask | None) -> Any:
    """A mask after a map of which only the numbers are known: everywhere if anywhere."""
    return None if mask is None else np.any(mask)


def nonzero(infinite: Numeric | None) -> Any:
    """Where a value is not 0."""
    return None if infinite is None else np.not_equal(infinite, 0)


def is_zero(infinite: Numeric | None) -> Any:
    """Where a value is 0."""
    return None if infinite is None else np.equal(infinite, 0)


def fitted(mask: Mask | None, shape: tuple[int, ...]) -> Any:
    """A mask after broadcasting has been undone."""
    if mask is None or shape_of(mask) == shape:
        return mask
    return np.not_equal(sum_to(np.where(mask, 1.0, 0.0), shape), 0)


def support_of(counts: Numeric) -> Any:
    """Where anything has arrived; None means everywhere."""
    reached = np.not_equal(counts, 0)
    if type(reached) is np.bool:
        return None if reached else reached
    return None if not isinstance(reached, Traced) and np.all(reached) else reached
