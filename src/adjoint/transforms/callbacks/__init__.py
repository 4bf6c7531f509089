"""Functions that solvers call back: plain copies for the solver, themselves for the derivative."""
