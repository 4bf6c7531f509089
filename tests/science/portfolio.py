"""How the best portfolio, itself found by a solver, depends on the views of the investor."""

import numpy as np
import pandas as pd
from scipy.optimize import LinearConstraint, minimize
from scipy.stats import norm

rng = np.random.default_rng(11)
names = ["bonds", "shares", "gold", "land"]
returns = pd.DataFrame(
    rng.normal(size=(60, 4)) * [0.01, 0.04, 0.03, 0.02] + [0.002, 0.008, 0.004, 0.005], columns=names
)
future = returns.tail(12)
history = returns.iloc[:-12]


def weights(expected, aversion):
    covariance = history.cov().values * 12

    def utility(w):
        return -(w @ expected - 0.5 * aversion * w @ covariance @ w)

    everything = LinearConstraint(np.ones(4), 1, 1)
    found = minimize(
        utility, np.full(4, 0.25), method="SLSQP", bounds=[(0, 1)] * 4, constraints=everything, options={"ftol": 1e-14}
    )
    assert found.success, found.message
    return found.x


def shortfall(p):
    views, aversion = p[:4], np.exp(p[4])
    expected = history.mean() * 12 + 0.05 * views
    w = weights(expected, aversion)
    realised = future @ w
    z = (realised.mean() - 0.001) / realised.std(ddof=1)
    return -np.log(norm.cdf(z)) + 0.01 * np.sum(w**2)


if __name__ == "__main__":
    p = np.array([0.1, -0.1, 0.2, 0.0, 2.0])
    print(dict(zip(names, weights(history.mean() * 12 + 0.05 * p[:4], np.exp(p[4])))), shortfall(p))
