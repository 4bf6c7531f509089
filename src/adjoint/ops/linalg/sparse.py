"""Products with constant sparse matrices, which are linear maps along the last axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.primitive import Primitive
from ...rules.linear import Linear
from ...rules.stacking import leading


class Matrix:
    """A sparse matrix as it was when it was multiplied with, and its transpose."""

    __slots__ = ("_transposed", "value")

    def __init__(self, value: Any, transposed: Matrix | None = None) -> None:
        self.value = value
        self._transposed = transposed

    @property
    def transposed(self) -> Matrix:
        """The transpose, whose own transpose is this one."""
        if self._transposed is None:
            self._transposed = Matrix(self.value.T, self)
        return self._transposed

    def __repr__(self) -> str:
        return f"<sparse {self.value.shape[0]} x {self.value.shape[1]}>"


def _multiplied(x: Any, *, matrix: Matrix) -> Any:
    if np.ndim(x) == 1:
        return matrix.value @ x
    columns = np.reshape(x, (-1, x.shape[-1])).T
    return np.reshape((matrix.value @ columns).T, (*x.shape[:-1], matrix.value.shape[0]))


multiplied = Primitive(
    "sparse_product",
    _multiplied,
    derivative=Linear(lambda g, out, x, *, matrix: multiplied(g, matrix=matrix.transposed)),
    stacking=leading,
)
"""A sparse matrix times each row of an array: along the last axis."""
