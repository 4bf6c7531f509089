"""Inverse problem: the conductivity of a plate from temperatures at a few sensors."""

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.sparse.linalg import spsolve

n = 8
h = 1.0 / (n + 1)
rng = np.random.default_rng(6)
x, y = np.meshgrid(np.linspace(h, 1 - h, n), np.linspace(h, 1 - h, n))
source = np.exp(-30 * ((x - 0.3) ** 2 + (y - 0.6) ** 2)).ravel()
difference = sp.diags([-1.0, 1.0], [-1, 0], shape=(n + 1, n)) / h
Dx = sp.kron(sp.eye(n), difference).tocsr()
Dy = sp.kron(difference, sp.eye(n)).tocsr()
average = abs(difference) * h / 2
Ax = sp.kron(sp.eye(n), average).tocsr()
Ay = sp.kron(average, sp.eye(n)).tocsr()
sensors = rng.choice(n * n, 20, replace=False)


def temperature(log_kappa):
    kappa = np.exp(log_kappa)
    stiffness = Dx.T @ sp.diags(Ax @ kappa) @ Dx + Dy.T @ sp.diags(Ay @ kappa) @ Dy
    return spsolve(stiffness.tocsc(), source)


truth = 0.8 * np.sin(3 * x * y).ravel()
data = temperature(truth)[sensors] * (1 + 0.01 * rng.normal(size=20))


def objective(log_kappa, alpha=1e-6):
    misfit = (temperature(log_kappa)[sensors] - data) / 1e-3
    smoothness = (Dx @ log_kappa) @ (Dx @ log_kappa) + np.sum((Dy @ log_kappa) ** 2)
    return 0.5 * misfit @ misfit + alpha * smoothness


if __name__ == "__main__":
    fit = minimize(objective, np.zeros(n * n), method="L-BFGS-B")
    print(fit.message, fit.fun, np.corrcoef(fit.x, truth)[0, 1])
