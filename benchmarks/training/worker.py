"""A process with one contestant: `python -m benchmarks.training.worker CONTESTANT WORK DATA`, asked line by line."""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from typing import Any

START = time.perf_counter()


def main() -> None:
    """Answer each seed with seconds, accuracy and peak memory; the first one includes imports apart."""
    import numpy as np

    from .contestants import CONTESTANTS
    from .works import WORKS, split

    warnings.simplefilter("ignore")
    with np.load(sys.argv[3]) as file:
        given, test = split(file["X"], file["y"])
    train = CONTESTANTS[sys.argv[1]](WORKS[sys.argv[2]])
    imported = time.perf_counter() - START
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for line in sys.stdin:
        began = time.perf_counter()
        predict = train(*given, json.loads(line))
        seconds = time.perf_counter() - began
        found: dict[str, Any] = {"seconds": seconds, "accuracy": float(np.mean(predict(test[0]) == test[1]))}
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        print(json.dumps({**found, "imported": imported, "memory": memory / 1024}), flush=True)


if __name__ == "__main__":
    main()
