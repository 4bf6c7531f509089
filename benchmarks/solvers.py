"""SciPy's solvers with exact, compiled derivatives against their own differences: `python -m benchmarks.solvers`.

Standard test functions, each from its usual starting point. Evaluations are calls of the user's function, those for
differences included; a call that gives value and gradient counts once. Time is processor time of a whole call once
everything is compiled, least of several rounds that take turns; one thread. With `--write` the table of
`docs/scipy/optimize.md` is written anew.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize

import adjoint.scipy.optimize

PAGE = Path(__file__).parent.parent / "docs" / "scipy" / "optimize.md"
MARK = "<!-- table -->"


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def beale(x):
    return sum((c - x[0] * (1.0 - x[1] ** k)) ** 2 for k, c in ((1, 1.5), (2, 2.25), (3, 2.625)))


def wood(x):
    a, b, c, d = x[0], x[1], x[2], x[3]
    first = 100.0 * (b - a**2) ** 2 + (1.0 - a) ** 2 + 90.0 * (d - c**2) ** 2 + (1.0 - c) ** 2
    return first + 10.1 * ((b - 1.0) ** 2 + (d - 1.0) ** 2) + 19.8 * (b - 1.0) * (d - 1.0)


def powell(x):
    a, b, c, d = x[0::4], x[1::4], x[2::4], x[3::4]
    return np.sum((a + 10.0 * b) ** 2 + 5.0 * (c - d) ** 2 + (b - 2.0 * c) ** 4 + 10.0 * (a - d) ** 4)


rng = np.random.default_rng(0)
X = rng.normal(size=(1000, 50))
Y = np.where(X @ rng.normal(size=50) + rng.normal(size=1000) > 0, 1.0, -1.0)


def logistic(w):
    return np.mean(np.logaddexp(0.0, -Y * (X @ w))) + 1e-3 * np.sum(w * w)


t = np.linspace(0.0, 4.0, 200)
decay = 2.5 * np.exp(-1.3 * t) + 0.5 * np.cos(3.0 * t) + 0.05 * rng.normal(size=200)


def decay_residuals(p):
    return p[0] * np.exp(-p[1] * t) + p[2] * np.cos(p[3] * t) - decay


def chain(x):
    left = np.concatenate([np.zeros(1), x[:-1]])
    right = np.concatenate([x[1:], np.zeros(1)])
    return (3.0 - 2.0 * x) * x - left - 2.0 * right + 1.0


class Problem(NamedTuple):
    """A solver on a test function."""

    name: str
    solver: str
    function: Callable[..., Any]
    start: Any
    options: dict[str, Any]


LONG = {"options": {"maxiter": 1000}}
PROBLEMS = [
    Problem("Rosenbrock, 2", "minimize", rosenbrock, np.array([-1.2, 1.0]), {"method": "BFGS"}),
    Problem("Rosenbrock, 50", "minimize", rosenbrock, np.tile([-1.2, 1.0], 25), {"method": "BFGS"}),
    Problem("Rosenbrock, 50", "minimize", rosenbrock, np.tile([-1.2, 1.0], 25), {"method": "L-BFGS-B"}),
    Problem("Beale, 2", "minimize", beale, np.array([1.0, 1.0]), {"method": "BFGS"}),
    Problem("Wood, 4", "minimize", wood, np.array([-3.0, -1.0, -3.0, -1.0]), {"method": "BFGS"}),
    Problem("Powell singular, 40", "minimize", powell, np.tile([3.0, -1.0, 0.0, 1.0], 10), {"method": "L-BFGS-B"}),
    Problem("Rosenbrock, 20", "minimize", rosenbrock, np.tile([-1.2, 1.0], 10), {"method": "SLSQP", **LONG}),
    Problem("Rosenbrock, 20", "minimize", rosenbrock, np.tile([-1.2, 1.0], 10), {"method": "trust-constr"}),
    Problem("logistic regression, 50", "minimize", logistic, np.zeros(50), {"method": "L-BFGS-B"}),
    Problem("decay and wave, 4", "least_squares", decay_residuals, np.array([1.0, 1.0, 1.0, 2.8]), {}),
    Problem("Broyden tridiagonal, 200", "least_squares", chain, -np.ones(200), {}),
    Problem("Broyden tridiagonal, 100", "root", chain, -np.ones(100), {}),
]


def main() -> None:
    """Print the table, and write it to the page if that is asked for."""
    warnings.simplefilter("ignore")
    lines = [
        "| function, unknowns | solver | iterations | evaluations | ms | error |",
        "|---|---|---|---|---|---|",
    ]
    for problem in PROBLEMS:
        lines.append(row(problem))
        print(lines[-1], flush=True)
    if "--write" in sys.argv:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARK)
        after = rest.partition(MARK)[2]
        PAGE.write_text(before + MARK + "\n" + "\n".join(lines) + "\n" + MARK + after, encoding="utf-8")


def row(problem: Problem) -> str:
    """One solver on one function, with differences and with exact derivatives."""
    sides = (scipy.optimize, adjoint.scipy.optimize)
    counts, found, seconds = [], [], [np.inf, np.inf]
    for side in sides:
        counts.append(count(problem, side))
        found.append(solved(problem, side))
    for _ in range(5):
        for k, side in enumerate(sides):
            begin = time.process_time()
            solved(problem, side)
            seconds[k] = min(seconds[k], time.process_time() - begin)
    errors = [error(problem, result.x) for result in found]
    method = f"`{problem.solver}` {problem.options.get('method', '')}".strip()
    cells = [
        [str(r.get("nit", "-")) for r in found],
        [str(c) for c in counts],
        [f"{1e3 * s:.1f}" for s in seconds],
        [f"{e:.0e}" for e in errors],
    ]
    return f"| {problem.name} | {method} | " + " | ".join([" → ".join(pair) for pair in cells]) + " |"


def solved(problem: Problem, side: Any) -> Any:
    """The result of SciPy, or of the same with exact derivatives."""
    return getattr(side, problem.solver)(problem.function, problem.start, **problem.options)


def count(problem: Problem, side: Any) -> int:
    """How often the function is evaluated: SciPy counts exact calls, and those for differences only partly."""
    if side is not scipy.optimize:
        result = solved(problem, side)
        return int(result.nfev + (0 if problem.solver == "minimize" else result.njev))
    calls = 0

    def counted(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return problem.function(x)

    getattr(side, problem.solver)(counted, problem.start, **problem.options)
    return calls


def error(problem: Problem, x: Any) -> float:
    """How far from its condition the result is: the largest part of the gradient, or of the residuals."""
    if problem.solver == "root":
        return float(np.max(np.abs(problem.function(x))))
    import adjoint as ad

    if problem.solver == "least_squares":
        return float(np.max(np.abs(ad.grad(lambda y: 0.5 * np.sum(problem.function(y) ** 2))(x))))
    return float(np.max(np.abs(ad.grad(problem.function)(x))))


if __name__ == "__main__":
    main()
