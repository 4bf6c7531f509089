"""Tracebacks without the library's own frames: what is left is the user's code, and other packages that it calls."""

from __future__ import annotations

import os
from types import FrameType, TracebackType

from .ownership import OURS, package_of

BETWEEN = frozenset((OURS, "contextlib", "functools"))
"""Whose frames are left out: the library's, and of the modules of Python through which it calls itself."""


def fold(error: BaseException) -> None:
    """Take the library's frames out of an exception's traceback, all but the one that is handling it.

    With the variable ADJOINT_FULL_TRACEBACKS set, they stay.
    """
    last: TracebackType | None = error.__traceback__
    if last is None or os.environ.get("ADJOINT_FULL_TRACEBACKS"):
        return
    while (here := last.tb_next) is not None:
        if _is_ours(here.tb_frame):
            last.tb_next = here.tb_next
        else:
            last = here


class Folding:
    """`with FOLDING:` folds the exceptions that leave a function, down to its own frame."""

    def __enter__(self) -> None:
        """Nothing is to be done before."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if isinstance(error, Exception):
            fold(error)


FOLDING = Folding()


def _is_ours(frame: FrameType) -> bool:
    return package_of(frame.f_globals) in BETWEEN
