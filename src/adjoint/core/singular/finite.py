"""Whether cotangents and tangents are finite, which decides between the plain sweep and the careful one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..calls.float_warnings import is_quiet, quiet
from ..traced import ARRAY, Traced
from ..types import Numeric
from ..values import FLOATS, LARGE, decidable


def all_finite(values: Sequence[Numeric | None], what: str = "the derivative") -> bool:
    """Whether no element of any value is nan or infinite; `what` they are, for whoever reads a program."""
    for c in values:
        if c is None:
            continue
        x: Any = c if type(c) in PLAIN else decidable(c)
        if not (math.isfinite(x) if type(x) in FLOATS else _is_finite(x, what)):
            return False
    return True


SMALL = 32
PLAIN = FLOATS | {np.ndarray}


def _is_finite(x: Numeric, what: str) -> bool:
    """A quick sufficient test first: nan and infinities survive a sum, and a sum of squares."""
    if type(x) is ARRAY and x.dtype.kind == "f":
        total = sum(x.ravel().tolist()) if x.size <= SMALL else (_total if is_quiet() else _quiet_total)(x)
        if math.isfinite(total):
            return True
    found: Any = np.all(np.isfinite(x))
    if not isinstance(found, Traced):
        return bool(found)
    return bool(found.traced_by.decided(found, f"{what} is finite", likely=True))


def _total(x: np.ndarray) -> Any:
    """A sum of squares, or a sum, which may be too large although no element is."""
    if x.size <= LARGE:
        flat = x.ravel()
        return flat.dot(flat)  # BLAS, which would wake threads for a large array
    return np.add.reduce(x, axis=None)


_quiet_total = quiet(_total)
