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
from numpy.random import Philox

DRAW, SPLIT, FOLD, INNER = range(4)
"""The regions. INNER is the library's own splitting, which must not meet the user's."""

LARGEST = 2**64 - 1


class _Generator(threading.local):
    """One generator for each thread: to set its place takes a fifth of the time of making a new one."""

    def __init__(self) -> None:
        self.philox = Philox(key=0)
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


def words(keys: Any, count: int, *, region: int = DRAW, part: int = 0, first: int = 0) -> Any:
    """`count` random words of 64 bits, in a last axis, for a key or for each of an array of keys."""
    if keys.ndim == 1:
        return stream(keys, region=region, part=part, first=first).random_raw(count)
    out = np.empty((*keys.shape[:-1], count), np.uint64)
    for place in np.ndindex(keys.shape[:-1]):
        out[place] = stream(keys[place], region=region, part=part, first=first).random_raw(count)
    return out
