"""Refusals that compiled code hides: it replaces the exception of a conversion by one of its own."""

from __future__ import annotations

import threading
from types import FrameType

from .errors import AdjointError

_local = threading.local()


def remember(error: AdjointError, frame: FrameType) -> None:
    """A value is being refused to compiled code, called in this frame, which may hide the exception."""
    _local.last = error, id(frame)


def behind(error: BaseException) -> AdjointError | None:
    """The refusal that an exception of compiled code stands for, if there is one."""
    cause = error.__cause__
    while cause is not None:
        if isinstance(cause, AdjointError):
            return cause
        cause = cause.__cause__
    refusal, place = getattr(_local, "last", (None, 0))
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return refusal if trace is not None and id(trace.tb_frame) == place else None
