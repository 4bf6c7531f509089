"""`python -m benchmarks.packages [--only PACKAGE ...] [--verbose]`: a table of what can be differentiated as it stands.

Not run by CI: it needs what `pip install -e '.[packages]'` installs. Each package runs in a process of its own.
`right`: the gradient is that of central differences, at two points. `named`: the work is done in compiled code, and
the refusal names that call and `ad.custom_rule`. `refused`: any other refusal; `error`: something else was raised.
"""

from __future__ import annotations

import argparse
import collections
import importlib
import json
import pkgutil
import subprocess
import sys
from pathlib import Path

from .judge import judged
from .row import ROWS

for _found in pkgutil.iter_modules([str(Path(__file__).parent)]):
    if _found.name.startswith("rows_"):
        importlib.import_module(f"{__package__}.{_found.name}")

LIMIT = 600.0
"""Seconds for the rows of one package."""


def main() -> None:
    """Print a line for each function, and how many are right."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.packages", description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="PACKAGE", help="rows of these packages, or with these names")
    parser.add_argument("--here", action="store_true", help="in this process, one JSON line for each row")
    parser.add_argument("--verbose", action="store_true", help="show tracebacks, in this process")
    chosen = parser.parse_args()
    rows = [r for r in ROWS if not chosen.only or r.package in chosen.only or r.name in chosen.only]
    if chosen.here or chosen.verbose:
        for r in rows:
            print(json.dumps([r.package, r.name, judged(r, chosen.verbose)]), flush=True)
        return
    totals = {mode: collections.Counter[str]() for mode in ("eager", "jit")}
    for package in dict.fromkeys([r.package for r in rows]):
        for name, found in _apart(package, [r.name for r in rows if r.package == package]).items():
            for mode, total in totals.items():
                total[found[mode].partition(":")[0]] += 1
            print(f"| {package} | {name} | {found['eager'][:150]} | {found['jit'][:150]} |", flush=True)
    for mode, total in totals.items():
        print(mode, dict(total))


def _apart(package: str, names: list[str]) -> dict[str, dict[str, str]]:
    """What comes of the rows of a package, in a process of its own."""
    found = {name: {"eager": "no answer", "jit": "no answer"} for name in names}
    command = [sys.executable, "-m", "benchmarks.packages", "--here", "--only", *names]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired as late:
        lines, errors = (late.stdout or b"").decode(), "too slow"
    else:
        lines, errors = done.stdout, done.stderr
    for line in lines.splitlines():
        if line.startswith("["):
            _, name, verdict = json.loads(line)
            found[name] = verdict
    if errors and any([v["eager"] == "no answer" for v in found.values()]):
        print(f"{package}: {errors[-500:]}", file=sys.stderr)
    return found


if __name__ == "__main__":
    main()
