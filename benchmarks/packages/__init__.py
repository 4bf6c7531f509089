"""Functions of other people's packages, differentiated as they stand: `python -m benchmarks.packages`."""
