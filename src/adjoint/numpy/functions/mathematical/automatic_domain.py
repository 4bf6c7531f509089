"""Mathematics whose results are complex where they have to be: `np.emath.sqrt(-1.0)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.traced import Traced
from ....core.values import dtype_of
from ...dispatch.arguments import as_value
from ...dispatch.registry import implements

SINGLE = frozenset("fFbBhH")
"""Characters of dtypes whose complex counterpart is of single precision."""


def _complex_if(condition: Callable[[Any], Any], x: Any) -> Any:
    """The array, as complex numbers if the condition holds for any of them: a decision, which numbers take together."""
    x = as_value(x)
    dtype = dtype_of(x)
    if dtype.kind == "c" or not _holds_anywhere(condition(x)):
        return x
    return np.astype(np.asarray(x), np.complex64 if dtype.char in SINGLE else np.complex128)


def _holds_anywhere(condition: Any) -> bool:
    """Whether it is true of any number, of all examples of a batch: their results have one dtype."""
    while isinstance(condition, Traced) and condition.traced_by.lead:
        condition = condition.value
    return bool(np.any(condition))


def _below_zero(x: Any) -> Any:
    return _complex_if(lambda x: x < 0, x)


def _beyond_one(x: Any) -> Any:
    return _complex_if(lambda x: np.abs(x) > 1, x)


@implements(np.emath.sqrt)
def sqrt(x: Any) -> Any:
    """`np.emath.sqrt`."""
    return np.sqrt(_below_zero(x))


@implements(np.emath.log)
def log(x: Any) -> Any:
    """`np.emath.log`."""
    return np.log(_below_zero(x))


@implements(np.emath.log10)
def log10(x: Any) -> Any:
    """`np.emath.log10`."""
    return np.log10(_below_zero(x))


@implements(np.emath.log2)
def log2(x: Any) -> Any:
    """`np.emath.log2`."""
    return np.log2(_below_zero(x))


@implements(np.emath.logn)
def logn(n: Any, x: Any) -> Any:
    """`np.emath.logn`."""
    return np.log(_below_zero(x)) / np.log(_below_zero(n))


@implements(np.emath.power)
def power(x: Any, p: Any) -> Any:
    """`np.emath.power`; negative whole exponents are real."""
    if x is None or p is None:
        raise TypeError("'<' not supported between instances of 'NoneType' and 'int'")
    x, p = np.asarray(x), np.asarray(p)  # NumPy makes arrays of Python's numbers first, which decides the precision
    p = p * 1.0 if dtype_of(p).kind in "iu" and _holds_anywhere(p < 0) else p
    return np.power(_below_zero(x), p)


@implements(np.emath.arccos)
def arccos(x: Any) -> Any:
    """`np.emath.arccos`."""
    return np.arccos(_beyond_one(x))


@implements(np.emath.arcsin)
def arcsin(x: Any) -> Any:
    """`np.emath.arcsin`."""
    return np.arcsin(_beyond_one(x))


@implements(np.emath.arctanh)
def arctanh(x: Any) -> Any:
    """`np.emath.arctanh`."""
    return np.arctanh(_beyond_one(x))
