"""What the rules share: what is kept for the sweep back, and how tangents add up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.primitive import Primitive
from ..core.rule import Rule, Tangents
from ..core.traced import ARRAY
from ..core.types import Numeric, Params, Values
from ..core.values import LARGE, cast, dtype_of, may_hold, shape_of, spread


class Ghost:
    """What is left of a large array of which only shape and dtype are needed: the trace does not hold its memory."""

    __slots__ = ("dtype", "shape")

    def __init__(self, x: np.ndarray) -> None:
        self.shape = x.shape
        self.dtype = x.dtype


def ghost(x: Numeric) -> Any:
    """The value itself if it is small; of a large array only its shape and dtype."""
    return Ghost(x) if type(x) is ARRAY and x.size > LARGE else x


def near_by_push(
    rule: Rule, primitive: Primitive, moves: Tangents, out: Any, args: Values, params: Params
) -> tuple[Any, Any]:
    """Where a result is and how it moves, for rules whose results move as their tangents do.

    An argument that moves by more than a little is taken where it goes to; how the result moves is not known then.
    """
    values: list[Any] = list(args)
    small: list[Any] = list(moves)
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


def is_far(value: Numeric, move: Numeric) -> Any:
    """Whether a value moves by more than a little."""
    return np.abs(move) > TINY * np.where(np.equal(value, 0), 1.0, np.abs(value))


def sum_of_tangents(terms: Sequence[Numeric], out: Numeric) -> Any:
    """Add tangents, and give the sum the shape and dtype of the result."""
    total: Any = terms[0]
    for term in terms[1:]:
        total = total + term
    return like(total, out)


def like(tangent: Numeric, out: Numeric) -> Any:
    """A tangent with the shape and dtype of its value."""
    if type(out) is float and type(tangent) is float:
        return tangent
    shape = shape_of(out)
    if shape_of(tangent) != shape:
        tangent = spread(tangent, shape)
    if dtype_of(tangent) != dtype_of(out):
        tangent = cast(np.asarray(tangent) if not hasattr(tangent, "astype") else tangent, dtype_of(out))
    return tangent
