"""Refusals that compiled code hides: it replaces the exception of a conversion by one of its own."""

from __future__ import annotations

from _thread import get_ident
from types import FrameType
from typing import Any

from .errors import AdjointError

REFUSED: dict[int, tuple[AdjointError, Any]] = {}
"""The last refusal in a thread that traces a function, and the frame that met it; forgotten when the function ends."""


def remember(error: AdjointError, frame: FrameType) -> None:
    """A value is being refused to compiled code, called in this frame, which may hide the exception.

    The frame is not kept, as it keeps arrays. Another one may get its place in memory, so the instruction counts too.
    """
    REFUSED[get_ident()] = error, (id(frame), frame.f_code, frame.f_lasti)


def behind(error: BaseException) -> AdjointError | None:
    """The refusal that an exception stands for, if it is one itself or one of compiled code; it is then forgotten."""
    refusal, place = REFUSED.pop(get_ident(), (None, None))
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, AdjointError):
            return cause
        cause = cause.__cause__
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or (id(trace.tb_frame), trace.tb_frame.f_code, trace.tb_lasti) != place:
        return None
    return refusal
