"""What becomes of SciPy's sparse matrices on traced values."""

from . import answers, arithmetic, building, matrices, products

__all__ = ["answers", "arithmetic", "building", "matrices", "products"]
