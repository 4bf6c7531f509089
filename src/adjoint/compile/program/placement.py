"""Where values are: in registers, in memory, or nowhere, as they are computed where they are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Register:
    """Every element is in a register of its own: the value is *tiny*."""


@dataclass(frozen=True, slots=True)
class Memory:
    """The value has an address.

    Code of the level `readable_from` and of later ones finds it there; what comes before, the loop that writes it
    included, has to compute it.
    """

    readable_from: int


@dataclass(frozen=True, slots=True)
class Inline:
    """The value has no place, it is computed wherever it is read."""


Location = Register | Memory | Inline
REGISTER, INLINE = Register(), Inline()


class Effort(NamedTuple):
    """What it takes to compute one element of a value where it is read."""

    cost: int
    """About how many additions."""
    depth: int
    """Of steps that need each other."""
    has_pad: bool
    """Whether there is a pad among them: a loop has to be cut where that begins and ends."""


class Layout(NamedTuple):
    """A value as a view of one that has a place: which, where it begins, its strides; both in elements."""

    base: int
    offset: int
    strides: tuple[int, ...]
