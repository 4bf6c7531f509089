"""Our version of a function of NumPy's or SciPy's: files of compositions are imported as they are needed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.primitive import Primitive
from ...ops import special
from ...ops.declare import UFUNCS
from ..functions import imported
from .registry import FUNCTIONS


def implementation_of(function: Any) -> Callable[..., Any] | None:
    """Our version of a NumPy function, or None."""
    found = FUNCTIONS.get(function)
    if found is None:
        for _ in imported():
            found = FUNCTIONS.get(function)
            if found is not None:
                break
    return found


def primitive_of(ufunc: np.ufunc) -> Primitive | None:
    """The primitive of a universal function, or None. SciPy's enter the catalogue when the first of them is met."""
    found = UFUNCS.get(ufunc)
    if found is None:
        for _ in imported():
            found = UFUNCS.get(ufunc)
            if found is not None:
                return found
        if "scipy.special" in sys.modules:
            special.load()
        found = UFUNCS.get(ufunc)
    return found
