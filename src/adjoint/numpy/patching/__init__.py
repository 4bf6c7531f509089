"""Names of NumPy and SciPy that give no hook, and what stands for them while a function is traced."""
