"""Python's garbage collector, asked for less while a program is recorded or the library prepared for the first one.

Of what is made then, nothing is garbage.
"""

from __future__ import annotations

import gc
from types import TracebackType

from .forking import Lock

COLLECTOR_PATCH = {
    "what": "how often the garbage collector looks (`gc.set_threshold`), also before the first function is traced",
    "when": "while `jit` records",
    "why": "of what is made then, nothing is garbage",
    "undone": "at once; a threshold that somebody else has set meanwhile stays",
}
RARELY = 50_000
"""New objects between two looks. Python's 700 mean that a long program is looked through again and again."""


class GcPaused:
    """`with GcPaused():` lets the collector wait; what it finds then is collected as ever."""

    _lock = Lock()
    _inside = 0
    _before = (700, 10, 10)

    def __enter__(self) -> None:
        with GcPaused._lock:
            if not GcPaused._inside:
                GcPaused._before = gc.get_threshold()
                if 0 < GcPaused._before[0] < RARELY:
                    gc.set_threshold(RARELY, *GcPaused._before[1:])
            GcPaused._inside += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        with GcPaused._lock:
            GcPaused._inside -= 1
            if not GcPaused._inside and gc.get_threshold()[0] == RARELY:  # nobody else has changed it
                gc.set_threshold(*GcPaused._before)
