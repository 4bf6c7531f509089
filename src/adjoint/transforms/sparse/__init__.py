"""Sparse derivatives: patterns from programs, colourings, and compressed Jacobians and Hessians."""
