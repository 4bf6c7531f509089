"""Type hints that say more than a class of Python's: a whole number of at least 1, an array of numbers, a key."""

from __future__ import annotations

import math
from collections.abc import Callable
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


def _is_tree(x: Any) -> bool:
    """Whether the leaves of containers, dataclasses among them, are numbers or arrays of them."""
    from ..tree import flatten

    return not is_too_deep(x) and all([_are_numbers(leaf, NUMERIC) for leaf in flatten(x)[0]])


def _is_truth(x: Any) -> bool:
    """Whether a value is true or false: numbers but nan are, and arrays of one element, as NumPy has it."""
    if isinstance(x, CONTAINERS) or not _are_numbers(x, REAL | {"b"}):
        return False
    return isinstance(x, Traced) or (np.size(x) == 1 and bool(np.all(x == x)))


def _is_key(x: Any) -> bool:
    if isinstance(x, (Traced, np.ndarray)) and x.ndim:
        return x.dtype == np.uint64 and x.shape[-1] == 2
    return whole(0).accepts(x)


def _is_model(x: Any) -> bool:
    return not (x is None or isinstance(x, (str, bytes, int, float, complex, np.generic)) or is_too_deep(x))


def _is_real_array(x: Any) -> bool:
    return not isinstance(x, (list, tuple, bool)) and _are_numbers(x, REAL)


def _are_axes(x: Any) -> bool:
    """Whether the leaves of Python's containers may be axes; what else a container may be, is known to who maps."""
    if is_too_deep(x):
        return False
    parts = leaves(x) if isinstance(x, CONTAINERS) else [x]
    return all([WHOLE_AXIS.accepts(part) for part in parts if isinstance(part, NO_AXES)])


def _all(question: Callable[[Any], Any]) -> Callable[[Any], bool]:
    """Whether all of some real numbers are such; those that are traced are not looked at."""

    def holds(x: Any) -> bool:
        if not _are_numbers(x, REAL) or isinstance(x, bool):
            return False
        parts = leaves(x) if isinstance(x, CONTAINERS) else [x]
        try:
            return all([isinstance(part, Traced) or bool(np.all(question(np.asarray(part, float)))) for part in parts])
        except OverflowError:  # a whole number that no float is near to
            return False

    return holds


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


WHOLE_AXIS = whole(-64, 63)
NO_AXES = (int, float, complex, np.ndarray, np.generic)
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

Axis = Annotated[int, WHOLE_AXIS]
"""An axis of an array, of which NumPy has at most 64."""

Positive = Annotated[float, number(0.0, above=True, below=True)]
"""A finite number above 0."""

NonNegative = Annotated[float, number(0.0, below=True)]
"""A finite number of at least 0."""

Finite = Annotated[float, number(-math.inf, above=True, below=True)]
"""A number, neither nan nor infinite."""

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

NUMBERS_IN_CONTAINERS = ArgumentKind("a number, an array, or a container of them", _is_tree, frozenset((float, Traced)))

Tree = Annotated[Any, NUMBERS_IN_CONTAINERS]
"""What can be carried, differentiated, solved for: numbers and arrays in any containers."""

Arguments = Annotated[
    Any, ArgumentKind("a tuple of arguments", lambda x: isinstance(x, (tuple, list)), frozenset((tuple,)))
]
"""The arguments of a function, or something for each of them."""

Key = Annotated[Any, ArgumentKind("a key of ad.random, or a seed", _is_key)]
"""Where random numbers come from."""

Truth = Annotated[Any, ArgumentKind("True, False, or one real number", _is_truth, frozenset((bool, np.bool)))]
"""What decides: it may be traced."""

Model = Annotated[Any, ArgumentKind("a model: a layer, or containers of layers and arrays", _is_model)]
"""What has parameters."""

RealArray = Annotated[Any, ArgumentKind("a real number or an array of them", _is_real_array, frozenset((float,)))]
"""The same as `Array`, but neither complex numbers nor truth values."""

NonNegativeNumbers = Annotated[Any, ArgumentKind("numbers or arrays of them, none below 0", _all(lambda x: x >= 0.0))]
"""How wide, or how much error is allowed."""

Bounds = Annotated[Any, ArgumentKind("numbers or arrays of them, none nan", _all(lambda x: ~np.isnan(x)))]
"""Ends of an interval that may be infinite."""

FiniteNumbers = Annotated[Any, ArgumentKind("finite numbers or arrays of them", _all(np.isfinite))]
"""Ends of an interval, factors."""
