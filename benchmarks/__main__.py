"""`python -m benchmarks [--set SET] [--only ROW ...] [--rounds N]`: measure, print, and keep the tables."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from .chart import draw
from .contestants import CONTESTANTS
from .report import circumstances, page
from .runner import Field, measure_cost, measure_import
from .sets import ALL, SETS, TEAMS

HERE = Path(__file__).parent
ENOUGH = 3
"""Rounds from which a table is worth keeping."""


def main() -> None:
    """Measure what was asked for; only a complete set of several rounds replaces the one that is kept."""
    chosen = arguments()
    if chosen.draw:
        keep(json.loads((HERE / "results.json").read_text()))
        return
    found: dict[str, Any] = {}
    for kind, rows in SETS.items():
        wanted = [row for row in rows if (row in chosen.only if chosen.only else chosen.set in (kind, "all"))]
        if wanted:
            found[kind] = measured(kind, wanted, chosen)
    print(page(found))
    if chosen.json:
        Path(chosen.json).write_text(json.dumps(found, indent=1))
    if chosen.only or chosen.contestants or chosen.rounds < ENOUGH:
        return
    path = HERE / "results.json"
    keep((json.loads(path.read_text()) if path.exists() else {}) | found)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Time derivatives against other libraries."
    )
    parser.add_argument("--set", choices=[*SETS, "all"], default="all", help="these rows alone")
    parser.add_argument("--only", nargs="+", metavar="ROW", choices=list(ALL), help=f"of {', '.join(ALL)}")
    parser.add_argument("--rounds", type=int, default=7, help=f"how often they take turns; kept from {ENOUGH} on")
    parser.add_argument("--contestants", nargs="+", choices=list(CONTESTANTS), help="these alone")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="for a first call: 60, in a single round 10")
    parser.add_argument("--json", metavar="FILE", help="write the numbers there too")
    parser.add_argument("--draw", action="store_true", help="page and chart from results.json, without measuring")
    chosen = parser.parse_args()
    chosen.limit = chosen.limit or (60.0 if chosen.rounds > 1 else 10.0)
    return chosen


def measured(kind: str, rows: list[str], chosen: argparse.Namespace) -> dict[str, Any]:
    """One set, row by row."""
    team = tuple(name for name in TEAMS[kind] if not chosen.contestants or name in chosen.contestants)
    field = Field(team, chosen.limit)
    found = {}
    try:
        for row in rows:
            found[row] = field.measure(row, chosen.rounds)
            print(f"  {row} measured", file=sys.stderr)
    finally:
        field.close()
    result = {**circumstances(chosen.rounds), "rows": found}
    if kind == "eager" and not chosen.only:
        result |= {"cost": measure_cost(chosen.rounds), "import": measure_import(4 * chosen.rounds)}
    return result


def keep(found: dict[str, Any]) -> None:
    """Numbers, page and chart."""
    (HERE / "results.json").write_text(json.dumps(found, indent=1) + "\n")
    (HERE / "results.md").write_text(page(found))
    if not draw(found, HERE / "chart.svg"):
        print("no chart: it needs matplotlib", file=sys.stderr)


if __name__ == "__main__":
    main()
