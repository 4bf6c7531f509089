"""Which of the library's functions stands for which of NumPy's."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..core.traced import Traced
from ..core.values import plain, shape_of

F = TypeVar("F", bound=Callable[..., Any])

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""NumPy's function, as it arrives in `__array_function__`, to ours. Signatures are NumPy's."""

NO_VALUE: Any = np._NoValue
"""What NumPy passes for a keyword that was not given."""


def implements(*functions: Any) -> Callable[[F], F]:
    """Register the decorated function for NumPy functions; an `out=` argument is taken care of."""

    def register(implementation: F) -> F:
        for function in functions:
            FUNCTIONS[function] = implementation
        return implementation

    return register


def given(value: Any) -> bool:
    """Whether a keyword was given at all."""
    return value is not None and value is not NO_VALUE


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes as negative numbers, sorted: a batch axis in front does not change them. None means all."""
    if axis is None or axis is NO_VALUE:
        return tuple(range(-ndim, 0))
    if type(axis) is int:
        return (axis_of(axis, ndim),)
    many = axis if isinstance(axis, (tuple, list)) else (axis,)
    found = sorted(axis_of(a, ndim) for a in many)
    if len(set(found)) != len(found):
        raise ValueError("duplicate value in 'axis'")
    return tuple(found)


def reduced_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes of a reduction: NumPy takes no list of them, and of an array without axes the first and the last."""
    if axis is None or axis is NO_VALUE:
        return tuple(range(-ndim, 0))
    if ndim == 0 and type(axis) is not tuple:
        return (axis_of(axis, 1),)[:0]
    if type(axis) is list:
        raise TypeError("'list' object cannot be interpreted as an integer")
    return axes_of(axis, ndim)


def axis_of(axis: Any, ndim: int) -> int:
    """One axis as a negative number."""
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return axis - ndim if axis >= 0 else axis


def is_true(keepdims: Any) -> bool:
    """A flag that may not have been given."""
    return False if keepdims is NO_VALUE or keepdims is None else bool(keepdims)


def ndim_of(x: Any) -> int:
    """The number of axes."""
    return len(shape_of(x))


VALUES = frozenset((Traced, np.ndarray, float, int, complex, np.float64))


def as_value(x: Any) -> Any:
    """A list or tuple as an array; arrays, traced values and Python numbers (whose dtype gives way) as they are."""
    if type(x) in VALUES or isinstance(x, (Traced, np.ndarray, np.generic, float, int, complex)):
        return x
    if isinstance(x, (list, tuple)):
        from .constructors import array

        return array(x)
    return np.asarray(x)


def is_plain_number(x: Any) -> bool:
    """Whether a value is a number of Python's (or NumPy's double) that nothing traces."""
    return not isinstance(x, Traced) and isinstance(x, (int, float, complex))


def number(x: Any) -> Any:
    """An array without axes as the number that NumPy's function gives."""
    return x[()] if shape_of(x) == () and isinstance(plain(x), np.ndarray) else x


def deliver(result: Any, out: Any) -> Any:
    """Give the result to `out=`, as NumPy does, or return it."""
    if isinstance(out, tuple):
        out = out[0]
    if not given(out):
        return result
    from .assignment import store

    return store(out, result)
