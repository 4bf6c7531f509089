"""Timings against other libraries: `python -m benchmarks`. See results.md for the last table."""
