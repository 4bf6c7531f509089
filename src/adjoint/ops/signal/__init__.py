"""Primitives of signals and images, which SciPy evaluates: imported with SciPy's own modules, never before."""
