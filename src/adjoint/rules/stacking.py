"""How a leading batch axis passes a primitive: `op(stack(xs)) == stack([op(x) for x in xs])`.

Each function here is a `Stacking` of `core/rule.py`.
Axes are stored negative, so that most primitives need nothing at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.primitive import Primitive
from ..core.rule import Stacking
from ..core.types import Numeric, Params
from ..core.values import dtype_of, shape_of, spread


def leading(primitive: Primitive, values: Sequence[Any], batched: Sequence[bool], params: Params, size: int) -> Any:
    """The primitive acts on the last axes only and takes any number of axes before them."""
    return primitive(*values, **params)


def aligned(primitive: Primitive, values: Sequence[Any], batched: Sequence[bool], params: Params, size: int) -> Any:
    """The primitive broadcasts: give every batched operand the rank of the largest one, counted without the batch."""
    rank = max(len(shape_of(v)) - b for v, b in zip(values, batched, strict=True))
    return primitive(*[padded(v, rank) if b else v for v, b in zip(values, batched, strict=True)], **params)


def outer_aligned(*ranks: int | None) -> Stacking:
    """The primitive broadcasts what is before the last `ranks[k]` axes of operand k; None: as many as `shape` has."""

    def stack(primitive: Primitive, values: Sequence[Any], batched: Sequence[bool], params: Params, size: int) -> Any:
        inner = [len(params["shape"]) if r is None else r for r in ranks]
        outer = max([len(shape_of(v)) - b - r for v, b, r in zip(values, batched, inner, strict=True)])
        found = [padded(v, max(outer, 0) + r) if b else v for v, b, r in zip(values, batched, inner, strict=True)]
        return primitive(*found, **params)

    stack.__name__ = outer_aligned.__name__
    return stack


def all_batched(primitive: Primitive, values: Sequence[Any], batched: Sequence[bool], params: Params, size: int) -> Any:
    """The primitive takes leading axes, but all operands must have them."""
    return primitive(*[v if b else repeated(v, size) for v, b in zip(values, batched, strict=True)], **params)


def one_by_one(primitive: Primitive, values: Sequence[Any], batched: Sequence[bool], params: Params, size: int) -> Any:
    """Always right: evaluate each example and stack the results."""
    if size == 0:  # the result of an example that is not there tells the shape
        values = [np.ones((1, *shape_of(v)[1:]), dtype_of(v)) if b else v for v, b in zip(values, batched, strict=True)]
    results = [
        primitive(*[v[i] if b else v for v, b in zip(values, batched, strict=True)], **params)
        for i in range(max(size, 1))
    ]
    if primitive.multiple:
        return tuple([np.stack(parts)[:size] for parts in zip(*results, strict=True)])
    return np.stack(results)[:size]


def padded(x: Numeric, rank: int) -> Any:
    """Insert axes of length 1 behind the batch axis until the example has `rank` axes."""
    shape = shape_of(x)
    missing = rank - (len(shape) - 1)
    return x if missing <= 0 else np.reshape(x, shape[:1] + (1,) * missing + shape[1:])


def repeated(x: Numeric, size: int) -> Any:
    """The same example for the whole batch."""
    return spread(x, (size, *shape_of(x)))
