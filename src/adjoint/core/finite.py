"""Whether cotangents and tangents are finite, which decides between the plain walk and the careful one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .traced import Traced
from .values import FLOATS, LARGE, Value, raw


def all_finite(cotangents: list[Value | None]) -> bool:
    """Whether no element of any cotangent is nan or infinite."""
    for c in cotangents:
        if c is None:
            continue
        x = c if type(c) in FLOATS else raw(c)
        if not (math.isfinite(x) if type(x) in FLOATS else _is_finite(x)):
            return False
    return True


SMALL = 32


def _is_finite(x: Any) -> bool:
    """A quick sufficient test first: nan and infinities survive a sum, and a sum of squares."""
    if type(x) is np.ndarray and x.dtype.kind == "f":
        if x.size <= SMALL:
            total = sum(x.ravel().tolist())
        elif x.size < LARGE:
            flat = x.ravel()
            total = flat.dot(flat)  # BLAS, which would wake threads for a large array
        else:
            total = np.add.reduce(x, axis=None)
        if math.isfinite(total):
            return True
    found: Any = np.all(np.isfinite(x))
    if not isinstance(found, Traced):
        return bool(found)
    capture: Any = found.walk
    return bool(capture.decided(found, "the derivative is finite"))
