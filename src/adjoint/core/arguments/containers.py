"""Containers without an end: one that holds itself, or is nested deeper than any walk through it can go."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

DEEPEST = 200
"""Levels of lists, tuples, sets and dicts; optree and NumPy, which call themselves, end at a few times as many."""

CONTAINERS = (list, tuple, dict, set, frozenset)


def is_too_deep(x: Any) -> bool:
    """Whether a container holds itself or has too many levels; one that occurs often is looked at once a level."""
    level: list[Any] = [x] if isinstance(x, CONTAINERS) else []
    for _ in range(DEEPEST):
        inner = {id(part): part for held in level for part in _parts(held) if isinstance(part, CONTAINERS)}
        level = list(inner.values())
        if not level:
            return False
    return True


def _parts(held: Any) -> Iterable[Any]:
    return held.values() if isinstance(held, dict) else held


def leaves(x: Any) -> list[Any]:
    """What is in a container that is not too deep, and no container itself."""
    found: list[Any] = []
    level = [x]
    while level:
        parts = [part for held in level for part in _parts(held)]
        found += [part for part in parts if not isinstance(part, CONTAINERS)]
        level = [part for part in parts if isinstance(part, CONTAINERS)]
    return found
