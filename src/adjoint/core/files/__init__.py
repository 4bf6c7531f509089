"""Files that the library writes: each of them is whole at any moment, and nothing else is left behind."""
