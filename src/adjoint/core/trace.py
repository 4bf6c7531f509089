"""The walks' common ground: a level for each, so that the innermost one is always known."""

from __future__ import annotations

import itertools
from typing import Any, Protocol

from .traced import Traced, snapshot

new_level = itertools.count(1).__next__
"""A number above that of every walk under way: an inner walk starts after the outer one.

This is all the state there is, so threads, generators and exceptions have nothing to disturb.
"""


class Trace(Protocol):
    """What a walk must be able to do."""

    level: int
    lead: int
    """How many leading axes of a value the user does not see: 1 inside vmap, else 0."""
    is_capture: bool
    """Whether it writes a program down, so that decisions on its values have to be guarded."""

    def process(self, primitive: Any, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """Apply a primitive to arguments of which at least one belongs to this walk."""

    def unary(self, primitive: Any, x: Traced) -> Any:
        """`process` for an elementwise function of one argument of this walk."""

    def end(self) -> None:
        """Let go of what was recorded: from now on a handle of this walk is its value (see `Ended`)."""


def peel(trace: Any, x: Any) -> Any:
    """The argument as the next walk out should see it."""
    if isinstance(x, Traced):
        return x.value if x.walk is trace else snapshot(x)
    return x


def is_differentiated(x: Any) -> bool:
    """Whether a value belongs to a derivative further out (a batch or a capture alone does not count)."""
    while isinstance(x, Traced):
        if x.walk.level and not x.walk.lead and not x.walk.is_capture:
            return True
        x = x.value
    return False
