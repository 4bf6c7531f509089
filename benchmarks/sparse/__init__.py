"""Sparse Jacobians and Hessians against dense ones and against stencils written by hand."""
