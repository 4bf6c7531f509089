"""The rounds in which contestants take turns."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

from .contestants import COMPILING, takes_part
from .eager import COST
from .sets import ALL
from .worker import TimeLimitError, Worker

FRESH = 3
"""First calls are timed in so many fresh processes, and the smallest counts."""


class Field:
    """All contestants of a run, each in its process."""

    def __init__(self, team: tuple[str, ...], limit: float) -> None:
        self.team, self.limit = team, limit
        self.folder = tempfile.TemporaryDirectory(prefix="benchmarks-")
        self.workers: dict[str, Worker] = {}

    def worker(self, name: str) -> Worker:
        """The contestant's process, started when first asked for."""
        if name not in self.workers:
            self.workers[name] = self.started(name)
        return self.workers[name]

    def started(self, name: str) -> Worker:
        worker = Worker(name, self.folder.name)
        worker.ask("warm", "")
        return worker

    def measure(self, row: str, rounds: int) -> dict[str, Any]:
        """First calls, agreement with an independent value, then the smallest time of each, taken in turns."""
        found: dict[str, Any] = {"times": {}, "first": {}, "errors": {}, "failed": {}}
        results = {}
        for name in self.team:
            if not takes_part(name, ALL[row]):
                continue
            try:
                found["first"][name], results[name] = self.first(name, row)
            except TimeLimitError:
                found["failed"][name] = f"not in {self.limit:g} s"
                del self.workers[name]
            except RuntimeError as error:
                found["failed"][name] = str(error)
                if self.workers[name].process.poll() is not None:
                    del self.workers[name]
        found["errors"], found["difference"] = compared(row, results)
        for _ in range(rounds):
            for name in results:
                time = self.workers[name].ask("time", row)
                found["times"][name] = min(time, found["times"].get(name, np.inf))
        for _ in range(min(rounds, FRESH) - 1):
            for name in set(results) & set(COMPILING) - {"torch.compile"}:
                fresh = self.started(name)
                took = fresh.ask("first", row, path=f"{self.folder.name}/{row}.npz")
                found["first"][name] = min(took, found["first"][name])
                fresh.close()
        found["first"] = {name: took for name, took in found["first"].items() if name in COMPILING}
        return found

    def first(self, name: str, row: str) -> tuple[float, list[np.ndarray]]:
        """Seconds of the first call and its result."""
        path = f"{self.folder.name}/{row}.npz"
        took = self.worker(name).ask("first", row, limit=self.limit, path=path)
        with np.load(path) as kept:
            return took, list(kept.values())

    def close(self) -> None:
        """Let all processes end."""
        for worker in self.workers.values():
            worker.close()
        self.folder.cleanup()


def compared(row: str, results: dict[str, list[np.ndarray]]) -> tuple[dict[str, float], float | None]:
    """The error of each contestant against the one by hand, and that one's against differences."""
    work = ALL[row]
    by_hand = next((name for name in ("NumPy by hand", "Python by hand") if name in results), None)
    if by_hand is None:
        return {}, None
    independent = work.error_of(results[by_hand] if len(results[by_hand]) > 1 else results[by_hand][0])
    return {name: error(result, results[by_hand]) for name, result in results.items()}, independent


def error(found: list[np.ndarray], expected: list[np.ndarray]) -> float:
    """The largest difference, relative to the largest entry of each array; infinite where shapes or dtypes differ."""
    if [x.shape for x in found] != [x.shape for x in expected]:
        return float("inf")
    if [x.dtype for x in found] != [x.dtype for x in expected]:
        return float("inf")
    pairs = zip(found, expected, strict=True)
    worst = np.max([np.max(np.abs(x - y)) / max(np.max(np.abs(y)), 1e-300) for x, y in pairs])
    return float(worst) if np.isfinite(worst) else float("inf")


def measure_cost(rounds: int) -> float:
    """What a value with its gradient costs on large arrays, in units of the plain function."""
    with tempfile.TemporaryDirectory() as folder:
        worker = Worker("adjoint eager", folder)
        pairs = [worker.ask("cost", COST.title) for _ in range(rounds)]
        worker.close()
    return min(both for both, _ in pairs) / min(plain for _, plain in pairs)


def measure_import(rounds: int) -> tuple[float, float]:
    """Seconds to import this library and NumPy, in fresh processes, in turns, with bytecode as after installing."""
    clock = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    with tempfile.TemporaryDirectory() as bytecode:

        def once(module: str) -> float:
            command = [sys.executable, "-X", f"pycache_prefix={bytecode}", "-c", clock.format(module)]
            return float(subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout)

        once("adjoint")  # writes the bytecode of both
        turns = [(once("adjoint"), once("numpy")) for _ in range(rounds)]
    return min(ours for ours, _ in turns), min(numpy for _, numpy in turns)
