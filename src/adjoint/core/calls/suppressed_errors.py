"""Refusals that nobody sees: compiled code replaces them by exceptions of its own, and a function may catch them."""

from __future__ import annotations

import warnings
from _thread import get_ident
from types import FrameType
from typing import Any

from ...host.frames.in_progress import catches
from ...host.frames.ownership import is_library
from ...host.frames.variables import instruction_of
from ..errors import AdjointError

REFUSED: dict[int, tuple[AdjointError, Any]] = {}
"""The last refusal in a thread that traces a function, and the frame that met it; forgotten when the function ends."""


def remember(error: AdjointError, frame: FrameType) -> None:
    """A value is being refused to compiled code, called in this frame, which may hide the exception.

    The frame is not kept, as it keeps arrays. Another one may get its place in memory, so the instruction counts too.
    """
    REFUSED[get_ident()] = error, (id(frame), *instruction_of(frame))


def warn_if_caught(error: AdjointError, frame: FrameType | None) -> None:
    """Say so where the user's function catches a refusal, as it goes on as it would not with a plain number."""
    while frame is not None and is_library(frame):
        frame = frame.f_back
    while frame is not None and not is_library(frame):
        if catches(frame, type(error)):
            what = str(error).partition("\n")[0]
            text = f"{what}\n  The function caught this, and goes on as it does not without derivatives or batches."
            names = frame.f_globals
            registry = names.setdefault("__warningregistry__", {})
            place = (frame.f_code.co_filename, frame.f_lineno, names.get("__name__", "<unknown>"))
            warnings.warn_explicit(text, RuntimeWarning, *place, registry)
            return
        frame = frame.f_back


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
        from .compiled import refusal_of_compiled  # for errors only, so not when the library is imported

        return refusal_of_compiled(error)
    return refusal
