"""Python's arithmetic in a function that speaks of its errors: there a division by zero raises, as it does without jit.

Elsewhere Python's floats follow NumPy's arithmetic, with infinities and nan, as derivatives need them.
"""

from __future__ import annotations

import operator
import sys
from typing import Any

from ..core.primitive import Primitive
from ..core.spoken import names_an_error

OPERATORS = {
    "divide": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "power": operator.pow,
}
"""Steps for which Python has errors that NumPy has not."""


def is_spoken_of(root: int) -> bool:
    """Whether a function that is under way, up to the frame with this identity, names one of the errors."""
    frame: Any = sys._getframe(1)
    while frame is not None and id(frame) != root:
        if names_an_error(frame.f_code):
            return True
        frame = frame.f_back
    return False


class Pythons(Primitive):
    """A step on Python's numbers that raises where Python does."""

    __slots__ = ()

    def __init__(self, inner: Primitive) -> None:
        python = OPERATORS[inner.name]

        def evaluate(x: Any, y: Any) -> Any:
            python(x, y)
            return inner.evaluate(x, y)

        super().__init__(
            f"{inner.name} (checked)",
            evaluate,
            derivative=inner.derivative,
            stacking=inner.stacking,
            fails_from=0,
        )
