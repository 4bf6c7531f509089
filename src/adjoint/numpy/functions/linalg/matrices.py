"""Linear algebra: matrices as such, their transposes and diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....ops.linalg import solving
from ...dispatch.arguments import as_value, ndim_of
from ...dispatch.registry import implements


def matrices(a: Any) -> Any:
    """One or many matrices; inside vmap the axis of the examples is none of theirs."""
    a = as_value(a)
    if ndim_of(a) < 2:
        raise np.linalg.LinAlgError(f"{ndim_of(a)}-dimensional array given. Array must be at least two-dimensional")
    return a


@implements(np.linalg.matrix_transpose)
def matrix_transpose(x: Any, /) -> Any:
    """`np.linalg.matrix_transpose`."""
    return solving.swapped(as_value(x))


@implements(np.linalg.diagonal)
def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """`np.linalg.diagonal`."""
    return np.diagonal(x, offset, -2, -1)
