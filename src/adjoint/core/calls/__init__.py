"""Calls of the user's code that meet the library: their names, and errors and warnings at their lines."""
