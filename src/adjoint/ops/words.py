"""The words under every draw: NumPy's Philox, read at a place that the key and a counter name.

A key is two words, a counter four. The counter's last word is the region, so that drawing, splitting and folding never
read the same block; its second word is the part, for what needs several streams of one key. A block is four words;
NumPy counts up before it makes one, so word i of a stream is word i % 4 of the block with counter
(first + 1 + i // 4, part, 0, region).
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from ..rules.stacking import outer_aligned
from .declare import CONSTANT, declare

DRAW, SPLIT, FOLD, INNER = range(4)
"""The regions. INNER is the library's own splitting, which must not meet the user's."""

LARGEST = 2**64 - 1


class _Generator(threading.local):
    """One generator for each thread: to set its place takes a fifth of the time of making a new one."""

    def __init__(self) -> None:
        from numpy.random import Philox  # not whenever something is compiled

        self.philox = Philox(0)  # with a key it would ask for a seed of its own, which is refused while jit records
        self.counter = np.zeros(4, np.uint64)
        self.place: dict[str, Any] = {"counter": self.counter, "key": None}
        self.state: Any = {
            "bit_generator": "Philox",
            "state": self.place,
            "buffer": np.zeros(4, np.uint64),
            "buffer_pos": 4,
            "has_uint32": 0,
            "uinteger": 0,
        }


_generator = _Generator()


def stream(key: Any, *, region: int = DRAW, part: int = 0, first: int = 0) -> Any:
    """The generator at the place asked for; read it with `random_raw` before anything else asks for one."""
    own = _generator
    own.counter[:] = first, part, 0, region
    own.place["key"] = key
    own.philox.state = own.state
    return own.philox


def words(keys: Any, count: int, *, region: int = DRAW, part: int = 0, first: Any = 0) -> Any:
    """`count` random words of 64 bits, in a last axis, for a key or for each of an array of keys."""
    return random_words(keys, first, count=count, region=region, part=part)


def _read(keys: Any, first: Any, *, count: int, region: int, part: int) -> Any:
    if keys.ndim == 1 and not np.ndim(first):
        return stream(keys, region=region, part=part, first=int(first)).random_raw(count)
    outer = np.broadcast_shapes(keys.shape[:-1], np.shape(first))
    keys, first = np.broadcast_to(keys, (*outer, 2)), np.broadcast_to(first, outer)
    out = np.empty((*outer, count), np.uint64)
    for place in np.ndindex(outer):
        out[place] = stream(keys[place], region=region, part=part, first=int(first[place])).random_raw(count)
    return out


random_words = declare("random_words", _read, CONSTANT, stacking=outer_aligned(1, 0))
"""Machine code has this one; what else is random is put together from it there."""
