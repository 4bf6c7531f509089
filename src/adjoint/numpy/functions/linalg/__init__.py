"""Linear algebra: products, decompositions, norms, equations."""
