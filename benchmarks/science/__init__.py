"""Whole fits of scientists' models: SciPy's solvers by differences, with exact derivatives of ours, and with JAX's."""
