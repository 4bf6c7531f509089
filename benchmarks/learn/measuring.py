"""How things are measured: contestants in processes of their own, one thread, processor time, the least of several."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1")
LIMIT = 180.0
"""Seconds after which a contestant has lost."""


def has(package: str) -> bool:
    """Whether a peer is installed."""
    return find_spec(package) is not None


def alone(name: str, *arguments: Any, repeats: int = 1, memory: bool = False) -> dict[str, Any]:
    """What `name`, as "module:function", prepares with the arguments, run in a fresh process.

    Returns
    -------
    dict
        "first" and "least" in processor seconds, "memory" in MB if asked for, "result" what the run gave; or "error".
    """
    call = json.dumps([name, arguments, repeats, memory])
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.learn.measuring", call]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env=os.environ | ONE_THREAD)
    except subprocess.TimeoutExpired:
        return {"error": f"> {LIMIT:.0f} s"}
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or ["?"])[-1][:60]}
    return json.loads(done.stdout.strip().splitlines()[-1])


def in_turn(calls: dict[str, tuple[Any, ...]], *, rounds: int, **how: Any) -> dict[str, dict[str, Any]]:
    """Contestants take turns; of their times the least counts."""
    found: dict[str, dict[str, Any]] = {}
    for _ in range(rounds):
        for who, call in calls.items():
            new = alone(*call, **how)
            old = found.get(who, new)
            least = {k: min(old[k], new[k]) for k in ("first", "least", "memory") if k in old and k in new}
            found[who] = new | least
    return found


def run(name: str, arguments: Sequence[Any], repeats: int, memory: bool) -> dict[str, Any]:
    """The part of `alone` in the fresh process."""
    module, _, function = name.partition(":")
    prepared: Callable[[], Any] = getattr(importlib.import_module(module), function)(*arguments)
    times = []
    for _ in range(repeats):
        start = time.process_time()
        result = prepared()
        times.append(time.process_time() - start)
    found = {"first": times[0], "least": min(times), "result": result}
    if memory:
        tracemalloc.start()
        prepared()
        found["memory"] = tracemalloc.get_traced_memory()[1] / 2**20
    return found


def cell(found: dict[str, Any], key: str, scale: float = 1.0, digits: int = 3) -> str:
    """A number with so many digits that count, or why there is none."""
    if "error" in found:
        return str(found["error"])
    return f"{found[key] * scale:.{digits}g}" if key in found else ""


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines) + "\n"


if __name__ == "__main__":
    print(json.dumps(run(*json.loads(sys.argv[1]))))
