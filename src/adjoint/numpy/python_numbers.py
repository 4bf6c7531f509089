"""Python's numbers inside a walk: what its operators make of them is what Python makes of them, not what NumPy does.

`True + True` is 2, `~True` is -2, `x > 0` is a bool that indexes a list, and `round(2.675, 2)` is 2.67. Two things are
NumPy's for both kinds, as derivatives need them: a division by zero is infinite or nan, and so is an overflow (but in
a function that names the error, as in `except ZeroDivisionError`, it is raised).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.primitive import Primitive
from ..core.reverse import ReverseTrace
from ..core.spoken import is_awaited
from ..core.traced import Traced
from ..core.values import dtype_of, is_python, plain
from ..ir.capture import CaptureTrace, is_captured
from ..ops.arithmetic import positive
from ..ops.declare import CONSTANT, declare
from ..ops.shape import astype, item


def of_numbers(python: Callable[[Any, Any], Any], primitive: Primitive, x: Any, y: Any) -> Any:
    """An operator without a derivative (a comparison, `//`, `&`) on two of Python's numbers."""
    if is_captured(x) or is_captured(y):
        if "c" in (dtype_of(x).kind, dtype_of(y).kind):
            python(plain(x), plain(y))  # raises, if Python has no such operator for complex numbers
        return captured(primitive(x, y), x, y)
    try:
        return python(plain(x), plain(y))
    except ZeroDivisionError:
        if is_awaited():
            raise
        return float(primitive.evaluate(plain(x), plain(y)))


def captured(found: Any, x: Any, y: Any) -> Any:
    """What an operator gives in a captured program: of two Python numbers a Python number, as without a program."""
    if type(found) is Traced and type(found.value) is float and found.walk.is_capture:
        return found  # it is one already
    if isinstance(found, Traced) and is_python(x) and is_python(y) and not is_python(found):
        return item(found)
    return found


def _rounded(x: Any, *, digits: int) -> float:
    return round(float(x), digits)


round_number = declare("round_number", _rounded, CONSTANT, note="correctly rounded in decimals, as Python does")


def rounded(x: Traced, digits: Any) -> Any:
    """`round(x, digits)`: Python rounds the decimal number correctly, NumPy scales and so rounds twice."""
    if dtype_of(x).kind in "bi":
        return captured(np.round(x, digits), x, digits)
    return round_number(x, digits=int(digits))


def inverted(x: Traced) -> Any:
    """`~x` of Python's integers and truth values."""
    if dtype_of(x).kind not in "bi":
        raise TypeError(f"bad operand type for unary ~: {type(plain(x)).__name__!r}")
    return -1 - x  # type: ignore[operator]


def made_by_numpy(found: Any) -> Any:
    """The result of a universal function, which is NumPy's number even where it was computed with a Python float."""
    x = found
    while isinstance(x, Traced):
        walk: Any = x.walk
        if type(x.value) is np.ndarray:
            break
        if isinstance(walk, ReverseTrace):
            walk.has_numpys = True
            walk.kinds[x.node] = False
        elif type(x.value) is float and not walk.is_capture:
            x.value = np.float64(x.value)
        inner = x.value
        if isinstance(inner, Traced) and type(inner.walk) is CaptureTrace and type(inner.value) is float:
            x.value = astype(inner, dtype=np.dtype(float))
        x = inner
    return found


def numpys(found: Any) -> Any:
    """What a function of NumPy's gives for one of Python's numbers: an array without axes or a number, of NumPy's."""
    if type(found) is Traced and type(found.walk) is ReverseTrace and type(found.value) is float:
        walk, node = found.walk, found.node
        if not walk.is_python_at(node):
            return found
        walk.has_numpys = True
        again = walk.unary(positive, found)
        walk.kinds[again.node] = False
        return again
    if isinstance(found, Traced) and found.walk.level and not is_captured(found) and is_python(found):
        return made_by_numpy(positive(found))
    return found
