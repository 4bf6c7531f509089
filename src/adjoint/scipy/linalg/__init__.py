"""What becomes of SciPy's linear algebra on traced values."""

from . import bands, constructors, equations, factorisations, functions, triangles
from .precision import widen

__all__ = ["bands", "constructors", "equations", "factorisations", "functions", "triangles"]

widen("scipy.linalg")
