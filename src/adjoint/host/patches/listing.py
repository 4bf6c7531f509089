"""The changes that are in force, as rows for a reader."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from .changes import CHANGES


class PatchedPlace(NamedTuple):
    """A place outside the library that has been changed and stays so."""

    where: str
    """The full name of what is changed."""
    what: str
    """What sort of thing that is: a function, a global name, an attribute."""
    why: str
    since: datetime

    def __str__(self) -> str:
        """A line for it."""
        return f"{self.since:%H:%M:%S}  {self.where}  ({self.what}): {self.why}"


def places(module: str | None = None) -> list[PatchedPlace]:
    """What is changed, all of it or in one module and those below it, in the order in which it was done."""
    rows = []
    for change in list(CHANGES.values()):
        if change.owner() is None:  # it has gone meanwhile
            continue
        home, where = change.described()
        if module is None or home == module or home.startswith(module + "."):
            since = datetime.fromtimestamp(change.since).astimezone()
            rows.append(PatchedPlace(where, change.kind, change.patch["why"], since))
    return rows
