"""What becomes of SciPy's clusters on traced values."""

from . import hierarchy, vectors

__all__ = ["hierarchy", "vectors"]
