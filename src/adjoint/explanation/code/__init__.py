"""The derivative as NumPy source."""
