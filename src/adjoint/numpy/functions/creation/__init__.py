"""Array creation routines: from shapes and values, ranges, matrices."""
