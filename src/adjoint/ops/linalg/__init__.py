"""Linear algebra: solving, factorisations, eigenvalues, functions of matrices."""
