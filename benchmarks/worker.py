"""A process that holds one contestant: imports, thread pools and caches of one do not disturb another."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
import timeit
from typing import Any

SLICE = 0.02
"""Seconds one timing takes at least, so that the clock's resolution does not matter."""
THREADS = 2


class TimeLimitError(Exception):
    """The contestant was given a limit, and did not answer within it."""


class Worker:
    """Answers one line with one line, each in JSON."""

    def __init__(self, contestant: str, folder: str) -> None:
        threads = {f"{name}_NUM_THREADS": str(THREADS) for name in ("OMP", "OPENBLAS", "MKL", "ADJOINT")}
        caches = {"TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor", "TORCHINDUCTOR_FX_GRAPH_CACHE": "0"}
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "benchmarks.worker", contestant],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **threads, **caches},
        )

    def ask(self, task: str, row: str, limit: float | None = None, **more: Any) -> Any:
        """The answer to one question about a row; TimeLimitError after so many seconds, RuntimeError if it failed."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"task": task, "row": row, **more}) + "\n")
        self.process.stdin.flush()
        if limit is not None:
            with selectors.DefaultSelector() as ready:
                ready.register(self.process.stdout, selectors.EVENT_READ)
                if not ready.select(limit):
                    self.process.kill()
                    self.process.wait()
                    raise TimeLimitError
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process ended with {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["answer"]

    def close(self) -> None:
        """Let the process end."""
        if self.process.poll() is None:
            assert self.process.stdin is not None
            self.process.stdin.close()
            self.process.wait()


def seconds(call: Any, point: Any) -> float:
    """The smallest time per call of a few slices, with garbage collection on, as in use."""
    timer = timeit.Timer("call(point)", "import gc; gc.enable()", globals={"call": call, "point": point})
    number = 1
    while (took := timer.timeit(number)) < SLICE:
        number = max(2 * number, int(1.2 * number * SLICE / max(took, 1e-9)))
    return min([took, *timer.repeat(4 if took < 1.0 else 1, number)]) / number


class Desk:
    """What the process does with a question: one method for each."""

    def __init__(self, contestant: str) -> None:
        self.contestant = contestant
        self.name, self.pair = "", (None, None)

    def warm(self, row: str) -> None:
        """Import, and start the compiler on something small."""
        from .contestants import warmed

        warmed(self.contestant)

    def first(self, row: str, path: str) -> float:
        """Seconds of the first call, from the function to its result, which is kept in a file."""
        import numpy as np

        from .contestants import CONTESTANTS
        from .sets import ALL
        from .trees import leaves

        start = time.perf_counter()
        call, point = CONTESTANTS[self.contestant](ALL[row])
        result = call(point)
        took = time.perf_counter() - start
        self.name, self.pair = row, (call, point)
        found = [leaf.detach() if hasattr(leaf, "detach") else leaf for leaf in leaves(result)]
        np.savez(path, *[np.asarray(leaf) for leaf in found])
        return took

    def time(self, row: str) -> float:
        """Seconds of one call."""
        assert row == self.name
        return seconds(*self.pair)

    def cost(self, row: str) -> tuple[float, float]:
        """Seconds of a value with its gradient, and of the plain function."""
        from .contestants import CONTESTANTS, plain
        from .eager import COST

        return seconds(*CONTESTANTS[self.contestant](COST)), seconds(COST.function(plain()), COST.point())


def serve(contestant: str) -> None:
    """Answer questions until there are no more; only answers reach the real output."""
    desk, output = Desk(contestant), sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        question = json.loads(line)
        try:
            reply = {"answer": getattr(desk, question.pop("task"))(**question)}
        except Exception as error:  # whatever a contestant cannot do is a result, and stands in the table
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=output, flush=True)


if __name__ == "__main__":
    serve(sys.argv[1])
