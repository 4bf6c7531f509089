"""`python -m benchmarks.learn [--only TOPIC ...] [--rounds N]`: measure and print; all together write results.md.

A topic is a file of this folder with a `TITLE` and a function `measured(rounds)` that gives text in Markdown.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import time
import warnings
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .measuring import ONE_THREAD

os.environ.update(ONE_THREAD)  # before NumPy is loaded

HERE = Path(__file__).parent
TOPICS = sorted(f.stem for f in HERE.glob("*.py") if f.stem not in ("__init__", "__main__", "measuring", "generators"))
PEERS = ("scikit-learn", "mapie", "crepes", "netcal", "relplot", "torch")
TEXT = """# Learning, beside others

Written by `python -m benchmarks.learn`. Times are processor seconds of one thread, the least of several runs in fresh
processes that take turns; memory is the peak of what was allocated beside the data. Peers that are not installed are
left out. {circumstances}

{sections}"""


def main() -> None:
    """Measure what was asked for; only all topics together replace the page that is kept."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learn", description="Measure learning beside others.")
    parser.add_argument("--only", nargs="+", metavar="TOPIC", choices=TOPICS, help=f"of {', '.join(TOPICS)}")
    parser.add_argument("--rounds", type=int, default=2, help="how often contestants take turns")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    start, sections = time.time(), []
    for name in chosen.only or TOPICS:
        topic = importlib.import_module(f".{name}", __package__)
        sections.append(f"## {topic.TITLE}\n\n{topic.measured(chosen.rounds)}")
        print(sections[-1], flush=True)
    print(f"{time.time() - start:.0f} s")
    if not chosen.only:
        (HERE / "results.md").write_text(TEXT.format(circumstances=circumstances(), sections="\n".join(sections)))


def circumstances() -> str:
    """Versions, and what it ran on."""
    found = []
    for name in PEERS:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return f"Python {platform.python_version()}, {', '.join(found)}, {os.cpu_count()} cores."


if __name__ == "__main__":
    main()
