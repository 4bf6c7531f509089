"""Differential equations in one loop of machine code: `odeint`."""
