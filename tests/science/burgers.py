"""Viscosity and initial amplitude of Burgers' equation, by a pseudo-spectral method."""

import numpy as np
from scipy import fft
from scipy.optimize import minimize_scalar

n = 32
x = 2 * np.pi * np.arange(n) / n
k = fft.rfftfreq(n, 1 / n)
keep = k < n / 3  # two thirds rule
dt, steps = 0.02, 25


def nonlinear(u_hat):
    u = fft.irfft(u_hat, n)
    u_x = fft.irfft(1j * k * u_hat, n)
    return -fft.rfft(u * u_x) * keep


def evolve(u0, viscosity):
    decay = np.exp(-viscosity * k**2 * dt / 2)
    u_hat = fft.rfft(u0)
    for _ in range(steps):
        a = dt * nonlinear(u_hat)
        b = dt * nonlinear(decay * (u_hat + a / 2))
        c = dt * nonlinear(decay * u_hat + b / 2)
        d = dt * nonlinear(decay**2 * u_hat + decay * c)
        u_hat = decay**2 * u_hat + (decay**2 * a + 2 * decay * (b + c) + d) / 6
    return fft.irfft(u_hat, n)


observed = evolve(np.sin(x), 0.08)[::4]


def misfit(p):
    viscosity = np.exp(p[0])
    u = evolve(p[1] * np.sin(x) + p[2] * np.cos(2 * x), viscosity)
    spectrum = np.abs(fft.rfft(u)) ** 2 / n
    return (
        np.sum((u[::4] - observed) ** 2) + 1e-3 * np.log(spectrum[1:6].sum()) + 1e-4 * fft.dct(u, norm="ortho")[3] ** 2
    )


if __name__ == "__main__":
    print(minimize_scalar(lambda q: misfit(np.array([q, 1.0, 0.0])), bounds=(-5, 0), method="bounded"))
