"""What becomes of SciPy's interpolation on traced values."""

from . import bernstein, bsplines, cubic, fitpack, fitting, grids, lines, piecewise, polynomials, scattered, surfaces

__all__ = [
    "bernstein", "bsplines", "cubic", "fitpack", "fitting", "grids", "lines", "piecewise", "polynomials",
    "scattered", "surfaces",
]  # fmt: skip
