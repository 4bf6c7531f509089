"""Type hints that say more than a class of Python's: a whole number of at least 1, an array of numbers, a key."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from ..traced import Traced
from .containers import CONTAINERS, is_too_deep, leaves
from .kinds import LARGEST, NUMERIC, REAL, ArgumentKind, number, whole


def _are_numbers(x: Any, kinds: frozenset[str]) -> bool:
    if isinstance(x, CONTAINERS):
        return (
            not isinstance(x, (dict, set, frozenset))
            and not is_too_deep(x)
            and all([_are_numbers(part, kinds) for part in leaves(x)])
        )
    if isinstance(x, (Traced, np.ndarray, np.generic)):
        return x.dtype.kind in kinds and not isinstance(x, np.ma.MaskedArray)
    return isinstance(x, (int, float, complex) if "c" in kinds else (int, float)) or (
        not isinstance(x, type)
        and hasattr(x, "__array__")  # tables and tensors of other libraries, which say themselves
    )


def _are_axes(x: Any) -> bool:
    return not isinstance(x, np.ndarray) and not is_too_deep(x)


def _are_not_negative(x: Any) -> bool:
    return _are_numbers(x, REAL) and (isinstance(x, Traced) or bool(np.all(np.asarray(x) >= 0.0)))


def _is_numeric_dtype(x: Any, kinds: frozenset[str]) -> bool:
    if isinstance(x, CONTAINERS) or x is None:
        return False
    try:
        return np.dtype(x).kind in kinds
    except (TypeError, ValueError):
        return False


def _is_shape(x: Any) -> bool:
    """A whole number, or a list or tuple of them; the array may not be larger than memory can ever be."""
    lengths = list(x) if isinstance(x, (tuple, list)) or (isinstance(x, np.ndarray) and x.ndim == 1) else [x]
    size = whole(0, LARGEST).accepts
    if not all([size(n) for n in lengths]):
        return False
    total = 1
    for n in lengths:
        total *= max(int(n), 1) if not isinstance(n, Traced) else 1
    return total <= LARGEST


NUMBERS = ArgumentKind(
    "a number or an array of numbers", lambda x: _are_numbers(x, NUMERIC), frozenset((float, int, complex))
)
ARRAY = ArgumentKind(
    "a number or an array of numbers",
    lambda x: not isinstance(x, (list, tuple)) and _are_numbers(x, NUMERIC),
    frozenset((float,)),
)
REAL_NUMBERS = ArgumentKind(
    "real numbers or arrays of them", lambda x: _are_numbers(x, REAL | {"b"}), frozenset((float, int))
)

Count = Annotated[int, whole(1, LARGEST)]
"""How many: at least one."""

Size = Annotated[int, whole(0, LARGEST)]
"""How many: perhaps none."""

Seed = Annotated[int, whole(0)]
"""A seed."""

Axis = Annotated[int, whole(-64, 63)]
"""An axis of an array, of which NumPy has at most 64."""

Positive = Annotated[float, number(0.0, above=True, below=True)]
"""A finite number above 0."""

NonNegative = Annotated[float, number(0.0, below=True)]
"""A finite number of at least 0."""

Fraction = Annotated[float, number(0.0, 1.0)]
"""A number from 0 to 1."""

Numbers = Annotated[Any, NUMBERS]
"""A number, an array, or what NumPy makes an array of: numbers of any dtype."""

Array = Annotated[Any, ARRAY]
"""A number or an array, but no list: it is computed with at once."""

RealNumbers = Annotated[Any, REAL_NUMBERS]
"""The same, but no complex numbers."""

DTypeLike = Annotated[Any, ArgumentKind("a floating dtype", lambda x: _is_numeric_dtype(x, frozenset("f")))]
"""float64, float32, or another dtype of real numbers."""

NumericDType = Annotated[Any, ArgumentKind("a dtype of numbers", lambda x: _is_numeric_dtype(x, NUMERIC))]
"""A dtype of integers or of other numbers."""

Shape = Annotated[
    int | tuple[int, ...], ArgumentKind("a shape: a whole number that is not negative, or a tuple of them", _is_shape)
]
"""The shape of an array."""

Base = Annotated[float, number(0.0, above=True, below=True)] | None
"""The base of a logarithm; None is e."""

Index = Annotated[Any, ArgumentKind("a whole number", whole().accepts)]
"""A whole number that may be traced."""

Axes = Annotated[Any, ArgumentKind("an axis, None, or a container of them", _are_axes)]
"""The axes of a batch, in the containers of the arguments."""

NonNegativeNumbers = Annotated[Any, ArgumentKind("numbers or arrays of them, none below 0", _are_not_negative)]
"""How wide, or how much error is allowed."""
