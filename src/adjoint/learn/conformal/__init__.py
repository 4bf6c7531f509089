"""Sets and intervals that hold the truth with a probability that was asked for."""
