"""Runs that go on from a file: what is in it, what decides whether it is of the same run, and how it is read."""
