"""One line for a user who waits: what is being compiled, how many steps it has, and how it could have fewer.

The line goes to the logger `adjoint`, once for each function. Where logging is not set up Python writes it to the
standard error; `logging.getLogger("adjoint").setLevel("ERROR")` silences it. Nothing runs beside the work: the time is
looked at now and then, between its parts and every few thousand steps.
"""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Any

from ..host.frames.definition import home
from ..host.garbage import GcPaused

LONG = 2.0
"""Seconds after which silence is not polite any more."""
MANY = 1000
"""Steps that hardly anybody has written down one by one: there was a loop."""
OFTEN = 4096
"""Values between two looks at the clock while a program is recorded; a power of two."""


class Waiting(GcPaused):
    """`with Waiting(fun):` around recording and compiling a function."""

    def __init__(self, fun: Any) -> None:
        self.fun = fun
        self.has_spoken = False
        self.steps = 0
        """The most that were seen: as recorded, before the passes."""

    def __enter__(self) -> None:
        super().__enter__()
        self.steps = 0
        _stack().append((self, time.monotonic()))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        _stack().pop()
        super().__exit__(kind, error, where)

    def speak(self, seconds: float) -> None:
        """Say it, unless it has been said."""
        if self.has_spoken:
            return
        self.has_spoken = True
        import logging

        hint = ""
        if self.steps >= MANY:
            hint = " A loop of Python's is recorded round by round; ad.scan or ad.fori_loop would record one round."
        count = f"{self.steps:,} step{'' if self.steps == 1 else 's'}"
        logging.getLogger("adjoint").warning(
            "adjoint: still compiling after %.0f s: %s; %s.%s", seconds, home(self.fun), count, hint
        )


def look(steps: int, *, recording: bool = False, expected: float = 0.0) -> None:
    """Speak if the user waits, or will have to for the `expected` seconds of what comes next.

    While a function is recorded it may be slow for reasons of its own, so that only many steps are worth a word.
    """
    stack = _stack()
    if not stack or (recording and steps < MANY):
        return
    waiting, start = stack[-1]
    waiting.steps = max(waiting.steps, steps)
    seconds = time.monotonic() - start
    if seconds + expected > LONG:
        waiting.speak(seconds)


_local = threading.local()


def _stack() -> list[tuple[Waiting, float]]:
    """Who waits in this thread, for what it began last at the end."""
    found = getattr(_local, "stack", None)
    if found is None:
        found = _local.stack = []
    return found
