"""Comparisons of floats with exact numbers: `Decimal`, `Fraction`, and integers of more digits than a float has.

Python compares them exactly. So the exact number is replaced by the float next to it, and the comparison by the one
that is the same for every float: x < 1/3 is x <= 0.333..., where that float is below 1/3.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from ...core.values import is_python
from ...ir.counts import EXACT


def is_exact(x: Any, handle: Any) -> bool:
    """Whether an operand has to be compared exactly; NumPy's numbers and arrays take integers for floats."""
    kind = type(x)
    if kind is int:
        return not -EXACT <= x <= EXACT and is_python(handle) and handle.dtype.kind == "f"
    return is_fraction(x) or is_decimal(x)


def is_fraction(x: Any) -> bool:
    """Whether a value is a `Fraction`; whoever has one has imported the module, which takes long."""
    fractions = sys.modules.get("fractions")
    return fractions is not None and isinstance(x, fractions.Fraction)


def is_decimal(x: Any) -> bool:
    """Whether a value is a `Decimal`."""
    decimal = sys.modules.get("decimal")
    return decimal is not None and isinstance(x, decimal.Decimal)


def compared(python: Callable[[Any, Any], Any], x: Any, exact: Any) -> Any:
    """`x < exact`, and the like."""
    if is_decimal(exact) and python not in EQUALITIES and bool(x != x):
        return python(math.nan, exact)  # raises
    near = _nearest(exact)
    if near == exact or near != near:
        return python(x, near)
    if python in EQUALITIES:
        return python is operator.ne
    if python in (operator.lt, operator.le):
        return x <= near if near < exact else x < near
    return x > near if near < exact else x >= near


EQUALITIES = (operator.eq, operator.ne)


def _nearest(exact: Any) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def is_comparing(frame: FrameType | None) -> bool:
    """Whether a float is asked for by a comparison of `Fraction`, whose code is Python's own: `Fraction(1, 3) < x`."""
    for _ in range(2):
        if frame is None or frame.f_globals.get("__name__") != "fractions":
            return False
        if frame.f_code.co_name in ("__eq__", "_richcmp"):
            return True
        frame = frame.f_back
    return False
