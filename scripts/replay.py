"""Write down what programs are recorded and what they compute, to compare after a change that should alter neither.

    python scripts/replay.py before.json            # at the old commit
    python scripts/replay.py after.json before.json # at the new one: prints what differs

Every third function of the catalogue, the rows of the benchmarks and the functions that branch: the text of the program
before and after the passes, and the bits of the value and the gradient, compiled.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
os.environ["ADJOINT_QUICK"] = "off"

import adjoint as ad
from benchmarks import sets
from benchmarks.contestants import plain
from tests.cases.catalogue import every_entry
from tests.cases.points import weighted
from tests.jit import branching

LARGEST_ROW_ELEMENTS = 20_000
"""Rows with more numbers are left out: the programs are the same, and they take minutes."""


def programs() -> Iterator[tuple[str, Callable[..., Any], list[tuple[Any, ...]]]]:
    """A name, a function and the points at which it is called, in this order."""
    for entry in every_entry()[::3]:
        yield entry.name, entry.function, [entry.args]
        yield f"{entry.name}, gradient", ad.grad(weighted(entry.function), tuple(range(len(entry.args)))), [entry.args]
    for name, row in sets.ALL.items():
        point = row.point()
        if sum(np.size(x) for x in ad.tree.leaves(point)) <= LARGEST_ROW_ELEMENTS:
            yield f"row {name}", ad.value_and_grad(row.function(plain())), [(point,)]
    for f in [*branching.OF_NUMBERS, *branching.OF_ARRAYS]:
        name = f.__name__
        points = [(np.asarray(signs), np.linspace(0.2, 0.9, 3)) for signs in branching.PATTERNS]
        yield f"branches {name}", f, points
        yield f"branches {name}, gradient", ad.grad(lambda t, x, f=f: np.sum(f(t, x)), 1), points


def bits(value: Any) -> str:
    """Kinds, shapes and bytes of all leaves."""
    leaves = [np.asarray(x) for x in ad.tree.leaves(value)]
    return _digest("".join(f"{x.dtype}{x.shape}{x.tobytes().hex()}" for x in leaves))


def written(function: Callable[..., Any], points: list[tuple[Any, ...]]) -> dict[str, Any]:
    """What there is to know of one function; an error counts as what it says."""
    jitted = ad.jit(function)
    try:
        values = [bits(jitted(*point)) for point in points]
        lowered = jitted.lower(*points[-1])
        return {
            "values": values,
            "recorded": _digest(str(lowered.program)),
            "optimised": _digest(str(lowered.optimized)),
            "steps": len(lowered.optimized.steps),
            "recordings": jitted.stats()["recordings"],
        }
    except Exception as error:
        return {"error": f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"}


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def main(target: str, reference: str | None = None) -> int:
    """Writes the file; compares it with another if there is one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        now = {name: written(function, points) for name, function, points in programs()}
    Path(target).write_text(json.dumps(now, indent=0), "utf-8")
    print(f"{len(now)} functions, {sum('error' in facts for facts in now.values())} of them refused")
    if reference is None:
        return 0
    before = json.loads(Path(reference).read_text("utf-8"))
    different = [name for name in before.keys() | now.keys() if before.get(name) != now.get(name)]
    for name in sorted(different):
        old, new = before.get(name, {}), now.get(name, {})
        parts = [f"{k}: {old.get(k)} -> {new.get(k)}" for k in old.keys() | new.keys() if old.get(k) != new.get(k)]
        print(f"{name}: {'; '.join(parts)}")
    print(f"{len(different)} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
