"""Errors of Python's arithmetic: a function that catches or names them gets them, as it does without derivatives.

Elsewhere Python's floats follow NumPy's arithmetic, with infinities and nan, as derivatives need them.
"""

from __future__ import annotations

import functools
import sys
from types import CodeType, FrameType

from ...host.frames.in_progress import catches
from ...host.frames.ownership import is_ours
from ...host.frames.variables import variables_in
from ..traced import Traced, is_python

ERRORS = frozenset(("ZeroDivisionError", "OverflowError", "ArithmeticError"))


@functools.lru_cache(maxsize=4096)
def names_an_error(code: CodeType) -> bool:
    """Whether a function names one of the errors."""
    return not ERRORS.isdisjoint(code.co_names)


def awaits(frame: FrameType, error: type[Exception]) -> bool:
    """Whether the function of a frame names an error, or would catch it where it stands.

    Not one of this library, which catches these errors for its own purposes.
    """
    return not is_ours(frame) and (names_an_error(frame.f_code) or catches(frame, error))


def is_awaited(error: type[Exception] = ZeroDivisionError) -> bool:
    """Whether a step that is an error in Python is the user's, on Python's numbers, in a function that awaits it.

    All functions that were called by a transformation count, and none that called it. This is asked at such steps
    only, so the operator's operands are read from its frame, and no other step pays for handing them on.
    """
    frame: FrameType | None = sys._getframe(1)
    operator = frame
    while frame is not None and is_ours(frame):
        operator, frame = frame, frame.f_back
    operands = variables_in(operator) if operator is not None else {}
    if not isinstance(operands.get("self"), Traced) or not all([is_python(operands.get(k)) for k in ("self", "other")]):
        return False
    found = is_named = False
    while frame is not None:
        if is_ours(frame):
            found = is_named
        is_named = is_named or awaits(frame, error)
        frame = frame.f_back
    return found
