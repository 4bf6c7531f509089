"""Functions that move elements without looking at them: run NumPy's own on the places, then gather.

Every element gets a number; NumPy's function moves the numbers exactly as it would move the elements, with its own
treatment of axes, broadcasting and bad arguments; one gather then fetches the elements. Its transpose adds them back.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.traced import Traced
from ...core.values import dtype_of, shape_of
from ...ops import indexing, shape
from ...ops.keys import HOLE
from ..dispatch.arguments import as_value
from .manipulation.shape import reshaped


def moved(function: Callable[..., Any], *arrays: Any) -> Any:
    """`function(*arrays)` for a function that only moves elements of its arguments.

    >>> moved(lambda a, b: np.append(a, b[::-1]), np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    array([1., 2., 4., 3.])
    """
    values = [as_value(a) for a in arrays]
    numbers, start = [], 0
    for v in values:
        size = math.prod(shape_of(v))
        numbers.append(np.arange(start, start + size).reshape(shape_of(v)))
        start += size
    return gathered(values, function(*numbers))


def gathered(values: list[Any], places: Any) -> Any:
    """The elements at these places of all the arrays, one after the other."""
    lines = [reshaped(v, (math.prod(shape_of(v)),)) for v in values]
    line = lines[0] if len(lines) == 1 else shape.concatenate(*lines, axis=-1)
    return indexing.index(line, places, template=(HOLE,))


def as_array(x: Any) -> Any:
    """Lists and numbers as an array; a traced value as it is."""
    return x if isinstance(x, Traced) else np.asarray(as_value(x))


def updated(update: Callable[..., Any], target: Any, value: Any) -> Any:
    """The target after an in-place `update(target, value)` that only moves elements from one to the other."""
    value = as_value(value)
    wanted = dtype_of(target)
    value = np.astype(value, wanted) if dtype_of(value) != wanted else value

    def after(numbers: Any, others: Any) -> Any:
        update(numbers, others)
        return numbers

    return moved(after, target, value)
