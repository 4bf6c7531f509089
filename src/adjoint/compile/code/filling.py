"""Setting all elements of a piece of memory."""

from __future__ import annotations

import numpy as np

from ..assembly.emit import Emitter
from ..assembly.kinds import POINTER, memory_kind, register_kind
from ..assembly.values import Parameter, Value
from .elements import store
from .loops import by_vectors


def fill_memory(e: Emitter, address: Value, value: Value, dtype: np.dtype, size: int) -> None:
    """Set `size` elements from an address on."""
    inside = Emitter(e.module)
    start, x = Parameter("%p", POINTER, "noalias"), Parameter("%x", register_kind(dtype))

    def body(i: Value) -> None:
        store(inside, inside.address(memory_kind(dtype), start, i), x, dtype)

    by_vectors(inside, 0, size, body)
    inside.give()
    e.call(inside.define("fill", (start, x)), address, value)
