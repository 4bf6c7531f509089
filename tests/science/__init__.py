"""Scripts as scientists write them, in plain NumPy, SciPy and pandas: they know nothing of this library."""
