"""The page: tables of times and ratios, notes on who is missing, and what was asked."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .contestants import COMPILING, THREADS, versions
from .eager import COST, COST_ASKED, IMPORT_ASKED
from .sets import ALL, SETS, TEAMS
from .taylor import growth
from .verdict import FIRST_ASKED, asked, limit_of, short, verdict

INTRODUCTION = (
    "Time of one call of value and gradient (or what the row says); in brackets how many times the time of adjoint "
    "it is. Double precision unless a row says otherwise. Each contestant runs in its own process with "
    f"{THREADS} threads; they take turns, and the smallest time counts. Before that all results of a row are compared "
    "with the one worked out by hand, and that one with differences of the plain function; a row where they disagree "
    "says so. adjoint takes and gives NumPy arrays and Python floats; JAX has its own device arrays from the start and "
    "is waited for; PyTorch has its own tensors. By hand is the derivative worked out by a person: in NumPy, in Python "
    "with `math`, in C (`gcc -O3 -march=native`, an extension function; OpenMP with "
    f"{THREADS} threads from 10,000 elements, or for each of many blocks), and in the same C with glibc's vector "
    "functions, which gcc does not use by itself. First calls are timed apart, compilers started: recording, compiling "
    "and running once. "
    "Run `python -m benchmarks` to make this page, its numbers (results.json) and the chart."
)

HEADINGS = {
    "jit": "Compiled",
    "families": "Problem families of the literature",
    "nested": "Loops, nested derivatives, dense second derivatives",
    "curvature": "Curvature",
    "eager": "Step by step, without the compiler",
    "taylor": "Taylor coefficients",
}
WORDS = {
    "jit": f"Of every row is also asked that its first call takes at most 1/{FIRST_ASKED:g} of JAX's.",
    "families": "Of every row is asked to be first or second, never more than twice behind the best, and that its "
    f"first call takes at most 1/{FIRST_ASKED:g} of JAX's.",
    "nested": f"Of every row is asked to be first, and that its first call takes at most 1/{FIRST_ASKED:g} of JAX's.",
    "curvature": "Of every row is asked to be first. Others take the Laplacian the way that the row says; the one by "
    "hand is the forward Laplacian too.",
    "eager": "How the library does while it records, prints and branches freely.",
    "taylor": "All coefficients up to an order. JAX is asked twice: with `jet`, and with nested tangents, as PyTorch.",
}


def page(kept: dict[str, Any]) -> str:
    """The whole page from what was measured."""
    parts = ["# Benchmarks", INTRODUCTION, "![time relative to the best](chart.svg)"]
    for kind in SETS:
        if kind in kept:
            found = kept[kind]
            parts += [
                f"## {HEADINGS[kind]}",
                f"{found['date']}. {found['machine']}. {found['versions']}. Rounds: {found['rounds']}. {WORDS[kind]}",
                table(kind, found["rows"]),
                *notes(kind, found["rows"]),
            ]
            if kind == "taylor":
                parts.append(growth(found["rows"]))
            if found.get("cost") is not None:
                parts.append(cost_line(found["cost"]))
            if found.get("import") is not None:
                parts.append(import_line(*found["import"]))
    return "\n\n".join(parts) + "\n"


def circumstances(rounds: int) -> dict[str, Any]:
    """When, where and with what."""
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": machine(),
        "versions": f"{versions()}, Python {platform.python_version()}",
        "rounds": rounds,
    }


def table(kind: str, rows: dict[str, dict[str, Any]]) -> str:
    """One line for each row; contestants that are in none of them have no column."""
    us, *others = TEAMS[kind]
    others = [name for name in others if any(name in found["times"] | found["failed"] for found in rows.values())]
    firsts = [name for name in COMPILING if name in TEAMS[kind]]
    first = [f"first call: {', '.join(firsts)}"] if firsts else []
    head = ["work", us, *others, *first, "asked", "verdict"]
    lines = [head, ["---", *["---:"] * (len(head) - 3), "---", "---"]]
    for row, found in rows.items():
        lines.append(
            [
                ALL[row].title,
                cell(us, us, found),
                *[cell(name, us, found) for name in others],
                *([first_cell(firsts, found)] if firsts else []),
                asked(row, kind),
                verdict(row, kind, found),
            ]
        )
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cell(name: str, us: str, found: dict[str, Any]) -> str:
    """A time and its ratio, or why there is none."""
    if name in found["failed"]:
        reason = found["failed"][name]
        return reason if limit_of(reason) else "fails"
    times = found["times"]
    if name not in times:
        return ""
    if name == us or us not in times:
        return shown(times[name])
    return f"{shown(times[name])} ({times_as_long(times[name] / times[us])})"


def times_as_long(ratio: float) -> str:
    """A ratio with three digits, and never in powers of ten."""
    return f"{ratio:,.0f}x" if ratio >= 100.0 else f"{ratio:.3g}x"


def first_cell(names: list[str], found: dict[str, Any]) -> str:
    """Seconds of the first calls."""
    return ", ".join(shown(found["first"][name]) if name in found["first"] else "-" for name in names)


def notes(kind: str, rows: dict[str, dict[str, Any]]) -> list[str]:
    """Who does not take part where, and why."""
    lines = []
    for row, found in rows.items():
        title = ALL[row].title
        left_out = {name: why for name, why in ALL[row].without.items() if name in TEAMS[kind]}
        for why in dict.fromkeys(left_out.values()):
            names = [name for name, own in left_out.items() if own == why]
            lines.append(f"- {title}: not {', '.join(names)}: {why}")
        lines += [
            f"- {title}: {name} fails: {short(why, 300)}" for name, why in found["failed"].items() if not limit_of(why)
        ]
    return ["\n".join(["Not in the table:", "", *lines])] if lines else []


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


def shown(seconds: float) -> str:
    """A time with its unit, three digits."""
    for size, unit in ((1e-6, "ns"), (1e-3, "µs"), (1.0, "ms")):
        if seconds < size:
            return f"{seconds / size * 1e3:.3g} {unit}" if seconds / size * 1e3 < 999.5 else f"1 {unit}"
    return f"{seconds:.3g} s"


def machine() -> str:
    """Processor, cores, vector units and memory; nothing that names the machine."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    told = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in reversed(lines))}
    flags = told.get("flags", "").split()
    units = " ".join(flag for flag in ("avx2", "fma", "avx512f", "avx512dq", "avx512vl") if flag in flags)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{told.get('model name', platform.machine())} ({units or 'vector units unknown'}), {os.cpu_count()} cores, "
        f"{memory:.0f} GiB of memory, load average {os.getloadavg()[0]:.1f} at the end"
    )
