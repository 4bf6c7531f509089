"""Mathematical functions: sums, differences, rounding, complex numbers, extrema."""
