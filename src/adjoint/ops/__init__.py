"""The catalogue: every primitive, by topic. What most programs use is entered here; the rest when it is first met."""

from . import arithmetic, complex, contraction, exponential, indexing, reduction, selection, shape, trigonometric
from .declare import CATALOGUE, UFUNCS

__all__ = [
    "CATALOGUE", "UFUNCS", "arithmetic", "complex", "contraction", "exponential", "indexing", "reduction", "selection",
    "shape", "trigonometric",
]  # fmt: skip
