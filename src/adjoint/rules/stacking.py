"""How a leading batch axis passes a primitive: `op(stack(xs)) == stack([op(x) for x in xs])`.

A stacking is a function `(primitive, values, batched, params, size) -> result with the batch axis in front`.
Axes are stored negative, so that most primitives need nothing at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.values import Value, dtype_of, shape_of, spread


def leading(primitive: Any, values: Sequence[Value], batched: Sequence[bool], params: dict, size: int) -> Value:
    """The primitive acts on the last axes only and takes any number of axes before them."""
    return primitive(*values, **params)


def aligned(primitive: Any, values: Sequence[Value], batched: Sequence[bool], params: dict, size: int) -> Value:
    """The primitive broadcasts: give every batched operand the rank of the largest one, counted without the batch."""
    rank = max(len(shape_of(v)) - b for v, b in zip(values, batched, strict=True))
    return primitive(*[padded(v, rank) if b else v for v, b in zip(values, batched, strict=True)], **params)


def all_batched(primitive: Any, values: Sequence[Value], batched: Sequence[bool], params: dict, size: int) -> Value:
    """The primitive takes leading axes, but all operands must have them."""
    return primitive(*[v if b else repeated(v, size) for v, b in zip(values, batched, strict=True)], **params)


def one_by_one(primitive: Any, values: Sequence[Value], batched: Sequence[bool], params: dict, size: int) -> Value:
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


def padded(x: Value, rank: int) -> Value:
    """Insert axes of length 1 behind the batch axis until the example has `rank` axes."""
    shape = shape_of(x)
    missing = rank - (len(shape) - 1)
    return x if missing <= 0 else np.reshape(x, shape[:1] + (1,) * missing + shape[1:])


def repeated(x: Value, size: int) -> Value:
    """The same example for the whole batch."""
    return spread(x, (size, *shape_of(x)))
