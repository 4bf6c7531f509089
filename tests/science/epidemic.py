"""Growth and recovery in an epidemic: the unknown share of reported cases is integrated out."""

import numpy as np
from scipy.integrate import odeint, quad, simpson
from scipy.special import gammaln
from scipy.stats import beta as beta_distribution
from scipy.stats import gamma, lognorm

days = np.arange(0.0, 14.0, 2.0)
cases = np.array([3, 6, 8, 15, 26, 35, 41])
population = 400.0


def sir(y, t, contact, recovery):
    s, i = y
    infections = contact * s * i / population
    return [-infections, infections - recovery * i]


def log_likelihood(infected, reporting):
    expected = reporting * infected
    return np.sum(cases * np.log(expected) - expected - gammaln(cases + 1))


def negative_log_posterior(theta):
    contact, recovery, first = np.exp(theta)
    infected = odeint(sir, [population - first, first], days, args=(contact, recovery), rtol=1e-9, atol=1e-9)[:, 1]
    peak = log_likelihood(infected, min(0.9, cases.sum() / infected.sum()))

    def joint(r):
        return np.exp(log_likelihood(infected, r) - peak) * beta_distribution.pdf(r, 3.0, 4.0)

    evidence, error = quad(joint, 0.01, 0.99, epsabs=1e-8)
    grid = np.linspace(0.05, 0.95, 19)
    density = np.array([joint(r) for r in grid]) / evidence
    mean_reporting = simpson(density * grid, x=grid)
    prior = lognorm.logpdf(contact, 0.5, scale=0.5) + gamma.logpdf(recovery, 4.0, scale=0.05)
    return -(peak + np.log(evidence) + prior) + 0.1 * (mean_reporting - 0.4) ** 2


if __name__ == "__main__":
    from scipy.optimize import minimize

    print(minimize(negative_log_posterior, np.log([0.5, 0.2, 5.0]), method="Nelder-Mead"))
