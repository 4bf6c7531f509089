"""Likelihood of a local linear trend, by the Kalman filter."""

import numpy as np
import pandas as pd
from scipy.linalg import block_diag
from scipy.optimize import minimize

rng = np.random.default_rng(2)
level = np.cumsum(0.3 * rng.normal(size=30) + 0.1)
series = pd.Series(level + 0.5 * rng.normal(size=30), index=pd.date_range("2020-01-01", periods=30, freq="MS"))
series.iloc[[7, 8, 20]] = np.nan  # months without a measurement


def negative_log_likelihood(theta, data=series):
    s_level, s_trend, s_noise = np.exp(theta[:3])
    phi = np.tanh(theta[3])
    F = np.array([[1.0, 1.0], [0.0, phi]])
    Q = block_diag(s_level**2, s_trend**2)
    H = np.array([[1.0, 0.0]])
    R = np.array([[s_noise**2]])

    x = np.zeros(2)
    P = 10.0 * np.eye(2)
    total = 0.0
    for y in data:
        x = F @ x
        P = F @ P @ F.T + Q
        if np.isnan(y):
            continue
        v = y - H @ x
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        x = x + K @ v
        P = (np.eye(2) - K @ H) @ P
        P = 0.5 * (P + P.T)
        sign, logdet = np.linalg.slogdet(S)
        total += 0.5 * (logdet + v @ np.linalg.solve(S, v) + np.log(2 * np.pi))
    return total


if __name__ == "__main__":
    fit = minimize(negative_log_likelihood, np.array([-1.0, -1.0, -0.5, 1.0]))
    print(fit.message, np.exp(fit.x[:3]), np.tanh(fit.x[3]))
