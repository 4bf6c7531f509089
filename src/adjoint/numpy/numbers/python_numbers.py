"""Python's numbers inside a trace: what its operators make of them is what Python makes of them, not what NumPy does.

`True + True` is 2, `~True` is -2, `x > 0` is a bool that indexes a list, and `round(2.675, 2)` is 2.67. Two things are
NumPy's for both kinds, as derivatives need them: a division by zero is infinite or nan, and so is an overflow (but in
a function that names the error, as in `except ZeroDivisionError`, it is raised).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.calls.arithmetic_errors import is_awaited
from ...core.entry.facts import Form
from ...core.primitive import Primitive
from ...core.reverse import ReverseTrace
from ...core.singular.replaced import tell
from ...core.traced import Traced
from ...core.values import concrete, dtype_of, is_captured, is_python
from ...ir.capture import CaptureTrace
from ...ops.arithmetic import positive
from ...ops.declare import CONSTANT, declare
from ...ops.shape import astype, item


def of_numbers(python: Callable[[Any, Any], Any], primitive: Primitive, x: Any, y: Any) -> Any:
    """An operator without a derivative (a comparison, `//`, `&`) on two of Python's numbers."""
    if is_captured(x) or is_captured(y):
        if "c" in (dtype_of(x).kind, dtype_of(y).kind):
            python(concrete(x), concrete(y))  # raises, if Python has no such operator for complex numbers
        return captured(primitive(x, y), x, y)
    try:
        found = python(concrete(x), concrete(y))
        if primitive.facts.asks:
            tell(primitive.facts.asks, found, x, y)
        return found
    except ZeroDivisionError:
        if is_awaited():
            raise
        return float(primitive.evaluate(concrete(x), concrete(y)))


def captured(found: Any, x: Any, y: Any) -> Any:
    """What an operator gives in a captured program: of two Python numbers a Python number, as without a program."""
    if type(found) is Traced and type(found.value) is float and found.traced_by.is_capture:
        return found  # it is one already
    if isinstance(found, Traced) and is_python(x) and is_python(y) and not is_python(found):
        return item(found)
    return found


def _rounded(x: Any, *, digits: int) -> float:
    return round(float(x), digits)


round_number = declare(
    "round_number",
    _rounded,
    CONSTANT,
    note="correctly rounded in decimals, as Python does",
    form=Form(source="round({0}, {digits})"),
)


def rounded(x: Traced, digits: Any) -> Any:
    """`round(x, digits)`: Python rounds the decimal number correctly, NumPy scales and so rounds twice."""
    if dtype_of(x).kind in "bi":
        return captured(np.round(x, digits), x, digits)
    return round_number(x, digits=int(digits))


def inverted(x: Traced) -> Any:
    """`~x` of Python's integers and truth values."""
    if dtype_of(x).kind not in "bi":
        raise TypeError(f"bad operand type for unary ~: {type(concrete(x)).__name__!r}")
    return -1 - x  # type: ignore[operator]


def made_by_numpy(found: Any) -> Any:
    """The result of a universal function, which is NumPy's number even where it was computed with a Python float."""
    x = found
    while isinstance(x, Traced):
        trace: Any = x.traced_by
        if type(x.value) is np.ndarray:
            break
        if isinstance(trace, ReverseTrace):
            trace.has_numpys = True
            trace.kinds[x.node] = False
        elif type(x.value) is float and not trace.is_capture:
            x.value = np.float64(x.value)
        inner = x.value
        if isinstance(inner, Traced) and type(inner.traced_by) is CaptureTrace and type(inner.value) is float:
            x.value = astype(inner, dtype=np.dtype(float))
        x = inner
    return found


def made_by_python(found: Any) -> None:
    """Say of a result, a Python float under every trace, that it is Python's number."""
    x = found
    while isinstance(x, Traced):
        trace = x.traced_by
        if isinstance(trace, ReverseTrace):
            trace.has_numpys, trace.is_numpy = trace.has_numpys or trace.is_numpy, False
            trace.kinds[x.node] = True
        x = x.value


def marked_as_numpys(found: Any) -> Any:
    """What a function of NumPy's gives for one of Python's numbers: an array without axes or a number, of NumPy's."""
    if type(found) is Traced and type(found.traced_by) is ReverseTrace and type(found.value) is float:
        trace, node = found.traced_by, found.node
        if not trace.is_python_at(node):
            return found
        trace.has_numpys = True
        again = trace.unary(positive, found)
        trace.kinds[again.node] = False
        return again
    if isinstance(found, Traced) and found.traced_by.level and not is_captured(found) and is_python(found):
        return made_by_numpy(positive(found))
    return found
