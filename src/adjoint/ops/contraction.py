"""Products that sum: matmul and einsum."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.traced import Traced
from ..core.values import shape_of
from ..rules.multilinear import Multilinear
from ..rules.stacking import padded
from .declare import UFUNCS, declare


def _swap(x: Any) -> Any:
    return np.swapaxes(x, -1, -2) if isinstance(x, Traced) else x.swapaxes(-1, -2)


def _to_first(g: Any, out: Any, x: Any, y: Any) -> Any:
    nx, ny = len(shape_of(x)), len(shape_of(y))
    if ny == 1:
        return g * y if nx == 1 else g[..., None] * y
    if nx == 1:
        return np.matmul(y, g[..., None])[..., 0]
    return g @ _swap(y)


def _to_second(g: Any, out: Any, x: Any, y: Any) -> Any:
    nx, ny = len(shape_of(x)), len(shape_of(y))
    if nx == 1:
        return g * x if ny == 1 else x[:, None] * g[..., None, :]
    if ny == 1:
        return np.matmul(g[..., None, :], x)[..., 0, :]
    return _swap(x) @ g


def _stack_matmul(primitive: Any, values: Sequence[Any], batched: Sequence[bool], params: dict, size: int) -> Any:
    x, y = values
    x_is_vector = len(shape_of(x)) - batched[0] == 1
    y_is_vector = len(shape_of(y)) - batched[1] == 1
    x = x[..., None, :] if x_is_vector else x
    y = y[..., :, None] if y_is_vector else y
    rank = max(len(shape_of(v)) - b for v, b in zip((x, y), batched, strict=True))
    x, y = (padded(v, rank) if b else v for v, b in zip((x, y), batched, strict=True))
    out = primitive(x, y)
    out = out[..., 0] if y_is_vector else out
    if x_is_vector:
        out = out[..., 0] if y_is_vector else out[..., 0, :]
    return out


matmul = declare("matmul", np.matmul, Multilinear(_to_first, _to_second), stacking=_stack_matmul)
UFUNCS[np.matmul] = matmul
