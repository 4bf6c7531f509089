"""`python -m benchmarks.science [--only WORK ...] [--rounds N]`: measure and print; all of them write results.md."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads that wait for busy cores would be what is measured

import numpy as np
import scipy.optimize

import adjoint.scipy.optimize

from .works import WORKS, Work

HEAD = ["fit", "way", "first fit", "later fits", "SciPy / this", "evaluations", "derivatives", "final cost"]
RESULTS = Path(__file__).parent / "results.md"
TEXT = """# Whole fits

Written by `python -m benchmarks.science`. Each model is fitted by SciPy's `minimize` or `least_squares` from the same
start: with SciPy's default differences, with exact derivatives by `adjoint.scipy.optimize` (the same script otherwise),
and with those of `jax.jit`, where JAX has the functions that the model needs. The first fit includes recording and
compiling; of later fits the smallest time of {rounds} rounds that take turns counts. NumPy's BLAS has one thread. The
machine has two busy cores, so that times are noisy: ratios below 1.3 say little. Evaluations are counted calls of the
function, those for differences included; a call that gives the value and its gradient together counts in both columns.
Fits that end at `maxiter` need not end at the same cost.

{table}
"""
Fit = Callable[[], tuple[Any, int, int]]
"""Runs a fit: the result, how many evaluations, how many derivatives."""


def by_differences(work: Work) -> Fit:
    """SciPy's script as it stands."""

    def fit() -> tuple[Any, int, int]:
        calls = [0]

        def counted(p: Any) -> Any:
            calls[0] += 1
            return work.function(p)

        return _solver(scipy.optimize, work)(counted, work.start, **work.how), calls[0], 0

    return fit


def by_ours(work: Work, function: Callable[[Any], Any]) -> Fit:
    """The same with the solver of the same name."""

    def fit() -> tuple[Any, int, int]:
        found = _solver(adjoint.scipy.optimize, work)(function, work.start, **work.how)
        return found, found.nfev, found.njev

    return fit


def by_jax(work: Work) -> Fit | None:
    """SciPy's solver with JAX's derivatives."""
    try:
        import jax
    except ImportError:
        return None
    if work.jax is None:
        return None
    jax.config.update("jax_enable_x64", True)
    function = work.jax()
    if work.squares:
        value, jacobian = jax.jit(function), jax.jit(jax.jacrev(function))
        call, how = lambda p: np.asarray(value(p)), {"jac": lambda p: np.asarray(jacobian(p))}
    else:
        both = jax.jit(jax.value_and_grad(function))
        call, how = lambda p: tuple([np.asarray(x) for x in both(p)]), {"jac": True}

    def fit() -> tuple[Any, int, int]:
        found = _solver(scipy.optimize, work)(call, work.start, **how, **work.how)
        return found, found.nfev, found.njev

    return fit


def _solver(module: Any, work: Work) -> Callable[..., Any]:
    return module.least_squares if work.squares else module.minimize


def measured(work: Work, rounds: int) -> list[list[str]]:
    """The rows of one fit."""
    ways: dict[str, Fit | None] = {"SciPy, differences": by_differences(work), "adjoint": by_ours(work, work.function)}
    ways |= {name: by_ours(work, function) for name, function in work.other.items()}
    ways["JAX"] = by_jax(work)
    runs = {name: fit for name, fit in ways.items() if fit is not None}
    first = {name: _timed(fit)[0] for name, fit in runs.items()}
    later = dict.fromkeys(runs, np.inf)
    last: dict[str, Any] = {}
    for _ in range(rounds):
        for name, fit in runs.items():
            span, last[name] = _timed(fit)
            later[name] = min(later[name], span)
    rows = []
    for name in ways:
        if name not in runs:
            rows.append([work.title, name, *["-"] * 6])
            continue
        found, evaluations, derivatives = last[name]
        cost = found.cost if work.squares else found.fun
        rows.append([
            work.title, name, f"{first[name]:.2f} s", f"{later[name]:.4f} s",
            f"{later['SciPy, differences'] / later[name]:.1f}", f"{evaluations:,}", f"{derivatives:,}", f"{cost:.7g}",
        ])  # fmt: skip
    return rows


def _timed(fit: Fit) -> tuple[float, Any]:
    begin = time.perf_counter()
    found = fit()
    return time.perf_counter() - begin, found


def main() -> None:
    """Print the table, and write it where all of it was measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.science", description="Time whole fits.")
    parser.add_argument("--only", nargs="+", metavar="WORK", choices=list(WORKS), default=list(WORKS))
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    lines = [f"| {' | '.join(HEAD)} |", f"|{'---|' * len(HEAD)}"]
    print("\n".join(lines))
    for name in chosen.only:
        for row in measured(WORKS[name](), chosen.rounds):
            lines.append(f"| {' | '.join(row)} |")
            print(lines[-1], flush=True)
    if chosen.only == list(WORKS):
        RESULTS.write_text(TEXT.format(rounds=chosen.rounds, table="\n".join(lines)), encoding="utf-8")


if __name__ == "__main__":
    main()
