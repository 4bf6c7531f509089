"""What decides the numbers of a run, as texts by name: whatever differs has a name to tell."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from .anatomy import Anatomy, anatomy, digest

DEEPEST = 8
"""So many levels are told apart by name; what is deeper goes by a digest."""
WIDEST = 256
"""Of what has more parts than this, a digest."""
NESTED = 150
"""What is nested deeper than this, as a list of linked objects may be, is not looked at."""


def run_facts(**decisive: Any) -> dict[str, str]:
    """All that decides the numbers of a run; code is compared as bytecode, which every Python has its own of."""
    decisive["Python"] = sys.implementation.cache_tag
    return {path: text for name, x in decisive.items() for path, text in facts_of(name, x).items()}


def facts_of(name: str, x: Any) -> dict[str, str]:
    """What something is and what it is made of, by names such as `model.layers[1].rate`."""
    found: dict[str, str] = {}
    for path, text in _told(name, x, ()):
        unique = path
        while unique in found:  # as of a variable and an attribute of the same name
            unique += "'"
        found[unique] = text
    return found


def _told(name: str, x: Any, around: tuple[int, ...]) -> Iterator[tuple[str, str]]:
    if id(x) in around:
        yield name, f"what is {len(around) - around.index(id(x))} levels up"
        return
    own = anatomy(x)
    if own.parts and (own.unordered or len(own.parts) > WIDEST or len(around) >= DEEPEST):
        yield name, f"{own.label} {Digests().of(x)}"
        return
    yield name, own.label
    for key, part in own.parts:
        yield from _told(f"{name}{key}" if key.startswith("[") else f"{name}.{key}", part, (*around, id(x)))


class Digests:
    """Digests of whole objects, each of them taken once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, str]] = {}
        self._around: list[int] = []

    def of(self, x: Any) -> str:
        """A few characters that differ if anything does that decides numbers."""
        if id(x) in self._known:
            return self._known[id(x)][1]
        if id(x) in self._around:
            return f"{len(self._around) - self._around.index(id(x))} levels up"
        if len(self._around) >= NESTED:
            return type(x).__qualname__
        self._around.append(id(x))
        found = self._of_parts(anatomy(x))
        self._around.pop()
        self._known[id(x)] = x, found  # with the object, as another one may get the same id later
        return found

    def _of_parts(self, own: Anatomy) -> str:
        parts = [digest(name, self.of(part)) for name, part in own.parts]
        return digest(own.label, *(sorted(parts) if own.unordered else parts))
