"""From a call of a Python function to a program: what the function reaches, and what its run records."""
