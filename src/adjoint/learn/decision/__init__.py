"""Decisions of least expected cost."""
