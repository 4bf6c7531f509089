"""How calls of NumPy's functions, operators and methods reach the library."""
