"""Weibull regression of censored survival times in a table."""

import numpy as np
import pandas as pd
from scipy import stats
from scipy.optimize import minimize

rng = np.random.default_rng(7)
n = 60
table = pd.DataFrame(
    {
        "age": rng.normal(60, 8, n).round(),
        "dose": rng.choice([0.0, 1.0, 2.0], n),
        "centre": rng.choice(["north", "south"], n),
    }
)
scale = np.exp(2.0 - 0.03 * (table["age"] - 60) + 0.4 * table["dose"])
table["time"] = stats.weibull_min.rvs(1.4, scale=scale, random_state=rng)
table["event"] = table["time"] < 12
table["time"] = table["time"].clip(upper=12)


def negative_log_likelihood(beta):
    shape = np.exp(beta[0])
    centre = np.where(table["centre"] == "north", beta[4], 0.0)
    eta = beta[1] + beta[2] * (table["age"] - table["age"].mean()) / 10 + beta[3] * table["dose"] + centre
    survival = stats.weibull_min(c=shape, scale=np.exp(eta))
    log_density = survival.logpdf(table["time"])
    log_survival = survival.logsf(table["time"])
    log_lik = np.where(table["event"], log_density, log_survival).sum()
    prior = stats.norm.logpdf(beta[1:], loc=0, scale=5).sum() + stats.expon.logpdf(shape)
    return -(log_lik + prior)


if __name__ == "__main__":
    fit = minimize(negative_log_likelihood, [0.0, 2.0, 0.0, 0.0, 0.0])
    print(pd.Series(fit.x, index=["log shape", "intercept", "age", "dose", "north"]))
    print("median survival", stats.weibull_min(np.exp(fit.x[0]), scale=np.exp(fit.x[1])).median())
