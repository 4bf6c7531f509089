"""The catalogue: every primitive, by topic. Importing this package fills the registry."""

from . import arithmetic, complex, contraction, exponential, indexing, places, reduction, selection, shape, trigonometric
from . import decompositions, fourier, linalg, matrix_functions, product, singular, spectra, transcendental
from .declare import CATALOGUE, UFUNCS

__all__ = [
    "CATALOGUE", "UFUNCS", "arithmetic", "complex", "contraction", "exponential", "indexing", "reduction", "selection",
    "places", "shape", "trigonometric", "decompositions", "fourier", "linalg", "matrix_functions", "singular", "spectra",
    "product", "transcendental",
]  # fmt: skip
