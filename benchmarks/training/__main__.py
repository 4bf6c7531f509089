"""`python -m benchmarks.training [--only WORK ...] [--rounds N]`: measure, print, and keep `training.md`."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ..report import circumstances
from .contestants import CONTESTANTS
from .works import WORKS, load

SEEDS = 5
FRESH = 3
"""So many fresh processes are started for the time of a first run; the smallest counts."""


class Process:
    """A contestant in its process."""

    def __init__(self, name: str, work: str, data: str, **env: str) -> None:
        threads = {f"{lib}_NUM_THREADS": "2" for lib in ("OMP", "OPENBLAS", "MKL", "ADJOINT")}
        kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.training.worker", name, work, data],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**kept, **threads, **env},
        )  # fmt: skip

    def ask(self, seed: int) -> dict[str, Any]:
        """Train once."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{seed}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        """Let it end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def measured(work: str, rounds: int, folder: str) -> dict[str, dict[str, float]]:
    """All contestants of one row: they take turns, and the smallest time of each counts."""
    data = f"{folder}/{WORKS[work].data}.npz"
    if not Path(data).exists():
        X, y = load(WORKS[work].data)
        np.savez(data, X=X, y=y)
    names = [n for n in CONTESTANTS if not (n == "scikit-learn" and WORKS[work].convolutional)]
    found: dict[str, dict[str, float]] = {}
    running = {}
    for fresh in range(FRESH):
        for name in names:
            process = Process(name, work, data)
            first = process.ask(0)
            both = first["imported"] + first["seconds"]
            kept = found.setdefault(name, {"first": np.inf, "cold": np.inf, "memory": first["memory"]})
            kept["first"], kept["cold"] = min(kept["first"], first["seconds"]), min(kept["cold"], both)
            if fresh == FRESH - 1:
                running[name] = process
            else:
                process.close()
    cache = f"{folder}/cache"
    for _ in range(2):
        process = Process("adjoint", work, data, ADJOINT_CACHE=cache)
        found["adjoint"]["cached"] = process.ask(0)["seconds"]
        process.close()
    for name, process in running.items():
        found[name]["accuracy"] = float(np.mean([process.ask(seed)["accuracy"] for seed in range(SEEDS)]))
    for _ in range(rounds):
        for name, process in running.items():
            found[name]["again"] = min(found[name].get("again", np.inf), process.ask(0)["seconds"])
    for process in running.values():
        process.close()
    return found


def table(results: dict[str, dict[str, dict[str, float]]]) -> str:
    """The page's table."""
    lines = ["| work | contestant | once compiled | first run | process from its start | accuracy, 5 seeds |"]
    lines.append("| --- | --- | ---: | ---: | ---: | ---: |")
    for work, found in results.items():
        ours = found["adjoint"]
        for name, kept in found.items():
            again, first, cold = [cell(kept, ours, what) for what in ("again", "first", "cold")]
            title = ""
            if kept is ours:
                title, first = WORKS[work].title, f"{first}; {ours['cached'] * 1e3:,.3g} ms with a cache on disk"
            accuracy = f"{100 * kept['accuracy']:.2f} %"
            lines.append(f"| {title} | {name} | {again} | {first} | {cold} | {accuracy} |")
    return "\n".join(lines)


def cell(kept: dict[str, float], ours: dict[str, float], what: str) -> str:
    """A time, and how many times ours it is."""
    ratio = "" if kept is ours else f" ({kept[what] / ours[what]:.3g}x)"
    return f"{kept[what] * 1e3:,.0f} ms{ratio}"


INTRODUCTION = (
    "Whole runs of training: Adam, cross-entropy, float32, the same batches, epochs and two threads for all; in "
    "brackets how many times the time of adjoint it is. Contestants take turns, each in its own process, and the "
    "smallest time counts. *Once compiled* is a run after the first one in the same process, *first run* the first one "
    "after imports, compiling included, *process from its start* imports as well. JAX has its data on the device; "
    "PyTorch takes batches by indices, as its `DataLoader` takes longer. Accuracy is that on a quarter of the data, "
    "which was set aside. `python -m benchmarks.training` makes this page."
)


def main() -> None:
    """Measure what was asked for; a complete run replaces the page that is kept."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.training", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=list(WORKS), default=list(WORKS))
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = {work: measured(work, chosen.rounds, folder) for work in chosen.only}
    facts = circumstances(chosen.rounds)
    where = f"{facts['date']}. {facts['machine']}. {facts['versions']}. Rounds: {facts['rounds']}."
    page = f"# Training\n\n{INTRODUCTION}\n\n{where}\n\n{table(results)}\n"
    print(page)
    if len(chosen.only) == len(WORKS):
        (Path(__file__).parent / "results.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
