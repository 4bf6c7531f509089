"""What the laws are run on: primitives, NumPy's functions, SciPy's functions. Tables here, tests elsewhere."""
