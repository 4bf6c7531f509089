"""`optim.minimize` against SciPy, with the same compiled derivatives: run with `python -m benchmarks.optim`.

Processor time of a whole call once everything is compiled, least of several rounds that take turns; one thread. Both
stop at the same bound of the gradient.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize

import adjoint as ad
from adjoint import optim

GRADIENT = 1e-5
rng = np.random.default_rng(0)


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


X = rng.normal(size=(1000, 20))
labels = np.where(X @ rng.normal(size=20) + rng.normal(size=1000) > 0, 1.0, -1.0)


def logistic(w):
    return np.mean(np.logaddexp(0.0, -labels * (X @ w))) + 1e-3 * np.sum(w * w)


def rosenbrock_residuals(x):
    return np.concatenate([10.0 * (x[1:] - x[:-1] ** 2), 1.0 - x[:-1]])


t = np.linspace(0.0, 4.0, 50)
decay = 2.5 * np.exp(-1.3 * t) + 0.5 * np.cos(3.0 * t) + 0.05 * rng.normal(size=50)


def decay_residuals(p):
    return p[0] * np.exp(-p[1] * t) + p[2] * np.cos(p[3] * t) - decay


s = np.linspace(0.0, 10.0, 5000)
peaks = sum(a * np.exp(-0.5 * ((s - m) / w) ** 2) for a, m, w in ((1, 3, 0.5), (2, 5, 0.7), (1.5, 7, 0.4)))
spectrum = peaks + 0.02 * rng.normal(size=5000)


def peaks_residuals(p):
    p = p.reshape(3, 3)
    return np.sum(p[:, :1] * np.exp(-0.5 * ((s - p[:, 1:2]) / p[:, 2:]) ** 2), axis=0) - spectrum


MINIMA = {
    "Rosenbrock, n = 2": (rosenbrock, np.array([-1.2, 1.0]), 50),
    "Rosenbrock, n = 100": (rosenbrock, np.tile([-1.2, 1.0], 50), 5),
    "logistic regression, 1,000 x 20": (logistic, np.zeros(20), 50),
}
SQUARES = {
    "Rosenbrock, n = 2": (rosenbrock_residuals, np.array([-1.2, 1.0]), 50),
    "Rosenbrock, n = 100": (rosenbrock_residuals, np.tile([-1.2, 1.0], 50), 3),
    "decay, 50 points, 4 parameters": (decay_residuals, np.array([1.0, 1.0, 1.0, 2.5]), 50),
    "three peaks, 5,000 points, 9 parameters": (peaks_residuals, np.array([1, 2.5, 1, 1, 5, 1, 1, 7.5, 1.0]), 5),
}


def least(contestants: list[Callable[[], Any]], number: int) -> list[float]:
    """The least time of each, in microseconds, of rounds that take turns."""
    best = [np.inf] * len(contestants)
    for _ in range(7):
        for k, run in enumerate(contestants):
            start = time.process_time()
            for _ in range(number):
                run()
            best[k] = min(best[k], (time.process_time() - start) / number * 1e6)
    return best


def main() -> None:
    print("| problem | `optim.minimize` | SciPy | ratio |\n|---|---|---|---|")
    stop = optim.stop.gradient(GRADIENT)
    for name, (f, x0, number) in MINIMA.items():
        value_and_grad = ad.jit(ad.value_and_grad(f))
        bound = GRADIENT / np.sqrt(x0.size)  # of the largest part, so that the Euclidean norm is below ours
        options = {"ftol": 0.0, "gtol": bound, "maxiter": 10_000, "maxfun": 10_000}

        def ours(f=f, x0=x0):
            return optim.minimize(f, x0, optim.lbfgs(), stop=stop)

        def theirs(g=value_and_grad, x0=x0, options=options):
            return scipy.optimize.minimize(g, x0, jac=True, method="L-BFGS-B", options=options)

        one, two = ours(), theirs()
        assert np.isclose(one.value, two.fun, atol=1e-9), (one, two)
        a, b = least([ours, theirs], number)
        print(
            f"| {name}, `lbfgs` | {a:,.0f} µs, {one.steps} steps "
            f"| L-BFGS-B {b:,.0f} µs, {two.nit} steps | {a / b:.2f} |"
        )
    for name, (f, x0, number) in SQUARES.items():
        residuals, jacobian = ad.jit(f), ad.jit(ad.jacobian(f))

        def ours(f=f, x0=x0):
            return optim.minimize(f, x0, optim.levenberg_marquardt(), stop=stop)

        one = ours()
        for method in ("lm", "trf"):

            def theirs(r=residuals, j=jacobian, x0=x0, method=method):
                return scipy.optimize.least_squares(r, x0, j, method=method, gtol=GRADIENT, xtol=1e-12, ftol=1e-12)

            two = theirs()
            assert np.isclose(one.value, two.cost, atol=1e-9), (one, two)
            a, b = least([ours, theirs], number)
            print(
                f"| {name}, `levenberg_marquardt` | {a:,.0f} µs, {one.steps} steps "
                f"| {method} {b:,.0f} µs, {two.njev} steps | {a / b:.2f} |"
            )


if __name__ == "__main__":
    main()
