"""What the rules share: what is kept for the walk back, and how tangents add up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.values import LARGE, Value, cast, dtype_of, shape_of, spread

Kept = tuple[Sequence[Value], Value]
"""Arguments and result of a step, as far as the walk back needs them."""


def all_kept(primitive: Any, parents: Sequence[int | None], values: Sequence[Value], out: Value) -> Kept:
    """For rules that may look at everything."""
    return [own(v) if p is None else v for p, v in zip(parents, values, strict=True)], out


def constants_kept(primitive: Any, parents: Sequence[int | None], values: Sequence[Value], out: Value) -> Kept:
    """For rules that are linear in the arguments with a transpose and keep the others: masks and indices."""
    if len(values) == 1:
        return [ghost(values[0])], ghost(out)
    is_linear_in = primitive.derivative.is_linear_in
    return [ghost(v) if is_linear_in(k) else own(v) for k, v in enumerate(values)], ghost(out)


def own(x: Value) -> Value:
    """The value, or a copy of it if it is a plain array: the user may change that before the walk back."""
    return x.copy() if type(x) is np.ndarray and x.flags.writeable else x


class Ghost:
    """What is left of a large array of which only shape and dtype are needed: the walk does not hold its memory."""

    __slots__ = ("dtype", "shape")

    def __init__(self, x: Any) -> None:
        self.shape = x.shape
        self.dtype = x.dtype


def ghost(x: Value) -> Value:
    """The value itself if it is small; of a large array only its shape and dtype."""
    return Ghost(x) if type(x) is np.ndarray and x.size > LARGE else x


def sum_of_tangents(terms: list[Value], out: Value) -> Value:
    """Add tangents, and give the sum the shape and dtype of the result."""
    total: Any = terms[0]
    for term in terms[1:]:
        total = total + term
    return like(total, out)


def like(tangent: Value, out: Value) -> Value:
    """A tangent with the shape and dtype of its value."""
    if type(out) is float and type(tangent) is float:
        return tangent
    shape = shape_of(out)
    if shape_of(tangent) != shape:
        tangent = spread(tangent, shape)
    if dtype_of(tangent) != dtype_of(out):
        tangent = cast(np.asarray(tangent) if not hasattr(tangent, "astype") else tangent, dtype_of(out))
    return tangent
