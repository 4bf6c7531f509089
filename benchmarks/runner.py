"""Workers, one process for each library, and the rounds in which they take turns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import timeit
from collections.abc import Callable
from typing import Any

from .libraries import LIBRARIES, THREADS, flat
from .workloads import COST, WORKLOADS

SLICE = 0.02
"""Seconds one timing takes at least, so that the clock's resolution does not matter."""


class Worker:
    """A process that holds one library, and answers one line with one line."""

    def __init__(self, library: str) -> None:
        threads = {f"{name}_NUM_THREADS": str(THREADS) for name in ("OMP", "OPENBLAS", "MKL")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.runner", library],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **threads},
        )

    def ask(self, task: str, row: str) -> Any:
        """The answer to one question: "gradient", "time" or "cost", of a row."""
        self.process.stdin.write(f"{task} {row}\n")  # type: ignore[union-attr]
        self.process.stdin.flush()  # type: ignore[union-attr]
        return json.loads(self.process.stdout.readline())  # type: ignore[union-attr]

    def close(self) -> None:
        """Let the process end."""
        self.process.stdin.close()  # type: ignore[union-attr]
        self.process.wait()


def measure(rows: list[str], libraries: list[str], rounds: int) -> dict[str, dict[str, Any]]:
    """For each row: gradients of all libraries once, then the smallest time of each, taken in turns."""
    workers = {library: Worker(library) for library in libraries}
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        gradients = {name: g for name, w in workers.items() if (g := w.ask("gradient", row)) is not None}
        turns = [{name: workers[name].ask("time", row) for name in gradients} for _ in range(rounds)]
        times = {name: min(turn[name] for turn in turns) for name in gradients}
        found[row] = {"gradients": gradients, "times": times}
        print(f"  {row} measured", file=sys.stderr)
    for worker in workers.values():
        worker.close()
    return found


def measure_cost(rounds: int) -> float:
    """What a value with its gradient costs on large arrays, in units of the plain function."""
    worker = Worker("adjoint")
    pairs = [worker.ask("cost", "-") for _ in range(rounds)]
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


def seconds(call: Callable[[], Any]) -> float:
    """The smallest time per call of a few slices, with garbage collection on, as in use."""
    timer = timeit.Timer(call, "import gc; gc.enable()")
    number = 1
    while (took := timer.timeit(number)) < SLICE:
        number = max(2 * number, int(1.2 * number * SLICE / max(took, 1e-9)))
    return min([took, *timer.repeat(4, number)]) / number


def serve(library: str) -> None:
    """Answer questions until there are no more."""
    import numpy as np

    calls: dict[str, Any] = {}
    for line in sys.stdin:
        task, row = line.split()
        answer: Any
        if task == "cost":
            plain = COST.function(np)
            answer = seconds(LIBRARIES[library](COST)), seconds(lambda plain=plain: plain(COST.point))
        else:
            call = calls[row] = calls[row] if row in calls else LIBRARIES[library](WORKLOADS[row])
            answer = None if call is None else flat(call()[1]) if task == "gradient" else seconds(call)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve(sys.argv[1])
