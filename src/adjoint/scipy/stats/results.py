"""What SciPy's statistics return: tuples with more attributes, and small objects, which are containers of numbers."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ...core.classes import register
from ...core.traced import Traced

MODULES = ("_stats_py", "_morestats", "_hypotests", "_stats_mstats_common", "_correlation", "_common")
OBJECTS = (
    "CramerVonMisesResult", "TukeyHSDResult", "DirectionalStats", "QuantileTestResult", "PageTrendTestResult",
)  # fmt: skip
NUMBERS = (np.ndarray, np.generic, float, complex, tuple, Traced)


def install() -> None:
    """Teach containers these classes, so that results can be stacked, mapped over and returned."""
    for module in MODULES:
        for x in list(vars(sys.modules.get(f"scipy.stats.{module}", sys)).values()):
            if isinstance(x, type) and x.__module__.startswith("scipy.") and _is_result(x):
                register(x, _split, lambda settings, parts, kind=x: _joined(kind, settings, parts))  # type: ignore[misc]


def _is_result(kind: type) -> bool:
    return (issubclass(kind, tuple) and hasattr(kind, "_extra_fields")) or kind.__name__ in OBJECTS


def _split(x: Any) -> tuple[list[Any], Any]:
    """Items and attributes that are numbers; all else stays as it is."""
    items = list(x) if isinstance(x, tuple) else []
    names = [name for name, part in vars(x).items() if isinstance(part, NUMBERS)]
    rest = tuple([(name, part) for name, part in vars(x).items() if name not in names])
    return [*items, *[vars(x)[name] for name in names]], (len(items), tuple(names), rest)


def _joined(kind: type, settings: Any, parts: Any) -> Any:
    count, names, rest = settings
    parts = list(parts)
    made: Any = tuple.__new__(kind, parts[:count]) if issubclass(kind, tuple) else object.__new__(kind)
    vars(made).update(zip(names, parts[count:], strict=True))
    vars(made).update(rest)
    return made
