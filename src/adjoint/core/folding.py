"""Tracebacks without the library's own frames: what is left is the user's code, and other packages that it calls."""

from __future__ import annotations

import contextlib
import functools
import os
from types import TracebackType

from .errors import LIBRARIES

BETWEEN = (contextlib.__file__, functools.__file__)
"""Modules of Python through which the library calls itself."""


def fold(error: BaseException) -> None:
    """Take the library's frames out of an exception's traceback, all but the one that is handling it.

    With the variable ADJOINT_FULL_TRACEBACKS set, they stay.
    """
    last: TracebackType | None = error.__traceback__
    if last is None or os.environ.get("ADJOINT_FULL_TRACEBACKS"):
        return
    while (here := last.tb_next) is not None:
        if _is_ours(here.tb_frame.f_code.co_filename):
            last.tb_next = here.tb_next
        else:
            last = here


def _is_ours(path: str) -> bool:
    return path.startswith((LIBRARIES[0], "<adjoint")) or path in BETWEEN
