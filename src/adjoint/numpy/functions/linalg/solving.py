"""Linear algebra: solving equations and inverting matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.errors import NotDifferentiableError, message
from ....core.values import decidable, dtype_of, shape_of
from ....ops.linalg import solving
from ...dispatch.arguments import NO_VALUE, as_value, given, ndim_of, same_dtype
from ...dispatch.registry import implements
from .decompositions import svdvals
from .matrices import matrices


@implements(np.linalg.solve)
def solve(a: Any, b: Any) -> Any:
    """`np.linalg.solve`."""
    a, b = matrices(a), as_value(b)
    if ndim_of(b) == 1:
        return solving.solve(a, b[:, None])[..., 0]
    return solving.solve(a, b)


@implements(np.linalg.tensorsolve)
def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """`np.linalg.tensorsolve`."""
    a, b = as_value(a), as_value(b)
    if given(axes):
        order = list(range(ndim_of(a)))
        for k in axes:
            order.remove(k)
            order.append(k)
        a = np.transpose(a, order)
    shape = shape_of(a)[ndim_of(b) - ndim_of(a) :]  # all of them if there are as many axes on both sides, as in NumPy
    size = math.prod(shape)
    if math.prod(shape_of(a)) != size**2:
        raise np.linalg.LinAlgError(
            "Input arrays must satisfy the requirement prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
        )
    return np.reshape(np.linalg.solve(np.reshape(a, (size, size)), np.reshape(b, (size,))), shape)


@implements(np.linalg.lstsq, whole=True)
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """`np.linalg.lstsq`; refused with respect to a matrix whose rank is not full, where it has no derivative."""
    a, b = as_value(a), as_value(b)
    kind = np.result_type(*[k if k.kind in "fc" else np.float64 for k in (dtype_of(a), dtype_of(b))])
    a, b = same_dtype(a, kind), same_dtype(b, kind)
    rows, columns = shape_of(a)
    cutoff = np.finfo(dtype_of(a)).eps * max(rows, columns) if rcond is None else rcond
    right = b[:, None] if ndim_of(b) == 1 else b
    x = solving.least_squares(a, right, rcond=rcond)
    s = svdvals(a)
    rank = np.sum(s > cutoff * np.max(s, axis=-1, keepdims=True, initial=0.0), axis=-1)
    if np.any(decidable(rank) < min(rows, columns)) and _moves(a):
        raise NotDifferentiableError(
            message(
                "np.linalg.lstsq has no derivative with respect to a matrix that does not have full rank.",
                got=f"rank {np.min(decidable(rank))} of {min(rows, columns)}",
                fix="If a perturbation keeps the rank, use  np.linalg.pinv(a) @ b;  "
                "if the matrix is meant as a constant, pass  ad.stop_gradient(a).",
            )
        )
    gap = right - a @ x
    residuals = np.sum(np.real(gap * np.conjugate(gap)), axis=0)
    if rows <= columns or np.any(decidable(rank) < columns):
        residuals = np.zeros(0, dtype_of(residuals))
    x = x[:, 0] if ndim_of(b) == 1 else x
    return x, residuals, np.astype(rank, np.int32), s  # as LAPACK counts


def _moves(a: Any) -> bool:
    """Whether a derivative with respect to the value is being taken: a batch alone takes none."""
    while hasattr(a, "traced_by"):
        if not a.traced_by.lead and not a.traced_by.is_capture and a.traced_by.level:
            return True
        a = a.value
    return False


@implements(np.linalg.inv)
def inv(a: Any) -> Any:
    """`np.linalg.inv`."""
    return solving.inv(matrices(a))


@implements(np.linalg.pinv, unasked=True)
def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = NO_VALUE) -> Any:
    """`np.linalg.pinv`, for perturbations that keep the rank."""
    a = matrices(a)
    if rcond is not None and given(rtol):
        raise ValueError("`rtol` and `rcond` can't be both set.")
    if 0 in shape_of(a)[-2:]:
        return np.zeros((*shape_of(a)[:-2], shape_of(a)[-1], shape_of(a)[-2]), dtype_of(a))
    cutoff = rtol if given(rtol) else rcond
    if cutoff is None:
        rows = max(shape_of(a)[-2:]) if rtol is None else 0
        cutoff = rows * np.finfo(dtype_of(a)).eps if rows else 1e-15
    return solving.pinv(a, decidable(cutoff), hermitian=hermitian)


@implements(np.linalg.tensorinv)
def tensorinv(a: Any, ind: int = 2) -> Any:
    """`np.linalg.tensorinv`."""
    a = as_value(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    shape = shape_of(a)
    if not shape:
        raise TypeError("reshape() takes exactly 1 argument (0 given)")
    size = math.prod(shape[ind:])
    return np.reshape(np.linalg.inv(np.reshape(a, (size, -1))), shape[ind:] + shape[:ind])
