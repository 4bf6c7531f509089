"""Whether a Python float is asked for by a text: `"%.3f" % x` looks at the value, and computes nothing."""

from __future__ import annotations

from types import FrameType

from ...host.frames.in_progress import is_at_remainder

WRITERS = frozenset(("format_float_positional", "format_float_scientific"))
"""NumPy's functions that write one number as text."""


def is_formatting(frame: FrameType) -> bool:
    """Whether the frame that asks for a float is at the operator `%`, which asks for one only if a text is on its left.

    So `log.info("loss %.3f", x)` does, in a frame of logging. Numbers, arrays and objects of Python classes on the left
    call the handle's own operator, or have a frame of their own.
    """
    if is_at_remainder(frame):
        return True
    return frame.f_code.co_name in WRITERS and frame.f_globals.get("__name__", "").startswith("numpy.")
