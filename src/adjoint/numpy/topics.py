"""Topics of NumPy that are loaded when the first of their functions is met: importing the library stays cheap."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from ..ops import special
from ..ops.declare import UFUNCS
from .registry import FUNCTIONS

TOPICS = (
    "applying", "assigning", "building", "calculus", "einsum", "elementary", "fourier", "joining", "linalg", "missing",
    "names", "norms", "orders", "padding", "picking", "polynomials", "products", "quantiles", "questions", "spacing",
    "splitting", "statistics",
)  # fmt: skip


def load() -> None:
    """Fill the registries with everything but SciPy's functions; a second call does nothing."""
    for topic in TOPICS:
        importlib.import_module(f".{topic}", __package__)


def implementation_of(function: Any) -> Any:
    """Our version of a NumPy function, or None."""
    found = FUNCTIONS.get(function)
    if found is None:
        load()
        found = FUNCTIONS.get(function)
    return found


def primitive_of(ufunc: Any) -> Any:
    """The primitive of a universal function, or None. SciPy's enter the catalogue when the first of them is met."""
    found = UFUNCS.get(ufunc)
    if found is None:
        load()
        if "scipy.special" in sys.modules:
            special.load()
        found = UFUNCS.get(ufunc)
    return found
