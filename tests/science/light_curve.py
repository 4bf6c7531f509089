"""The delay between two light curves: a spline through the first, shifted and scaled to the second."""

import numpy as np
from scipy.interpolate import CubicSpline, make_lsq_spline
from scipy.optimize import minimize

rng = np.random.default_rng(5)


def brightness(t):
    return np.sin(t) + 0.4 * np.cos(2.3 * t)


t1, t2 = np.sort(rng.uniform(0, 10, 40)), np.sort(rng.uniform(1, 9, 30))
f1 = brightness(t1) + 0.03 * rng.normal(size=40)
f2 = 0.8 * brightness(t2 - 0.6) + 0.1 + 0.03 * rng.normal(size=30)


def mismatch(p):
    delay, gain, offset, drift = p
    # one smooth curve through both, on the clock of the first
    t = np.concatenate([t1, t2 - delay])
    f = np.concatenate([f1, (f2 - offset - drift * t2) / gain])
    order = np.argsort(t)
    t, f = t[order], f[order]
    inner = np.linspace(t[0], t[-1], 12)[1:-1]
    knots = np.r_[(t[0],) * 4, inner, (t[-1],) * 4]
    curve = make_lsq_spline(t, f, knots, k=3)
    roughness = curve.derivative(2)(np.linspace(t[0], t[-1], 50))
    trend = CubicSpline(inner, curve(inner), bc_type="natural")
    wiggle = trend.integrate(inner[0], inner[-1])
    return np.sum((curve(t) - f) ** 2) + 1e-4 * np.mean(roughness**2) + 1e-2 * wiggle**2


if __name__ == "__main__":
    fit = minimize(mismatch, [0.4, 1.0, 0.0, 0.0], method="Nelder-Mead")
    print("delay", fit.x[0], "gain", fit.x[1])
