"""Whether a Python float is asked for by a text: `"%.3f" % x` looks at the value, and computes nothing."""

from __future__ import annotations

import dis
from types import FrameType

BINARY_OP = dis.opmap["BINARY_OP"]
MODULO = frozenset((6, 19))
"""The arguments of the instruction for `%` and `%=`."""

WRITERS = frozenset(("format_float_positional", "format_float_scientific"))
"""NumPy's functions that write one number as text."""


def is_formatting(frame: FrameType) -> bool:
    """Whether the frame that asks for a float is at the operator `%`, which asks for one only if a text is on its left.

    So `log.info("loss %.3f", x)` does, in a frame of logging. Numbers, arrays and objects of Python classes on the left
    call the handle's own operator, or have a frame of their own.
    """
    code, place = frame.f_code, frame.f_lasti
    if code.co_code[place] == BINARY_OP:
        return code.co_code[place + 1] in MODULO
    return code.co_name in WRITERS and frame.f_globals.get("__name__", "").startswith("numpy.")
