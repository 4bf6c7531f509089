"""`python -m benchmarks [--only ROW ...] [--rounds N] [--libraries NAME ...]`: measure, print, and keep the table."""

from __future__ import annotations

import argparse
from pathlib import Path

from .libraries import LIBRARIES
from .report import page
from .runner import measure, measure_cost, measure_import
from .workloads import WORKLOADS

RESULTS = Path(__file__).with_name("results.md")
EXTRA = ("cost", "import")


def main() -> None:
    """Measure what was asked for; only a complete table replaces the one that is kept."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Time gradients against other libraries.")
    parser.add_argument("--only", nargs="+", metavar="ROW", choices=[*WORKLOADS, *EXTRA], help="these rows alone")
    parser.add_argument("--rounds", type=int, default=7, help="how often the libraries take turns")
    parser.add_argument("--libraries", nargs="+", choices=list(LIBRARIES), default=list(LIBRARIES))
    chosen = parser.parse_args()
    rows = chosen.only or [*WORKLOADS, *EXTRA]

    found = measure([row for row in rows if row in WORKLOADS], chosen.libraries, chosen.rounds)
    cost = measure_cost(chosen.rounds) if "cost" in rows else None
    imports = measure_import(4 * chosen.rounds) if "import" in rows else None
    text = page(found, chosen.libraries, cost, imports)
    print(text)
    if len(rows) == len(WORKLOADS) + len(EXTRA) and len(chosen.libraries) == len(LIBRARIES):
        RESULTS.write_text(text)


if __name__ == "__main__":
    main()
