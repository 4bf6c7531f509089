"""Names of variables in source: valid, and free."""

from __future__ import annotations

import builtins
import keyword
import re

from ..record.record import in_line

RESERVED = frozenset((*keyword.kwlist, *keyword.softkwlist, *dir(builtins), "np", "numpy", "scipy", "math"))

USED = frozenset((*keyword.kwlist, "np", "numpy", "scipy", "math", "complex", "float", "len", "list", "range", "slice"))
"""What statements are written with: not even a parameter may be called so."""


class Names:
    """The names that are given away, one after the other."""

    def __init__(self) -> None:
        self._taken = set(RESERVED)
        self._given: set[str] = set()
        self._last: dict[str, int] = {}

    def parameter(self, wish: str) -> str:
        """As `free`, but it may have the name of a builtin that is not used: parameters are given by name."""
        if wish != identifier(wish) or wish in USED or wish in self._given:
            return self.free(wish)
        self._taken.add(wish)
        self._given.add(wish)
        return wish

    def free(self, wish: str) -> str:
        """An identifier that nothing else has: the wish, or one with a number behind it."""
        name = free = identifier(wish)
        k = self._last.get(name, 2)  # the numbers before are taken: long loops ask for one name again and again
        while free in self._taken:
            free, k = f"{name}_{k}", k + 1
        self._last[name] = k
        self._taken.add(free)
        self._given.add(free)
        return free


def identifier(wish: str) -> str:
    """A valid name of a variable, without underscores in front: those are the helpers'."""
    text = re.sub(r"\W+", "_", in_line(wish)).strip("_") or "v"
    return text if text.isidentifier() else f"v_{text}"
