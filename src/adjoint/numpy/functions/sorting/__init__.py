"""Sorting, searching, and counting."""
