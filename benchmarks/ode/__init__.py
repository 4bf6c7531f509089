"""Differential equations: `ad.odeint`, compiled, against SciPy's `solve_ivp` and JAX's `odeint`."""
