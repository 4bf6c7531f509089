"""What becomes of SciPy's signals: convolutions, filters, windows on traced values."""

from . import answers

__all__ = ["answers"]
