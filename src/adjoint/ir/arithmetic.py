"""Python's arithmetic in a function that awaits its errors: there a division by zero raises, as it does without jit.

Elsewhere Python's floats follow NumPy's arithmetic, with infinities and nan, as derivatives need them.
"""

from __future__ import annotations

import sys
from typing import Any

from ..core.calls.arithmetic_errors import awaits
from ..core.primitive import Primitive


def is_spoken_of(root: int) -> bool:
    """Whether a function that is under way, up to the frame with this identity, awaits one of the errors."""
    frame: Any = sys._getframe(1)
    while frame is not None and id(frame) != root:
        if awaits(frame, ZeroDivisionError) or awaits(frame, OverflowError):
            return True
        frame = frame.f_back
    return False


class Pythons(Primitive):
    """A step on Python's numbers that raises where Python does."""

    __slots__ = ()

    def __init__(self, inner: Primitive) -> None:
        python = inner.facts.python
        assert python is not None

        def evaluate(*args: Any) -> Any:
            python(*args)
            return inner.evaluate(*args)

        super().__init__(
            f"{inner.name} (checked)",
            evaluate,
            derivative=inner.derivative,
            stacking=inner.stacking,
            fails_from=0,
        )
