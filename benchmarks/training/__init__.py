"""Training whole models: `python -m benchmarks.training` compares `ad.train` with scikit-learn, JAX and PyTorch."""
