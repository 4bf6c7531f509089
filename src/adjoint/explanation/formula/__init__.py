"""What a number stands for: expressions, as text and for SymPy."""
