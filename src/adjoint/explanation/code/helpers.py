"""Functions that are put into the source, where an expression would be too long."""

from __future__ import annotations

from typing import Any

import numpy as np


def _placed(g: Any, key: Any, shape: Any) -> Any:
    """Zeros, with g added at the key."""
    out = np.zeros(shape, np.asarray(g).dtype)
    np.add.at(out, key, g)
    return out


def _written(x: Any, key: Any, v: Any) -> Any:
    """A copy of x in which x[key] is v; whole numbers that are given for others become such."""
    out = np.array(x)
    out = out.astype(np.result_type(out, 0.0), copy=False)
    out[key] = v
    return out


def _written_whole(x: Any, key: Any, v: Any) -> Any:
    """A copy of x in which x[key] is v, cut to a whole number."""
    out = np.array(x)
    out[key] = v
    return out


def _last_writes(key: Any, shape: Any) -> Any:
    """Which of several writes to one place stays, as a mask of what is written."""
    board = np.zeros(shape, dtype=int)
    numbers = np.arange(board[key].size).reshape(board[key].shape)
    board[key] = numbers
    return board[key] == numbers


def _of_each(function: Any, a: Any) -> Any:
    """A function of a matrix, for every matrix of a stack."""
    parts = [function(part) for part in a.reshape(-1, *a.shape[-2:])]
    return np.stack(parts).reshape(a.shape) if parts else a


HELPERS = {f.__name__: f for f in (_placed, _written, _written_whole, _last_writes, _of_each)}
"""What the source of an operation may call besides NumPy and SciPy."""
