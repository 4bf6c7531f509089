"""Linear algebra: condition numbers, determinants, ranks and traces."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.values import decidable, may_hold, shape_of
from ....ops.linalg import solving
from ....ops.linalg.singular import svd
from ....ops.linalg.solving import identity
from ....ops.linalg.spectra import endless
from ...dispatch.arguments import as_value, ndim_of
from ...dispatch.assignment import deliver
from ...dispatch.registry import implements
from .matrices import matrices
from .norms import extreme_value, inexact, norm


@implements(np.linalg.cond, whole=True)
def cond(x: Any, p: Any = None) -> Any:
    """`np.linalg.cond`: infinite for a singular matrix."""
    x = as_value(x)
    if 0 in shape_of(x)[-2:]:
        raise np.linalg.LinAlgError("cond is not defined on empty arrays")
    with np.errstate(all="ignore"):
        found = _ratio(_values(x), p) if p is None or p in (2, -2) else _by_inverse(x, p)
    if not may_hold(np.isnan(found)):
        return found
    return endless(found, np.isnan(found) & ~np.any(np.isnan(x), axis=(-2, -1)))


def _ratio(s: Any, p: Any) -> Any:
    largest, smallest = extreme_value(s, largest=True), extreme_value(s, largest=False)
    return smallest / largest if p == -2 else largest / smallest


def _by_inverse(x: Any, p: Any) -> Any:
    """The norm times that of the inverse; a matrix that has none is left out."""
    x = inexact(x)
    singular = np.linalg.slogdet(x)[0] == 0
    if may_hold(singular):
        x = np.where(singular[..., None, None], identity(x), x)
        return _size(x, p) * _size(np.where(singular[..., None, None], np.nan, np.linalg.inv(x)), p)
    return _size(x, p) * _size(np.linalg.inv(x), p)


def _size(x: Any, p: Any) -> Any:
    return np.sum(_values(x), axis=-1) if p == "nuc" else norm(x, p, axis=(-2, -1))


def _values(x: Any) -> Any:
    """The singular values that make a condition number: NumPy may take matrices for it whose values it refuses."""
    return svd(matrices(x), full_matrices=False, of="cond")[1]


SlogdetResult = type(np.linalg.slogdet(np.eye(1)))


@implements(np.linalg.det)
def det(a: Any) -> Any:
    """`np.linalg.det`; at a singular matrix the gradient is the matrix of cofactors."""
    return solving.det(matrices(a))


@implements(np.linalg.slogdet)
def slogdet(a: Any) -> Any:
    """`np.linalg.slogdet`."""
    return SlogdetResult(*solving.slogdet(matrices(a)))


@implements(np.linalg.matrix_rank)
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """`np.linalg.matrix_rank`: a constant; of a vector it is 0 or 1."""
    if ndim_of(A := as_value(A)) < 2:
        return np.astype(np.any(A != 0), int)
    return solving.matrix_rank(as_value(A), tol=decidable(tol), hermitian=hermitian, rtol=decidable(rtol))


@implements(np.linalg.trace)
def linalg_trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """`np.linalg.trace`."""
    return np.sum(np.diagonal(x, offset, -2, -1), axis=-1, dtype=dtype)


@implements(np.trace)
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    """`np.trace`."""
    return deliver(np.sum(np.diagonal(a, offset, axis1, axis2), -1, dtype), out)
