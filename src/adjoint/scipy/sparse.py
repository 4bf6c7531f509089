"""Products with sparse matrices, which are linear maps: `S @ x`, `x @ S`, `S.dot(x)`, `S.T @ x` for a constant S.

All of them end in one method of SciPy's common base class, and that is where traced arguments are taken over.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import _base

from ..core.primitive import Primitive
from ..core.traced import Traced
from ..numpy.foreign import refuse_arithmetic
from ..numpy.replacements import teach
from ..rules.linear import Linear
from ..rules.stacking import leading


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


def product(self: Any, other: Any) -> Any:
    """`S @ x` for a traced vector, or a traced matrix of columns."""
    if not isinstance(other, Traced) or other.shape == () or self.ndim != 2:
        refuse_arithmetic(type(self), other)
    if len(other.shape) > 2 or other.shape[0] != self.shape[1]:
        return self @ np.empty(other.shape)  # SciPy's own error
    matrix = Matrix(self.copy())  # who owns it may change it before the walk back
    if len(other.shape) == 1:
        return multiplied(other, matrix=matrix)
    return np.transpose(multiplied(np.transpose(other), matrix=matrix))


teach(_base._spbase._matmul_dispatch, product, "scipy.sparse")
