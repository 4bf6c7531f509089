"""`python -m benchmarks.sparse [--only WORK ...] [--rounds N]`: measure and print; ratios are of one run."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad

from .works import WORKS, Work


def smallest(contestants: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """The smallest time of each; they take turns."""
    for run in contestants.values():
        run()
    found = dict.fromkeys(contestants, np.inf)
    for _ in range(rounds):
        for name, run in contestants.items():
            start = time.perf_counter()
            run()
            found[name] = min(found[name], time.perf_counter() - start)
    return found


def measured(work: Work, rounds: int) -> list[str]:
    """The cells of one row: the times at the full size, then the ratio to the dense derivatives at a small one."""
    make = ad.sparse.hessian if work.second else ad.sparse.jacobian
    x = work.point(work.size)
    sparse, by_hand = make(work.function), work.by_hand(work.size)
    start = time.perf_counter()
    found = sparse(x)
    first = time.perf_counter() - start
    expected = by_hand(x)
    assert abs(found - expected).max() <= 1e-9 * abs(expected).max()
    once = ad.jit(ad.grad(work.function) if work.second else work.function)
    large = smallest({"sparse": lambda: sparse(x), "once": lambda: once(x), "hand": lambda: by_hand(x)}, rounds)
    small = work.point(work.dense)
    dense = ad.jit(ad.hessian(work.function) if work.second else ad.jacobian(work.function))
    both = smallest({"sparse": lambda: sparse(small), "dense": lambda: dense(small)}, rounds)
    return [
        work.title,
        f"{found.shape[1]:,}",
        f"{found.nnz:,}",
        f"{first:.2f} s",
        f"{large['sparse'] * 1e3:.2f} ms",
        f"{large['sparse'] / large['once']:.1f} {'gradients' if work.second else 'evaluations'}",
        f"{large['sparse'] / large['hand']:.2f}",
        f"{both['dense'] / both['sparse']:.1f} at {np.size(small):,}",
    ]


HEAD = ["derivatives", "inputs", "entries", "first call", "later", "in", "by hand = 1", "dense / sparse"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sparse", description="Time sparse derivatives.")
    parser.add_argument("--only", nargs="+", metavar="WORK", choices=list(WORKS), default=list(WORKS))
    parser.add_argument("--rounds", type=int, default=30)
    chosen = parser.parse_args()
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for name in chosen.only:
        print(f"| {' | '.join(measured(WORKS[name], chosen.rounds))} |")


if __name__ == "__main__":
    main()
