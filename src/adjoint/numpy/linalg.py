"""`numpy.linalg`: solving, inverses, determinants and decompositions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import NotDifferentiableError, UnsupportedError, message
from ..core.values import dtype_of, raw, shape_of
from ..ops import decompositions, singular
from ..ops import linalg as ops
from .registry import NO_VALUE, as_value, given, implements, ndim_of
from .shapes import same_dtype

EigResult = type(np.linalg.eig(np.eye(1)))
EighResult = type(np.linalg.eigh(np.eye(1)))
QRResult = type(np.linalg.qr(np.eye(1)))
SlogdetResult = type(np.linalg.slogdet(np.eye(1)))
SVDResult = type(np.linalg.svd(np.eye(1)))


def matrices(a: Any) -> Any:
    """One or many matrices; inside vmap the axis of the examples is none of theirs."""
    a = as_value(a)
    if ndim_of(a) < 2:
        raise np.linalg.LinAlgError(f"{ndim_of(a)}-dimensional array given. Array must be at least two-dimensional")
    return a


@implements(np.linalg.solve)
def solve(a: Any, b: Any) -> Any:
    """`np.linalg.solve`."""
    a, b = matrices(a), as_value(b)
    if ndim_of(b) == 1:
        return ops.solve(a, b[:, None])[..., 0]
    return ops.solve(a, b)


@implements(np.linalg.inv)
def inv(a: Any) -> Any:
    """`np.linalg.inv`."""
    return ops.inv(matrices(a))


@implements(np.linalg.det)
def det(a: Any) -> Any:
    """`np.linalg.det`; at a singular matrix the gradient is the matrix of cofactors."""
    return ops.det(matrices(a))


@implements(np.linalg.slogdet)
def slogdet(a: Any) -> Any:
    """`np.linalg.slogdet`."""
    return SlogdetResult(*ops.slogdet(matrices(a)))


@implements(np.linalg.cholesky)
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """`np.linalg.cholesky`, for Hermitian perturbations."""
    a = matrices(a)
    return ops.adjoint(ops.cholesky(ops.adjoint(a))) if upper else ops.cholesky(a)


@implements(np.linalg.pinv)
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
    return ops.pinv(a, raw(cutoff), hermitian=hermitian)


@implements(np.linalg.eigh)
def eigh(a: Any, UPLO: str = "L") -> Any:
    """`np.linalg.eigh`, for Hermitian perturbations."""
    return EighResult(*decompositions.eigh(matrices(a), UPLO=UPLO.upper()))


@implements(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """`np.linalg.eigvalsh`, for Hermitian perturbations."""
    return decompositions.eigh(matrices(a), UPLO=UPLO.upper(), vectors=False)[0]


@implements(np.linalg.eig)
def eig(a: Any) -> Any:
    """`np.linalg.eig`."""
    return EigResult(*decompositions.eig(matrices(a)))


@implements(np.linalg.eigvals)
def eigvals(a: Any) -> Any:
    """`np.linalg.eigvals`."""
    return decompositions.eig(matrices(a))[0]


@implements(np.linalg.qr)
def qr(a: Any, mode: str = "reduced") -> Any:
    """`np.linalg.qr` in the modes reduced, complete and r."""
    if mode not in ("reduced", "complete", "r"):
        raise UnsupportedError(
            message(
                f"np.linalg.qr is not differentiated with mode={mode!r}.", fix='Use  mode="reduced", "complete" or "r".'
            )
        )
    q, r = decompositions.qr(matrices(a), mode="complete" if mode == "complete" else "reduced")
    return r if mode == "r" else QRResult(q, r)


@implements(np.linalg.svd)
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """`np.linalg.svd`."""
    a = matrices(a)
    if hermitian:
        return _hermitian_svd(a, compute_uv)
    full_matrices = full_matrices and shape_of(a)[-1] != shape_of(a)[-2]
    if not compute_uv:
        return singular.svd(a, full_matrices=False, of="svdvals")[1]
    return SVDResult(*singular.svd(a, full_matrices=full_matrices))


def _hermitian_svd(a: Any, compute_uv: bool) -> Any:
    """By eigenvalues: a negative one gives its sign to V."""
    if not compute_uv:
        return np.flip(np.sort(np.abs(np.linalg.eigvalsh(a)), axis=-1), -1)
    w, v = np.linalg.eigh(a)
    order = np.flip(np.argsort(np.abs(w), axis=-1), -1)
    s = np.take_along_axis(np.abs(w), order, -1)
    u = np.take_along_axis(v, np.broadcast_to(order[..., None, :], shape_of(v)), -1)
    sign = np.take_along_axis(np.copysign(1.0, w), order, -1)
    return SVDResult(u, s, ops.adjoint(u * sign[..., None, :]))


@implements(np.linalg.svdvals)
def svdvals(x: Any, /) -> Any:
    """`np.linalg.svdvals`."""
    return svd(x, compute_uv=False)


@implements(np.linalg.lstsq)
def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """`np.linalg.lstsq`; refused with respect to a matrix whose rank is not full, where it has no derivative."""
    a, b = as_value(a), as_value(b)
    kind = np.result_type(*[k if k.kind in "fc" else np.float64 for k in (dtype_of(a), dtype_of(b))])
    a, b = same_dtype(a, kind), same_dtype(b, kind)
    rows, columns = shape_of(a)
    cutoff = np.finfo(dtype_of(a)).eps * max(rows, columns) if rcond is None else rcond
    right = b[:, None] if ndim_of(b) == 1 else b
    x = ops.least_squares(a, right, rcond=rcond)
    s = svdvals(a)
    rank = np.sum(s > cutoff * np.max(s, axis=-1, keepdims=True, initial=0.0), axis=-1)
    if np.any(raw(rank) < min(rows, columns)) and _moves(a):
        raise NotDifferentiableError(
            message(
                "np.linalg.lstsq has no derivative with respect to a matrix that does not have full rank.",
                got=f"rank {np.min(raw(rank))} of {min(rows, columns)}",
                fix="If a perturbation keeps the rank, use  np.linalg.pinv(a) @ b;  "
                "if the matrix is meant as a constant, pass  ad.stop_gradient(a).",
            )
        )
    gap = right - a @ x
    residuals = np.sum(np.real(gap * np.conjugate(gap)), axis=0)
    if rows <= columns or np.any(raw(rank) < columns):
        residuals = np.zeros(0, dtype_of(residuals))
    x = x[:, 0] if ndim_of(b) == 1 else x
    return x, residuals, np.astype(rank, np.int32), s  # as LAPACK counts


def _moves(a: Any) -> bool:
    """Whether a derivative with respect to the value is being taken: a batch alone takes none."""
    while hasattr(a, "walk"):
        if not a.walk.lead and not a.walk.is_capture and a.walk.level:
            return True
        a = a.value
    return False


@implements(np.linalg.matrix_rank)
def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """`np.linalg.matrix_rank`: a constant; of a vector it is 0 or 1."""
    if ndim_of(A := as_value(A)) < 2:
        return np.astype(np.any(A != 0), int)
    return ops.matrix_rank(as_value(A), tol=raw(tol), hermitian=hermitian, rtol=raw(rtol))


@implements(np.linalg.matrix_transpose)
def matrix_transpose(x: Any, /) -> Any:
    """`np.linalg.matrix_transpose`."""
    return ops.swapped(as_value(x))


@implements(np.linalg.diagonal)
def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """`np.linalg.diagonal`."""
    return np.diagonal(x, offset, -2, -1)


@implements(np.linalg.trace)
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """`np.linalg.trace`."""
    return np.sum(np.diagonal(x, offset, -2, -1), axis=-1, dtype=dtype)
