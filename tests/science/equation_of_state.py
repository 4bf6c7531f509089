"""Constants of the van der Waals equation from molar volumes and vapour pressures of carbon dioxide."""

import math

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq, fsolve, least_squares

R = 0.08314  # L bar / (mol K)
temperature = np.array([320.0, 350.0, 400.0, 450.0])
pressure = np.array([40.0, 60.0, 80.0, 50.0])
volume = np.array([0.529, 0.402, 0.354, 0.712])


def P(V, T, a, b):
    return R * T / (V - b) - a / V**2


def molar_volume(p, T, a, b):
    return brentq(lambda V: P(V, T, a, b) - p, 1.5 * b, 10 * R * T / p, xtol=1e-13)


def vapour_pressure(T, a, b):
    """Maxwell's rule of equal areas."""

    def equations(u):
        V1, V2 = u
        area = quad(P, V1, V2, args=(T, a, b))[0]
        return [P(V1, T, a, b) - P(V2, T, a, b), area - P(V1, T, a, b) * (V2 - V1)]

    V1, V2 = fsolve(equations, [1.9 * b, 7.0 * b], xtol=1e-12)
    return P(V2, T, a, b)


def cost(parameters):
    a, b = parameters
    total = 0.0
    for p, T, V in zip(pressure, temperature, volume):
        total += (math.log(molar_volume(p, T, a, b)) - math.log(V)) ** 2
    total += (vapour_pressure(270.0, a, b) / 45.0 - 1) ** 2
    return total


if __name__ == "__main__":
    fit = least_squares(lambda q: [cost(q)], [3.6, 0.043], x_scale=[1, 0.01])
    print("a, b =", fit.x, "volumes", [molar_volume(p, T, *fit.x) for p, T in zip(pressure, temperature)])
