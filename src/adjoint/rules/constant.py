"""`Constant`: piecewise constant or not a number at all (floor, argmax, comparisons), so nothing flows through it."""

from __future__ import annotations


class Constant:
    """The derivative is zero wherever there is one."""

    __slots__ = ()
    is_zero = True
