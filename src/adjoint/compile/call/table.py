"""The surroundings of a recording as a table that machine code looks through: microseconds, however many there are.

If a row does not hold, Python looks at everything. Something may be elsewhere and mean the same: then the table is
written anew, and what has moved a few times is left to Python from then on.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from ...capture.environment.watch import Watch
from . import objects
from .callable import helper
from .row import BYTES, ITEM, ITEMS, WORD, Row, word
from .rows import LISTS

PATIENCE = 3
"""How often a row may fail although nothing has changed."""
MANY = 4
"""Items of a dict from which on its version is looked at."""
DICT_VERSION = 24
"""Where CPython counts the changes of a dict, up to 3.12."""
VERSIONS = "versions"


class WatchTable:
    """Whether everything is as it was."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._moved: Counter[tuple[str, int]] = Counter()
        self.header = np.zeros(2, np.uint64)
        """Where the rows are, and how many: an array that machine code is given."""
        self._kept: list[Any] = []
        self._unsteady: set[int] = set()
        """Dicts that change in what does not count."""
        self._write()

    def __call__(self) -> bool:
        """Look through the table, and at the rest."""
        return (self.holds() or self.recheck()) and self.rest_holds()

    def holds(self) -> bool:
        """Whether all rows hold."""
        return bool(_scan()(self.header.ctypes.data))

    def rest_holds(self) -> bool:
        """Whether that is so for what has no rows."""
        return not self.rest.changed() and not self.rest.rewritten()

    def recheck(self) -> bool:
        """Whether nothing has changed although a row says so; then the table is written anew."""
        if self._watch.changed() or self._watch.rewritten():
            return False
        for source, row in zip(self._sources, self._rows, strict=True):
            if not _holds(row):
                self._moved[source] += 1
                if source[0] == VERSIONS:
                    self._unsteady.add(row.where - DICT_VERSION)
                break
        self._write()
        return True

    def _write(self) -> None:
        watch, rest = self._watch, Watch()
        rest.reads_state, rest.generators = watch.reads_state, watch.generators if watch.reads_state else []
        rows: list[Row] = []
        sources: list[tuple[str, int]] = []
        for name, made in LISTS:
            for k, item in enumerate(getattr(watch, name)):
                found = made(*item) if self._moved[name, k] < PATIENCE else None
                if found is None:
                    getattr(rest, name).append(item)
                else:
                    rows += found
                    sources += [(name, k)] * len(found)
        self._with_versions(rows, sources)
        self.rest, self._rows, self._sources = rest, rows, sources
        numbers = np.array([row[:4] for row in rows], np.uint64).reshape(-1, 4)
        self._kept = [*self._kept[-1:], (numbers, rows)]  # another thread may be in the one before
        self.header[:] = numbers.ctypes.data, len(numbers)

    def _with_versions(self, rows: list[Row], sources: list[tuple[str, int]]) -> None:
        """Put one word in the place of many items of a dict, where Python counts its changes."""
        if not has_dict_versions():
            return
        weights: Counter[int] = Counter()
        for row in rows:
            weights[row.where] += 1 if row.what == ITEM else row.expected if row.what == ITEMS else 0
        chosen = {where for where, weight in weights.items() if weight >= MANY and where not in self._unsteady}
        of_dicts = [row.what in (ITEM, ITEMS) and row.where in chosen for row in rows]
        chosen -= {row.where for row, is_chosen in zip(rows, of_dicts, strict=True) if is_chosen and not _holds(row)}
        kept = [not is_chosen or row.where not in chosen for row, is_chosen in zip(rows, of_dicts, strict=True)]
        self._dropped = [row for row, keep in zip(rows, kept, strict=True) if not keep]  # they keep objects alive
        rows[:], sources[:] = (
            [row for row, keep in zip(rows, kept, strict=True) if keep],
            [source for source, keep in zip(sources, kept, strict=True) if keep],
        )
        rows += [word(where + DICT_VERSION, objects.peek(where + DICT_VERSION)) for where in chosen]
        sources += [(VERSIONS, 0)] * len(chosen)

    @property
    def has_rows(self) -> bool:
        """Whether there is something to look through."""
        return bool(self._rows)

    @property
    def has_rest(self) -> bool:
        """Whether there is something that Python has to look at."""
        return any([getattr(self.rest, name) for name, _ in LISTS]) or bool(self.rest.generators)


def _holds(row: Row) -> bool:
    """One row, as machine code looks at it; whole dicts are not told."""
    if row.what == WORD:
        return objects.peek(row.where) & row.other == row.expected
    if row.what == ITEM:
        mapping, key = (ctypes.cast(at, ctypes.py_object).value for at in (row.where, row.other))
        return (id(mapping[key]) if key in mapping else 0) == row.expected
    if row.what == BYTES:
        return ctypes.string_at(row.where, row.expected) == ctypes.string_at(row.other, row.expected)
    mapping = ctypes.cast(row.where, ctypes.py_object).value
    was = row.keeps[1]
    return [id(x) for x in (*mapping.keys(), *mapping.values())] == [id(x) for x in was]


@functools.cache
def _scan() -> Any:
    """The helper that looks through a table."""
    return ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(helper("adjoint_unchanged"))


@functools.cache
def has_dict_versions() -> bool:
    """Whether changes of dicts are counted where that is looked for: tried out, also on attributes and globals."""
    if sys.version_info >= (3, 13):
        return False
    probe: Any = type("Probe", (), {})()
    names: dict[str, Any] = {"d": probe.__dict__}
    changes: list[tuple[dict[str, Any], Callable[[], Any]]] = [
        (names["d"], lambda: setattr(probe, "a", 1)),
        (names["d"], lambda: setattr(probe, "a", 2)),
        (names["d"], lambda: delattr(probe, "a")),
        (names, lambda: names.update(b=3)),
        (names, lambda: exec("global c; c = 4", names)),  # noqa: S102
        (names, names.clear),
    ]
    for mapping, change in changes:
        before = [objects.peek(id(mapping) + DICT_VERSION) for _ in range(2)]
        change()
        if before[0] != before[1] or objects.peek(id(mapping) + DICT_VERSION) == before[0]:
            return False
    return True
