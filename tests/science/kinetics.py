"""Rate constants of A -> B -> C from noisy concentrations."""

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

rng = np.random.default_rng(1)
times = np.linspace(0.5, 8, 12)
k_true = np.array([0.7, 0.25])
start = [1.0, 0.0, 0.0]


def rhs(t, y, k1, k2):
    a, b, c = y
    return [-k1 * a, k1 * a - k2 * b, k2 * b]


def simulate(k):
    sol = solve_ivp(rhs, (0, times[-1]), start, t_eval=times, args=tuple(k), rtol=1e-7, atol=1e-9)
    if not sol.success:
        raise RuntimeError(sol.message)
    return sol.y


measured = simulate(k_true) + 0.02 * rng.normal(size=(3, len(times)))
sigma = np.full(3, 0.02)[:, None]


def residuals(log_k):
    k = np.exp(log_k)
    return ((simulate(k) - measured) / sigma).ravel()


def chi2(log_k):
    return float_safe(0.5 * np.sum(residuals(log_k) ** 2) + 0.1 * log_k @ log_k)


def float_safe(x):
    """A failed simulation must not stop the fit."""
    return x if np.isfinite(x) else 1e10


if __name__ == "__main__":
    fit = least_squares(residuals, np.log([0.3, 0.3]))
    covariance = np.linalg.inv(fit.jac.T @ fit.jac)
    print("k =", np.exp(fit.x), "+-", np.exp(fit.x) * np.sqrt(np.diag(covariance)))
