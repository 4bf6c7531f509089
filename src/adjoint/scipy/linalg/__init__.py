"""What becomes of SciPy's linear algebra on traced values."""

from . import bands, constructors, equations, factorisations, functions, triangles

__all__ = ["bands", "constructors", "equations", "factorisations", "functions", "triangles"]
