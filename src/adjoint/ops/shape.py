"""Moving elements without changing them: each op's transpose is another op of this file, or a sum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.primitive import Primitive
from ..core.values import cast, dtype_of, shape_of, sum_to
from ..rules.linear import Linear
from ..rules.stacking import all_batched, leading, padded
from .declare import CONSTANT, declare

Axes = tuple[int, ...]


def _stack_reshape(primitive: Any, values: Sequence[Any], batched: Sequence[bool], params: dict, size: int) -> Any:
    return primitive(values[0], shape=(size, *params["shape"]))


def _stack_transpose(primitive: Any, values: Sequence[Any], batched: Sequence[bool], params: dict, size: int) -> Any:
    return primitive(values[0], axes=(0, *[a + 1 for a in params["axes"]]))


def _stack_broadcast(primitive: Any, values: Sequence[Any], batched: Sequence[bool], params: dict, size: int) -> Any:
    shape = params["shape"]
    return primitive(padded(values[0], len(shape)), shape=(size, *shape))


def _inverse(axes: Axes) -> Axes:
    return tuple(int(a) for a in np.argsort(axes))


reshape = declare(
    "reshape",
    lambda x, *, shape: np.reshape(x, shape),
    Linear(lambda g, out, x, *, shape: reshape(g, shape=shape_of(x)), structural=True),
    stacking=_stack_reshape,
)
transpose = declare(
    "transpose",
    lambda x, *, axes: np.transpose(x, axes),
    Linear(lambda g, out, x, *, axes: transpose(g, axes=_inverse(axes)), structural=True),
    stacking=_stack_transpose,
)
broadcast_to = declare(
    "broadcast_to",
    lambda x, *, shape: np.broadcast_to(x, shape),
    Linear(lambda g, out, x, *, shape: sum_to(g, shape_of(x)), structural=True),
    stacking=_stack_broadcast,
)
flip = declare(
    "flip",
    lambda x, *, axis: np.flip(x, axis),
    Linear(lambda g, out, x, *, axis: flip(g, axis=axis), structural=True),
    stacking=leading,
)
roll = declare(
    "roll",
    lambda x, *, shift, axis: np.roll(x, shift, axis),
    Linear(lambda g, out, x, *, shift, axis: roll(g, shift=tuple(-s for s in shift), axis=axis), structural=True),
    stacking=leading,
)


def _split(g: Any, out: Any, args: Sequence[Any], params: dict, needed: Sequence[bool]) -> list[Any]:
    axis, start, parts = params["axis"], 0, []
    trailing = (slice(None),) * (-axis - 1)
    for a, need in zip(args, needed, strict=True):
        stop = start + shape_of(a)[axis]
        parts.append(g[(..., slice(start, stop), *trailing)] if need else None)
        start = stop
    return parts


concatenate = declare(
    "concatenate",
    lambda *xs, axis: np.concatenate(xs, axis),
    Linear(variadic=_split, structural=True),
    stacking=all_batched,
)


def _unstack(g: Any, out: Any, args: Sequence[Any], params: dict, needed: Sequence[bool]) -> list[Any]:
    trailing = (slice(None),) * (-params["axis"] - 1)
    return [g[(..., k, *trailing)] if need else None for k, need in enumerate(needed)]


def _astype(x: Any, *, dtype: Any) -> Any:
    """Numbers of NumPy's stay numbers, as with its own method."""
    return x.astype(dtype) if isinstance(x, (np.ndarray, np.generic)) else np.dtype(dtype).type(x)


stack = declare(
    "stack",
    lambda *xs, axis: np.array(xs) if type(xs[0]) is float else np.stack(xs, axis),
    Linear(variadic=_unstack, structural=True),
    stacking=all_batched,
)
astype = declare(
    "astype",
    _astype,
    Linear(lambda g, out, x, *, dtype: cast(g, dtype_of(x)), structural=True),
    stacking=leading,
)
item = Primitive(
    "item",
    lambda x: x.item() if isinstance(x, (np.generic, np.ndarray)) and x.shape == () else x,
    derivative=Linear(lambda g, out, x: cast(g, dtype_of(x)), structural=True),
    stacking=lambda primitive, values, batched, params, size: values[0],
)
"""An array without axes as a Python number, whose precision gives way to that of an array."""
constant_astype = Primitive("astype", _astype, derivative=CONSTANT, stacking=leading)
"""To integers, truth values and text: numbers that nothing is differentiated through."""
