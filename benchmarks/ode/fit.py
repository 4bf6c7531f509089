"""`python -m benchmarks.ode.fit`: the rates of predators and prey from noisy counts, by least squares.

SciPy's script as it stands (differences for the Jacobian), the same script with `adjoint.scipy.optimize` in the place
of `scipy.optimize`, and with `ad.odeint` in the place of `solve_ivp` as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.optimize
from scipy.integrate import solve_ivp

import adjoint as ad
import adjoint.scipy.optimize

TIMES = np.linspace(0.0, 10.0, 41)
TRUE, GUESS = np.array([1.5, 1.0, 3.0, 1.0]), np.array([1.2, 0.8, 2.5, 1.2])
START = np.array([1.0, 1.0])
HOW = {"rtol": 1e-8, "atol": 1e-8}


def slope(t: Any, y: Any, p: Any) -> Any:
    """Lotka and Volterra's equations."""
    return np.array([p[0] * y[0] - p[1] * y[0] * y[1], -p[2] * y[1] + p[3] * y[0] * y[1]])


COUNTS = (
    solve_ivp(slope, (0.0, 10.0), START, t_eval=TIMES, args=(TRUE,), **HOW).y
    + np.random.default_rng(0).normal(size=(2, 41)) * 0.1
)


def by_scipy(p: Any) -> Any:
    """Residuals, as a script of SciPy's has them."""
    return (solve_ivp(slope, (0.0, 10.0), START, t_eval=TIMES, args=(p,), **HOW).y - COUNTS).ravel()


def by_odeint(p: Any) -> Any:
    """Residuals by the compiled integrator."""
    return (ad.odeint(lambda y, t, p: slope(t, y, p), START, TIMES, p, **HOW).T - COUNTS).ravel()


WAYS: dict[str, Callable[[], Any]] = {
    "scipy.optimize, solve_ivp": lambda: scipy.optimize.least_squares(by_scipy, GUESS),
    "adjoint.scipy.optimize, solve_ivp": lambda: adjoint.scipy.optimize.least_squares(by_scipy, GUESS),
    "adjoint.scipy.optimize, ad.odeint": lambda: adjoint.scipy.optimize.least_squares(by_odeint, GUESS),
}


def main() -> None:
    """Print the table."""
    print("| way | first fit | later fits | evaluations | Jacobians | cost |\n|---|---|---|---|---|---|")
    for name, fit in WAYS.items():
        spans = []
        for _ in range(4):
            begin = time.process_time()
            found = fit()
            spans.append(time.process_time() - begin)
        calls = found.nfev + (len(GUESS) * found.njev if "scipy.optimize, solve" in name and "adj" not in name else 0)
        print(f"| {name} | {spans[0]:.3f} s | {min(spans[1:]):.4f} s | {calls} | {found.njev} | {found.cost:.6f} |")


if __name__ == "__main__":
    main()
