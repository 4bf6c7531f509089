"""Arguments as NumPy's functions take them: axes, shapes, flags, keywords that were not given, lists of numbers."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...core.traced import ARRAY, Traced, is_array, is_differentiated
from ...core.types import Params
from ...core.values import dtype_of, shape_of
from ...ops.shape import stack
from .foreign import refuse_subclasses

NO_VALUE: Any = np._NoValue
"""What NumPy passes for a keyword that was not given."""


def given(value: Any) -> bool:
    """Whether a keyword was given at all."""
    return value is not None and value is not NO_VALUE


def is_true(keepdims: Any) -> bool:
    """A flag that may not have been given."""
    return False if keepdims is NO_VALUE or keepdims is None else bool(keepdims)


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


def of_reduction(axis: Any, x: Traced, keepdims: Any) -> Params:
    """The parameters of a reduction of a traced array; the usual ones are found once, and not to be written to."""
    value = x.value
    ndim = value.ndim - x.traced_by.lead if type(value) is ARRAY else len(x.shape)
    if (axis is None or type(axis) is int) and (keepdims is NO_VALUE or type(keepdims) is bool):
        return _usual_reduction(axis, ndim, keepdims is True)
    return {"axis": reduced_axes(axis, ndim), "keepdims": is_true(keepdims)}


@functools.cache
def _usual_reduction(axis: int | None, ndim: int, keepdims: bool) -> Params:
    return {"axis": reduced_axes(axis, ndim), "keepdims": keepdims}


def axis_of(axis: Any, ndim: int) -> int:
    """One axis as a negative number."""
    axis = operator.index(axis)
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    return axis - ndim if axis >= 0 else axis  # type: ignore[no-any-return]


def along(a: Any, axis: Any) -> tuple[Any, int]:
    """The array and the axis to go along; the elements in a row for None, and a row of one for a number."""
    a = np.reshape(a, (-1,)) if axis is None or ndim_of(a) == 0 else a
    return a, axis_of(0 if axis is None else axis, ndim_of(a))


def lengths_of(shape: Any) -> tuple[int, ...]:
    """A shape as NumPy takes it: a number, an array without axes, or a sequence of numbers."""
    return tuple([operator.index(n) for n in shape]) if np.iterable(shape) else (operator.index(shape),)


def ndim_of(x: Any) -> int:
    """The number of axes."""
    return len(shape_of(x))


def size_of(x: Any) -> int:
    """The number of elements."""
    return math.prod(shape_of(x))


VALUES = frozenset((Traced, np.ndarray, float, int, complex, np.float64))


def as_value(x: Any) -> Any:
    """A list or tuple as an array; arrays, traced values and Python numbers (whose dtype gives way) as they are."""
    if type(x) in VALUES or isinstance(x, (Traced, np.ndarray, np.generic, float, int, complex)):
        return x
    if isinstance(x, (list, tuple)):
        return joined(x) if holds_traced(x) else np.array(x)
    return np.asarray(x)


def holds_traced(values: Iterable[Any]) -> bool:
    """Whether a traced value is among these, or in lists and tuples among them."""
    return any([isinstance(v, Traced) or (isinstance(v, (list, tuple)) and holds_traced(v)) for v in values])


def holds_differentiated(values: Iterable[Any]) -> bool:
    """Whether a derivative is asked for with respect to one of these, or what is in lists and tuples among them."""
    return any([holds_differentiated(v) if isinstance(v, (list, tuple)) else is_differentiated(v) for v in values])


def joined(nested: Any) -> Any:
    """Nested lists and tuples, in which traced values stand, as one array."""
    parts = [
        part if isinstance(part, Traced) or not isinstance(part, (list, tuple)) else joined(part) for part in nested
    ]
    traced = next((part for part in parts if isinstance(part, Traced)), None)
    if traced is None:
        return np.array(parts)
    refuse_subclasses({type(part) for part in parts}, traced)
    if len({shape_of(part) for part in parts}) != 1:
        raise ValueError(
            "setting an array element with a sequence. The requested array has an inhomogeneous shape: "
            f"its parts have the shapes {', '.join(sorted({str(shape_of(part)) for part in parts}))}."
        )
    return stack(*parts, axis=-1 - len(shape_of(parts[0])))


def is_plain_number(x: Any) -> bool:
    """Whether a value is a number of Python's (or NumPy's double) that nothing traces."""
    return not isinstance(x, Traced) and isinstance(x, (int, float, complex))


def number(x: Any) -> Any:
    """An array without axes as the number that NumPy's function gives."""
    return x[()] if (is_array(x) if isinstance(x, Traced) else type(x) is ARRAY) and shape_of(x) == () else x


def same_dtype(a: Any, dtype: Any) -> Any:
    """`a` cast to `dtype`, unless it was not given or is the same already."""
    if not given(dtype) or dtype_of(a) == np.dtype(dtype):
        return a
    return np.dtype(dtype).type(a) if is_plain_number(a) else np.astype(a, dtype)


def result_dtype(*values: Any) -> np.dtype:
    """The dtype NumPy gives a product of these."""
    return np.result_type(*[v if is_plain_number(v) else dtype_of(v) for v in values])
