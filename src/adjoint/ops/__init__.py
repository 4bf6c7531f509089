"""The catalogue: every primitive, by topic. Importing this package fills the registry."""

from . import arithmetic, complex, contraction, exponential, indexing, reduction, selection, shape, trigonometric
from .declare import CATALOGUE, UFUNCS

__all__ = [
    "CATALOGUE", "UFUNCS", "arithmetic", "complex", "contraction", "exponential", "indexing", "reduction", "selection",
    "shape", "trigonometric",
]  # fmt: skip
