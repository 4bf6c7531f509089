"""Branches and loops of a Python program, found while it is recorded: paths that join, and iterations as loops."""
