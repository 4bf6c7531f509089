"""From a call of a function to a program, and what surrounds it."""
