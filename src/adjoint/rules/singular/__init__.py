"""Derivatives that a sweep does not tell: limits at points nearby, and functions that take other steps there."""
