"""What layers ask of sizes, rates and shapes, with errors that name the layer, what it wants and what it got."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import LARGEST
from ..typing import Array, DTypeLike
from .layer import described


def refuse(what: str, got: str = "", fix: str = "") -> ad.errors.InputError:
    """The error to raise, in the form of the library's messages."""
    return ad.errors.InputError(ad.errors.message(what, got=got, fix=fix))


def count(owner: str, name: str, value: Any, *, least: int = 1) -> int:
    """A whole number that is large enough."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if not least <= number <= LARGEST or isinstance(value, bool):
        raise refuse(f"{owner}: {name} has to be a whole number, {least} or more.", f"{name}={value!r}")
    return number


def pair(owner: str, name: str, value: Any, axes: int, *, least: int = 1) -> tuple[int, ...]:
    """A whole number for each axis; one number stands for all."""
    if isinstance(value, Sequence) and len(value) == axes and not isinstance(value, (str, bytes)):
        return tuple([count(owner, name, v, least=least) for v in value])
    if isinstance(value, Sequence):
        raise refuse(f"{owner}: {name} has to be one number, or one for each of {axes} axes.", f"{name}={value!r}")
    return (count(owner, name, value, least=least),) * axes


def fraction(owner: str, name: str, value: Any) -> float:
    """A number from 0 up to, but not including, 1."""
    if isinstance(value, (int, float, np.floating)) and 0.0 <= value < 1.0:
        return float(value)
    raise refuse(f"{owner}: {name} has to be a number from 0 to 1, 1 not included.", f"{name}={value!r}")


def positive(owner: str, name: str, value: Any) -> float:
    """A number above 0."""
    if not isinstance(value, bool) and isinstance(value, (int, float, np.floating)) and 0.0 < value < math.inf:
        return float(value)
    raise refuse(f"{owner}: {name} has to be a positive number.", f"{name}={value!r}")


def finite(owner: str, name: str, value: Any) -> float:
    """A number, neither nan nor infinite."""
    if not isinstance(value, bool) and isinstance(value, (int, float, np.floating)) and -math.inf < value < math.inf:
        return float(value)
    raise refuse(f"{owner}: {name} has to be a finite number.", f"{name}={value!r}")


def real(owner: str, dtype: DTypeLike) -> np.dtype:
    """float64 or float32."""
    try:
        kind = np.dtype(object if dtype is None else dtype)
    except TypeError:
        kind = np.dtype(object)
    if kind not in (np.float64, np.float32):
        raise refuse(f"{owner}: dtype has to be float64 or float32.", f"dtype={dtype!r}")
    return kind


def last_axis(owner: str, x: Array, length: int) -> None:
    """Refuse arrays whose last axis is not the inputs of the layer."""
    shape = np.shape(x)
    if not shape or shape[-1] != length:
        fix = f"Make it for these:  {owner}({shape[-1]}, ...)." if shape else ""
        if math.prod(shape[1:]) == length:
            fix = "Make a row of each example:  x.reshape(len(x), -1),  or  nn.Flatten()  before it."
        raise refuse(f"{owner} takes arrays of shape (..., {length}).", f"x = {described(x)}", fix)
