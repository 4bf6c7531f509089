"""Whole numbers between two ends, each made of two words by multiplication."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.arguments import Array, Key
from ..core.errors import message
from ..core.values import cast, dtype_of
from ..ops.declare import CONSTANT, declare
from ..ops.words import stream, words
from ..rules.stacking import outer_aligned
from .draws import BLOCK

UINT64 = np.dtype(np.uint64)
HALF = np.uint64(32)
LOW_HALF = np.uint64(2**32 - 1)


def _draw_integers(key: Key, low: Array, high: Array, *, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    bounds = np.iinfo(dtype)
    if np.any(np.asarray(low) >= np.asarray(high)):
        raise ValueError(
            message(
                "There is no whole number between the ends.",
                got=f"low={low!r}, high={high!r}",
                fix="low  is included and  high  is not: it has to be larger.",
            )
        )
    if np.any(np.asarray(low) < bounds.min) or np.any(np.asarray(high) - 1 > bounds.max):
        raise ValueError(
            message(
                f"The ends do not fit into {dtype.name}.", got=f"low={low!r}, high={high!r}", fix="Pass another  dtype."
            )
        )
    start, stop = (np.asarray(end).astype(np.uint64) for end in (low, high))  # modulo 2**64, as is all that follows
    if key.ndim > 1 or max(start.ndim, stop.ndim) > len(shape):
        return _between(key, start, stop, shape).astype(dtype)
    out = np.empty(shape, np.uint64)
    flat, philox = out.reshape(-1), stream(key)
    spans = _flat(stop - start, shape)
    for i in range(0, flat.size, BLOCK):
        block = flat[i : i + BLOCK]
        w = philox.random_raw(2 * block.size)
        block[...] = _scaled(w[0::2], w[1::2], spans[i : i + BLOCK] if spans.ndim else spans)
    out += start
    return out.astype(dtype)[()]


def _integers_in_steps(key: Key, low: Array, high: Array, *, shape: tuple[int, ...], dtype: np.dtype) -> Any:
    low, high = (end.astype(dtype_of(end)) for end in (low, high))  # which makes Python's numbers NumPy's
    bounds, holds = np.iinfo(dtype), low < high
    if np.iinfo(dtype_of(low)).min < bounds.min:
        holds = holds & (low >= dtype_of(low).type(bounds.min))
    if np.iinfo(dtype_of(high)).max > bounds.max:
        holds = holds & (high <= dtype_of(high).type(bounds.max + 1))
    return cast(_between(key, cast(low, UINT64), cast(high, UINT64), shape), dtype), np.all(holds)


def _between(keys: Key, start: Array, stop: Array, shape: tuple[int, ...]) -> Any:
    """The numbers for a key or an array of keys, modulo 2**64."""
    w = words(keys, 2 * math.prod(shape)).reshape((*keys.shape[:-1], *shape, 2))
    return start + _scaled(w[..., 0], w[..., 1], stop - start)


def _flat(x: Array, shape: tuple[int, ...]) -> Any:
    return x if x.ndim == 0 else np.broadcast_to(x, shape).reshape(-1)


def _scaled(w: Array, extra: Array, span: Array) -> Any:
    """span * r for a fraction r of 128 bits, rounded down: all results are equally likely but for 2**-64."""
    carried = _high_product(extra, span)
    return _high_product(w, span) + (w * span + carried < carried)


def _high_product(x: Array, y: Array) -> Any:
    """The upper 64 of the 128 bits of a product."""
    x_low, x_high, y_low, y_high = x & LOW_HALF, x >> HALF, y & LOW_HALF, y >> HALF
    middle = x_high * y_low + (x_low * y_low >> HALF)
    return x_high * y_high + (middle >> HALF) + (x_low * y_high + (middle & LOW_HALF) >> HALF)


drawn_integers = declare(
    "random_integers", _draw_integers, CONSTANT, stacking=outer_aligned(1, None, None), fails_from=1,
    composition=_integers_in_steps,
)  # fmt: skip
