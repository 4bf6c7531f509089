"""Short-cuts for speed, apart from the idea: operators, Python floats that stand for NumPy's, memory used again."""
