"""What becomes of SciPy's distances on traced values."""

from . import pairs, vectors

__all__ = ["pairs", "vectors"]
