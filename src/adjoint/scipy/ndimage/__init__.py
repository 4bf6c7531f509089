"""What becomes of SciPy's images: filters, interpolation, morphology on traced values."""

from . import answers

__all__ = ["answers"]
