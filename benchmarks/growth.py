"""How time and memory grow with the size of a problem: three sizes of some rows, each contestant in its own process.

`python -m benchmarks.growth` writes growth.md; it takes about two minutes.
"""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from .contestants import CONTESTANTS, warmed
from .families import bundle, hand, kmeans, sums
from .jit import chain
from .report import circumstances, shown
from .row import Row
from .sets import ALL
from .worker import THREADS, seconds

TEAM = ("adjoint", "JAX")
SLACK = 0.15
"""Exponents that differ by less are the same: three timings do not tell more."""


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
    "determinant": Growing("determinant, rows", (5, 20, 100), lambda n: ALL[f"determinant {n}"]),
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
        found.append((seconds(call, point), grown))
    return found


def asked(contestant: str, name: str) -> list[tuple[float, float]]:
    """The same, by a process of its own."""
    threads = {f"{library}_NUM_THREADS": str(THREADS) for library in ("OMP", "OPENBLAS", "MKL", "ADJOINT")}
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.growth", contestant, name]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **threads})
    return [(time, memory) for time, memory in json.loads(done.stdout.splitlines()[-1])]


def exponent(sizes: tuple[int, int, int], times: list[float]) -> float:
    """The power of the size that time goes with, between the two larger ones."""
    return math.log(times[2] / times[1]) / math.log(sizes[2] / sizes[1])


def line(name: str) -> str:
    """One row of the table."""
    title, sizes, _ = GROWING[name]
    cells, powers = [f"{title}: {', '.join([f'{n:,}' for n in sizes])}"], []
    for contestant in TEAM:
        found = asked(contestant, name)
        powers.append(exponent(sizes, [time for time, _ in found]))
        cells.append(f"{', '.join([shown(time) for time, _ in found])}; n^{powers[-1]:.2f}")
        cells.append(", ".join([f"{memory / 2**20:.0f}" for _, memory in found]))
    cells.append("yes" if powers[0] <= powers[1] + SLACK else "no")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Measure all, and write the page."""
    heads = [f"{head}" for name in TEAM for head in (name, "MiB")]
    lines = [
        f"| work and sizes | {' | '.join(heads)} | no faster than the other |",
        "| --- |" + " ---: |" * 4 + " --- |",
    ]
    for name in GROWING:
        lines.append(line(name))
        print(lines[-1], flush=True)
    where = circumstances(1)
    words = (
        "Time of one call for three sizes and the power of the size that it goes with between the two larger ones; "
        "then by how much memory at its highest grew with each first call, after those before it, in MiB."
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
