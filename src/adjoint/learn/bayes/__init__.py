"""Posteriors over weights: Laplace's approximation, averages over models, and a grid to teach with."""
