"""Indexing routines: index arrays, picking elements, inserting data."""
