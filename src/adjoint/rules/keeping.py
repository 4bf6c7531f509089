"""What the rules share: what is kept for the walk back, and how tangents add up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.values import LARGE, Value, cast, dtype_of, may_hold, shape_of, spread

Kept = tuple[Sequence[Value], Value]
"""Arguments and result of a step, as far as the walk back needs them."""


def all_kept(primitive: Any, parents: Sequence[int | None], values: Sequence[Value], out: Value) -> Kept:
    """For rules that may look at everything."""
    return [own(v) if p is None else v for p, v in zip(parents, values, strict=True)], out


def constants_kept(primitive: Any, parents: Sequence[int | None], values: Sequence[Value], out: Value) -> Kept:
    """For rules that are linear in the arguments with a transpose and keep the others: masks and indices."""
    if type(out) is np.ndarray and out.size > LARGE:
        out = Ghost(out)
    if len(values) == 1:
        v = values[0]
        return [Ghost(v)] if type(v) is np.ndarray and v.size > LARGE else values, out
    is_linear_in = primitive.derivative.is_linear_in
    kept = list(values)
    for k, v in enumerate(values):
        if type(v) is np.ndarray:
            kept[k] = ghost(v) if is_linear_in(k) else own(v)
    return kept, out


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


def near_by_push(
    rule: Any, primitive: Any, moves: Sequence[Value], out: Value, args: Sequence[Value], params: dict
) -> tuple[Value, Value]:
    """Where a result is and how it moves, for rules whose results move as their tangents do.

    An argument that moves by more than a little is taken where it goes to; how the result moves is not known then.
    """
    values, small = list(args), list(moves)
    for k, (a, m) in enumerate(zip(args, moves, strict=True)):
        if m is not None:
            far = is_far(a, m)
            if may_hold(far):
                values[k], small[k] = np.where(far, a + m, a), np.where(far, np.nan, m)
                out = None
    if out is None:
        out = primitive(*values, **params)
    return out, rule.push(primitive, small, out, values, params)


TINY = 2.0**-50
"""Below it a move is a little one, so that the partial at the point says how the result moves."""


def is_far(value: Value, move: Value) -> Value:
    """Whether a value moves by more than a little."""
    return np.abs(move) > TINY * np.where(np.equal(value, 0), 1.0, np.abs(value))


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
