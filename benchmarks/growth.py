"""How time and memory grow with the size of a problem: three sizes of some rows, each contestant in its own process.

`python -m benchmarks.growth` writes growth.md; it takes about ten minutes.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .contestants import CONTESTANTS, warmed
from .families import bundle, hand, kmeans, linear, spectral, sums
from .jit import chain
from .nested import coupled, perceptron
from .report import circumstances, shown
from .row import Function, Row
from .worker import THREADS, seconds

TEAM = ("adjoint", "JAX", "PyTorch", "autograd")
LIMIT = 120.0
"""Seconds that a contestant has for its three sizes."""
SETTLING = 1.5
"""Seconds after which code is as good as it gets."""
SLACK = 1.1
"""Times that differ by less are the same."""


class Growing(NamedTuple):
    """A row of several sizes."""

    title: str
    sizes: tuple[int, int, int]
    row: Callable[[int], Row]


def resized(module: object, name: str, row: Row) -> Callable[[int], Row]:
    """A row whose module has its size as a global name."""

    def of(n: int) -> Row:
        setattr(module, name, n)
        return row

    return of


def iterated(steps: int) -> Row:
    """A loop that is differentiated back, with ten numbers carried along."""

    def function(library: Any) -> Function:
        np = library.np
        return lambda x: np.sum(library.scan(lambda c, _: (np.sin(c) * 1.1, None), x, None, length=steps)[0])

    return Row("", function, lambda: np.linspace(0.1, 1.0, 10), without=NO_LOOPS)


NO_LOOPS = dict.fromkeys(("PyTorch", "autograd"), "no loop of its own")
LAYERS = {13: (2, 3), 121: (10, 10), 1001: (48, 20)}
GROWING = {
    "bundle": Growing(
        "bundle adjustment, observations",
        (100, 1000, 10_000),
        resized(bundle, "OBSERVATIONS", bundle.ROWS["bundle"]),
    ),
    "hand": Growing("hand tracking, vertices", (50, 500, 5000), resized(hand, "VERTICES", hand.ROWS["hand"])),
    "kmeans": Growing("k-means, points", (1000, 10_000, 100_000), resized(kmeans, "POINTS", kmeans.ROWS["kmeans"])),
    "chain": Growing(
        "elementwise chain, elements", (1000, 30_000, 1_000_000), lambda n: Row("", chain.chain, chain.point(n))
    ),
    "logsumexp": Growing(
        "log-sum-exp, elements", (1000, 30_000, 1_000_000), lambda n: Row("", sums.log_sum_exp, sums.vector(n))
    ),
    "determinant": Growing(
        "determinant, rows", (5, 20, 100), lambda n: Row("", linear.determinant, lambda: linear.matrix(n))
    ),
    "process": Growing(
        "likelihood of a Gaussian process, points",
        (30, 100, 300),
        resized(linear, "POINTS", linear.ROWS["gaussian process"]),
    ),
    "spectral": Growing(
        "Burgers' equation by Fourier transforms, points",
        (128, 1024, 8192),
        resized(spectral, "POINTS", spectral.ROWS["spectral"]),
    ),
    "hessian": Growing("dense Hessian of an MLP, parameters", (13, 121, 1001), lambda n: perceptron(*LAYERS[n])),
    "jacobian": Growing(
        "dense Jacobian by forward mode, variables",
        (100, 300, 1000),
        lambda n: Row(
            "",
            coupled,
            lambda: np.linspace(-1.0, 1.5, n),
            derive=lambda library, f: library.jacobian(f),
            without={"autograd": "by rows, its only way here, it takes seconds"},
        ),
    ),
    "scan": Growing("gradient of a `scan`, steps", (100, 1000, 10_000), iterated),
}


def measured(contestant: str, name: str) -> list[tuple[float, float]]:
    """Seconds of a call, and by how many bytes memory at its highest grew with the first one, for each size in turn."""
    warmed(contestant)
    found = []
    for n in GROWING[name].sizes:
        call, point = CONTESTANTS[contestant](GROWING[name].row(n))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        call(point)
        grown = 1024.0 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        if contestant == "adjoint":
            settle(call, point)
        found.append((seconds(call, point), grown))
    return found


def settle(call: Function, point: Any) -> None:
    """Call for so long that code which is made better in the background is."""
    end = time.perf_counter() + SETTLING
    while time.perf_counter() < end:
        call(point)


def asked(contestant: str, name: str) -> list[tuple[float, float]]:
    """The same, by a process of its own; nothing if it cannot, or not in time."""
    row = GROWING[name].row(GROWING[name].sizes[0])
    if contestant in row.without:
        return []
    threads = {f"{library}_NUM_THREADS": str(THREADS) for library in ("OMP", "OPENBLAS", "MKL", "ADJOINT")}
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.growth", contestant, name]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=LIMIT, env={**os.environ, **threads}
        )
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return []
    return [(took, memory) for took, memory in json.loads(done.stdout.splitlines()[-1])]


def exponent(sizes: tuple[int, int, int], times: list[float]) -> float:
    """The power of the size that time goes with, between the two larger ones."""
    return math.log(times[2] / times[1]) / math.log(sizes[2] / sizes[1])


def line(name: str) -> str:
    """One row of the table."""
    title, sizes, _ = GROWING[name]
    cells, more = [f"{title}: {', '.join([f'{n:,}' for n in sizes])}"], []
    for contestant in TEAM:
        found = asked(contestant, name)
        if not found:
            cells += ["", ""]
            continue
        times, memory = [took for took, _ in found], [bytes_ for _, bytes_ in found]
        more.append((times[2] - times[1], sum(memory)))
        cells.append(f"{', '.join(map(shown, times))}; n^{exponent(sizes, times):.2f}")
        cells.append(", ".join([f"{grown / 2**20:.0f}" for grown in memory]))
    verdicts = [mine <= SLACK * min(others) for mine, *others in zip(*more, strict=True)]
    cells.append(", ".join([f"{what} {'no' if holds else 'yes'}" for what, holds in zip(GROWN, verdicts, strict=True)]))
    return f"| {' | '.join(cells)} |"


GROWN = ("time", "memory")


def main() -> None:
    """Measure all, and write the page."""
    heads = [f"{head}" for name in TEAM for head in (name, "MiB")]
    lines = [
        f"| work and sizes | {' | '.join(heads)} | grows faster than the best of the others |",
        "| --- |" + " ---: |" * len(heads) + " --- |",
    ]
    for name in GROWING:
        lines.append(line(name))
        print(lines[-1], flush=True)
    where = circumstances(1)
    words = (
        "Time of one call for three sizes and the power of the size that it goes with between the two larger ones; "
        "then by how much memory at its highest grew with each first call, after those before it, in MiB. Time grows "
        "faster if going from the second size to the third adds more of it, memory if the three first calls together "
        "take more. A fixed cost of each call, which hides growth, makes a power smaller, and nothing else better."
    )
    text = (
        f"# Growth\n\n{where['date']}. {where['machine']}. {where['versions']}. {words}\n\n" + "\n".join(lines) + "\n"
    )
    (Path(__file__).parent / "growth.md").write_text(text)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measured(*sys.argv[1:])))
    else:
        main()
