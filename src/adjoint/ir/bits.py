"""Whether arrays hold the same bits: nan is like nan, and 0.0 is not like -0.0."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

SMALL = 256
"""Bytes up to which copying them costs less than a foreign call."""


def _compare() -> Any:
    try:
        found = ctypes.CDLL(None).memcmp
    except (OSError, TypeError, AttributeError):  # no such library by that name here
        return None
    found.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
    found.restype = ctypes.c_int
    return found


_memcmp = _compare()


class Copy:
    """What an array held when it was looked at."""

    __slots__ = ("array",)

    def __init__(self, x: np.ndarray) -> None:
        self.array = np.array(np.ndarray.view(x, np.ndarray), order="C")

    def is_like(self, x: np.ndarray) -> bool:
        """Whether an array holds this still."""
        return same_bits(self.array, np.ndarray.view(x, np.ndarray))  # a subclass may say something else


def frozen(value: object) -> Any:
    """A copy that stays as it is."""
    return value.copy() if isinstance(value, np.ndarray) else value


def same_bits(a: Any, b: Any) -> bool:
    """Whether two arrays of one shape and dtype hold the same."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype.hasobject:
        return all(x is y for x, y in zip(a.ravel().tolist(), b.ravel().tolist(), strict=True))
    if a.dtype.char in "gG":  # some of their bytes mean nothing
        alike = ((a == b) & (np.signbit(a.real) == np.signbit(b.real))) | ((a != a) & (b != b))
        return bool(alike.all())
    if a.nbytes <= SMALL or _memcmp is None:
        return bool(a.tobytes() == b.tobytes())
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    return bool(_memcmp(a.ctypes.data, b.ctypes.data, a.nbytes) == 0)
