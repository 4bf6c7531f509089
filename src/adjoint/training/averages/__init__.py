"""Averages of weights over a run: by step with a decay, or by epoch with batch statistics that are renewed."""
