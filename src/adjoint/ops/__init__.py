"""The catalogue: every primitive, by topic. Importing this package fills the registry."""

from . import (
    arithmetic,
    complex,
    contraction,
    decompositions,
    exponential,
    fourier,
    indexing,
    linalg,
    matrix_functions,
    places,
    product,
    reduction,
    selection,
    shape,
    singular,
    spectra,
    transcendental,
    trigonometric,
)
from .declare import CATALOGUE, UFUNCS

__all__ = [
    "CATALOGUE", "UFUNCS", "arithmetic", "complex", "contraction", "decompositions", "exponential", "fourier",
    "indexing", "linalg", "matrix_functions", "places", "product", "reduction", "selection", "shape", "singular",
    "spectra", "transcendental", "trigonometric",
]  # fmt: skip
