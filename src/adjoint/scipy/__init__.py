"""The SciPy face: `adjoint.scipy.<topic>` has what stands in for the plain Python functions of `scipy.<topic>`."""
