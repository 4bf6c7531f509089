"""A row: a function of a package as its own documentation calls it, and a point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Made = tuple[Callable[..., Any], Any]
"""The function of one vector that is differentiated, which gives a number, and the point."""


class Row(NamedTuple):
    """One function of a package."""

    package: str
    """The name of the package on PyPI."""
    name: str
    make: Callable[[], Made]
    """Imports the package, and gives the function and the point."""
    compiled: str
    """The compiled call in which its work is done: the row is right if it is refused by that name."""


ROWS: list[Row] = []


def row(package: str, compiled: str = "") -> Callable[[Callable[[], Made]], Callable[[], Made]]:
    """Enter a function of a package; its name says which."""

    def enter(make: Callable[[], Made]) -> Callable[[], Made]:
        ROWS.append(Row(package, make.__name__, make, compiled))
        return make

    return enter


def of_number(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of one number, as one of a vector of length 1."""
    return lambda p: function(p[0])
