"""What becomes of SciPy's Fourier transforms on traced values."""

from . import fourier, real

__all__ = ["fourier", "real"]
