"""The table: times, ratios, and in plain words what was asked and whether it was met."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from .libraries import THREADS, versions
from .workloads import COST, WORKLOADS

TOLERANCE = 1e-6
COST_ASKED = COST.asked
IMPORT_ASKED = 1.30


def page(found: dict[str, dict[str, Any]], libraries: list[str], cost: float | None, imports: Any) -> str:
    """The whole page."""
    parts = [
        "# Benchmarks",
        f"{datetime.now(UTC):%Y-%m-%d}. {machine()}. {versions()}, Python {platform.python_version()}.",
        "Time of one eager call of value and gradient in double precision. Each library runs in its own process, with "
        f"{THREADS} threads; they take turns, and the smallest time counts. The gradients of a row are compared "
        f"to {TOLERANCE:g} first, and a row where they differ says so. "
        "By hand is NumPy with the derivative worked out by a person; JAX is "
        "compiled, and there for information (without the long loop, which it would compile for minutes). "
        "Run `python -m benchmarks` to make this page.",
        table(found, libraries),
        *([] if cost is None else [cost_line(cost)]),
        *([] if imports is None else [import_line(*imports)]),
    ]
    return "\n\n".join(parts) + "\n"


def table(found: dict[str, dict[str, Any]], libraries: list[str]) -> str:
    """One line for each workload."""
    head = ["workload", *libraries, "autograd / adjoint", "asked", "torch / adjoint", "verdict"]
    lines = [head, ["---", *["---:"] * (len(head) - 2), "---"]]
    for row, result in found.items():
        times = result["times"]
        work = WORKLOADS[row]
        lines.append(
            [
                work.title,
                *[shown(times[name]) if name in times else "" for name in libraries],
                ratio(times, "autograd"),
                f"{work.asked:g}",
                ratio(times, "torch"),
                verdict(result, work.asked),
            ]
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def verdict(result: dict[str, Any], asked: float) -> str:
    """What the row says, in words."""
    wrong = disagreeing(result["gradients"])
    if wrong:
        return f"not comparable: the gradient of {' and '.join(wrong)} differs"
    times, remarks = result["times"], []
    if "adjoint" not in times:
        return ""
    if "autograd" in times and times["autograd"] < asked * times["adjoint"]:
        remarks.append(f"not met: less than {asked:g} times faster than autograd")
    for name in ("autograd", "torch"):
        if name in times and times[name] < times["adjoint"]:
            remarks.append(f"slower than {name}")
    return "; ".join(remarks) or "met"


def disagreeing(gradients: dict[str, list[float]]) -> list[str]:
    """The libraries whose gradient is not the first one's."""
    names = list(gradients)
    first = np.array(gradients[names[0]])
    scale = np.max(np.abs(first))
    return [
        name
        for name in names
        if len(gradients[name]) != len(first)
        or not np.allclose(gradients[name], first, rtol=TOLERANCE, atol=TOLERANCE * 1e-3 * scale)
    ]


def cost_line(cost: float) -> str:
    """The price of a gradient."""
    met = "met" if cost <= COST_ASKED else "not met"
    return (
        f"Cost of value and gradient, {COST.title}: {cost:.2f} times the plain function "
        f"(asked: at most {COST_ASKED:g}; {met})."
    )


def import_line(ours: float, numpy: float) -> str:
    """The price of the import."""
    met = "met" if ours <= IMPORT_ASKED * numpy else "not met"
    return (
        f"Import: `import adjoint` takes {ours * 1e3:.0f} ms, `import numpy` alone {numpy * 1e3:.0f} ms: "
        f"{ours / numpy:.2f} times (asked: at most {IMPORT_ASKED:.2f}; {met})."
    )


def ratio(times: dict[str, float], other: str) -> str:
    """How many times longer the other library takes."""
    return f"{times[other] / times['adjoint']:.2f}" if other in times and "adjoint" in times else ""


def shown(seconds: float) -> str:
    """A time in microseconds or milliseconds."""
    return f"{seconds * 1e6:.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def machine() -> str:
    """Processor, cores and memory; nothing that names the machine."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB of memory, load average {os.getloadavg()[0]:.1f} at the end"
    )
