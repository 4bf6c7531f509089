"""Taylor series of functions: of one number or along a direction, and polynomials of several variables."""
