"""Parameters of steps as keys: what can be compared and hashed, and tells 1 from 1.0 and 0.0 from -0.0."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from ..core.traced import Traced


def key_of(x: Any) -> Hashable:
    """A parameter as a key; containers and arrays by what they hold, other objects by themselves."""
    kind = type(x)
    if kind is int or kind is str:
        return x  # type: ignore[no-any-return]
    if kind is Traced:
        return id(x)
    if kind is tuple:
        return x if all([type(v) is int for v in x]) else (tuple, *[key_of(v) for v in x])
    if isinstance(x, dict):
        return tuple([(k, key_of(v)) for k, v in x.items()])
    if isinstance(x, (list, tuple)):
        return (kind, *[key_of(v) for v in x])
    if isinstance(x, slice):
        return ("slice", key_of(x.start), key_of(x.stop), key_of(x.step))
    if isinstance(x, np.ndarray):
        return (x.shape, x.dtype.str, x.tobytes())
    if isinstance(x, (float, complex, np.generic)):
        return (kind, repr(x))
    try:
        hash(x)
    except TypeError:
        return id(x)
    return (kind, x)
