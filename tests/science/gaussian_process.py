"""Marginal likelihood of a Gaussian process with a Matern kernel and a linear trend."""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

rng = np.random.default_rng(3)
X = rng.uniform(-2, 2, size=(25, 2))
y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.normal(size=25)


def matern52(A, B, length, amplitude):
    r = cdist(A / length, B / length)
    s = np.sqrt(5) * r
    return amplitude**2 * (1 + s + s**2 / 3) * np.exp(-s)


def negative_log_likelihood(theta):
    length, amplitude, noise = np.exp(theta[:2]), np.exp(theta[2]), np.exp(theta[3])
    K = matern52(X, X, length, amplitude)
    K[np.diag_indices_from(K)] += noise**2 + 1e-10
    try:
        factor = cho_factor(K, lower=True)
    except np.linalg.LinAlgError:
        return np.inf
    residual = y - X @ theta[4:]
    alpha = cho_solve(factor, residual)
    half_logdet = np.log(np.diag(factor[0])).sum()
    return 0.5 * residual.dot(alpha) + half_logdet + 0.5 * len(y) * np.log(2 * np.pi)


def predict(theta, X_new):
    length, amplitude, noise = np.exp(theta[:2]), np.exp(theta[2]), np.exp(theta[3])
    K = matern52(X, X, length, amplitude) + noise**2 * np.eye(len(X))
    k = matern52(X_new, X, length, amplitude)
    return X_new @ theta[4:] + k @ cho_solve(cho_factor(K), y - X @ theta[4:])


if __name__ == "__main__":
    fit = minimize(negative_log_likelihood, np.zeros(6), method="L-BFGS-B")
    print(fit.fun, np.exp(fit.x[:4]), predict(fit.x, np.zeros((1, 2))))
