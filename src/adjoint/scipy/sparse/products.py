"""Plain sparse matrices that meet traced values: products are linear maps, all else gives a matrix of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sparse

from ...core.traced import Traced
from ...numpy.dispatch.arguments import as_value, holds_traced
from ...numpy.patching.replacements import Answer, divert
from ...ops.linalg.sparse import Matrix, multiplied
from .arithmetic import add, assign, divide, matmul, multiply, rmatmul
from .matrices import fill, is_ours, lifted, version_of

KINDS = [getattr(sparse, f"{form}_array") for form in ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")]
"""One class of each form."""


def _meets(other: Any) -> bool:
    """Whether an operand is traced, or a matrix with traced elements."""
    return isinstance(other, Traced) or is_ours(other) or (isinstance(other, (list, tuple)) and holds_traced(other))


def product(original: Any, self: Any, other: Any) -> Any:
    """`S @ x` for a traced vector, or a traced matrix of columns."""
    if not _meets(other) or is_ours(self):
        return original(self, other)
    if is_ours(other):
        return matmul(lifted(self), other)
    other = as_value(other)
    if other.shape == ():
        return multiply(lifted(self), other)
    if self.ndim != 2 or len(other.shape) > 2 or other.shape[0] != self.shape[1]:
        return original(self, np.empty(other.shape))  # SciPy's own error
    matrix = Matrix(self.copy())  # who owns it may change it before the sweep back
    if len(other.shape) == 1:
        return multiplied(other, matrix=matrix)
    return np.transpose(multiplied(np.transpose(other), matrix=matrix))


def product_from_the_right(original: Any, self: Any, other: Any) -> Any:
    """`x @ S`."""
    if not _meets(other):
        return original(self, other)
    if not is_ours(other) and len(as_value(other).shape) in (1, 2) and self.ndim == 2:
        other = as_value(other)
        turned = np.transpose(other) if len(other.shape) == 2 else other
        found = product(original, self.T, turned)
        return np.transpose(found) if len(other.shape) == 2 else found
    if not is_ours(other) and as_value(other).shape == ():
        return multiply(lifted(self), other)
    return rmatmul(lifted(self), other)


def _with(operation: Callable[..., Any], *more: Any, turned: bool = False) -> Callable[..., Any]:
    def operate(original: Any, self: Any, other: Any) -> Any:
        if not _meets(other):
            return original(self, other)
        mine = lifted(self)
        return operation(-mine if turned else mine, other, *more)

    return operate


def _store(original: Any, self: Any, key: Any, value: Any) -> None:
    """`S[i, j] = x`: the matrix becomes one of ours, in its place."""
    if not _meets(value):
        original(self, key, value)
        return
    found = assign(lifted(self), key, value)
    self.__class__ = version_of(self.__class__)
    fill(self, *found)


OPERATORS: dict[str, Callable[..., Any]] = {
    "_matmul_dispatch": product,
    "_rmatmul_dispatch": product_from_the_right,
    "__add__": _with(add),
    "__radd__": _with(add),
    "__sub__": _with(add, -1.0),
    "__rsub__": _with(add, turned=True),
    "multiply": _with(multiply),
    "__truediv__": _with(divide),
    "__setitem__": _store,
}
"""What plain matrices do with another operand."""

NUMBERS: dict[str, Callable[..., Any]] = {"__mul__": _with(multiply), "__rmul__": _with(multiply)}
"""Of arrays alone: those of matrices are products, which end in the above."""


def _take_over() -> None:
    """Divert the operators of every class, where each is defined."""
    done: set[int] = set()
    for kind in KINDS:
        for base in kind.__mro__:
            if base in (object, dict):
                continue
            for name, ours in {**OPERATORS, **NUMBERS}.items():
                found = vars(base).get(name)
                if found is not None and id(found) not in done and hasattr(found, "__code__"):
                    done.add(id(found))
                    divert(found, Answer(ours=ours, calls_back=True), f"scipy.sparse.{name}")


_take_over()
