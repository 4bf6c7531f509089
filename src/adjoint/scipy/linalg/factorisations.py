"""What stands in for SciPy's factorisations, eigenvalues and least squares: NumPy's, with SciPy's conventions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.errors import BatchError, message
from ...core.traced import Traced
from ...core.values import decidable, dtype_of, shape_of
from ...numpy.dispatch.arguments import as_value, ndim_of
from ...numpy.dispatch.opaque_calls import as_constant
from ...numpy.patching.replacements import replaces
from ...ops.linalg.matrix_functions import triangular_solve
from ...ops.linalg.solving import adjoint
from ..options import refuse
from .functions import hermitian

TYPES = (1, 2, 3)
"""a v = w b v, a b v = w v, b a v = w v."""


@replaces("scipy.linalg", "eigh")
def eigh(
    a: Any, b: Any = None, *, lower: bool = True, eigvals_only: bool = False, overwrite_a: bool = False,
    overwrite_b: bool = False, type: int = 1, check_finite: bool = True, subset_by_index: Any = None,
    subset_by_value: Any = None, driver: str | None = None,
) -> Any:  # fmt: skip
    """`scipy.linalg.eigh`: with a second matrix b = l l*, those of l^-1 a l^-*, turned back."""
    refuse("linalg.eigh", subset_by_value is not None, "subset_by_value")
    if type not in TYPES:
        raise ValueError('"type" keyword only accepts 1, 2, and 3.')
    a = hermitian(as_value(a), lower)
    factor = None if b is None else np.linalg.cholesky(hermitian(as_value(b), lower))
    if factor is not None and type == 1:
        half = triangular_solve(factor, a, lower=True, unit=False)
        a = triangular_solve(factor, adjoint(half), lower=True, unit=False)
    elif factor is not None:
        a = adjoint(factor) @ a @ factor
    w, v = np.linalg.eigh(a)
    if factor is not None:
        v = factor @ v if type == 3 else triangular_solve(adjoint(factor), v, lower=False, unit=False)
    if subset_by_index is not None:
        first, last = subset_by_index
        w, v = w[..., first : last + 1], v[..., first : last + 1]
    return w if eigvals_only else (w, v)


@replaces("scipy.linalg", "eigvalsh")
def eigvalsh(
    a: Any, b: Any = None, *, lower: bool = True, overwrite_a: bool = False, overwrite_b: bool = False, type: int = 1,
    check_finite: bool = True, subset_by_index: Any = None, subset_by_value: Any = None, driver: str | None = None,
) -> Any:  # fmt: skip
    """`scipy.linalg.eigvalsh`."""
    how: dict[str, Any] = {"type": type, "subset_by_index": subset_by_index, "subset_by_value": subset_by_value}
    return eigh(a, b, lower=lower, eigvals_only=True, **how)


@replaces("scipy.linalg", "eig")
def eig(
    a: Any, b: Any = None, left: bool = False, right: bool = True, overwrite_a: bool = False,
    overwrite_b: bool = False, check_finite: bool = True, homogeneous_eigvals: bool = False,
) -> Any:  # fmt: skip
    """`scipy.linalg.eig`: always complex eigenvalues."""
    refuse("linalg.eig", left, "left=True")
    refuse("linalg.eig", homogeneous_eigvals, "homogeneous_eigvals=True")
    a = as_value(a) if b is None else np.linalg.solve(as_value(b), as_value(a))
    if not right:
        return np.linalg.eigvals(a) + 0j
    w, v = np.linalg.eig(a)
    return w + 0j, v


@replaces("scipy.linalg", "eigvals")
def eigvals(
    a: Any, b: Any = None, overwrite_a: bool = False, check_finite: bool = True, homogeneous_eigvals: bool = False
) -> Any:
    """`scipy.linalg.eigvals`."""
    return eig(a, b, right=False, homogeneous_eigvals=homogeneous_eigvals)


@replaces("scipy.linalg", "svd")
def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, overwrite_a: bool = False, check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:  # fmt: skip
    """`scipy.linalg.svd`."""
    found = np.linalg.svd(as_value(a), full_matrices, compute_uv)
    return tuple(found) if compute_uv else found


@replaces("scipy.linalg", "svdvals")
def svdvals(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.svdvals`."""
    return np.linalg.svd(as_value(a), compute_uv=False)


@replaces("scipy.linalg", "qr", note="the order of pivots is constant")
def qr(
    a: Any, overwrite_a: bool = False, lwork: Any = None, mode: str = "full", pivoting: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    """`scipy.linalg.qr`."""
    refuse("linalg.qr", mode == "raw", "mode='raw'")
    if pivoting:
        order = as_constant("scipy.linalg.qr", _pivots, (as_value(a),), {})
        return (*qr(np.take(as_value(a), order, axis=-1), mode=mode), order)
    if mode == "r":
        r = np.linalg.qr(as_value(a), "r")
        missing = shape_of(a)[-2] - shape_of(r)[-2]
        return (np.concatenate([r, np.zeros((*shape_of(r)[:-2], missing, shape_of(r)[-1]))], -2) if missing else r,)
    q, r = np.linalg.qr(as_value(a), {"full": "complete", "economic": "reduced"}[mode])
    return q, r


def _pivots(a: Any) -> Any:
    """The order of columns that SciPy chooses, which is constant in pieces."""
    import scipy.linalg

    return scipy.linalg.qr(a, mode="r", pivoting=True)[-1]


@replaces("scipy.linalg", "pinv")
def pinv(a: Any, *, atol: Any = None, rtol: Any = None, return_rank: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.pinv`."""
    refuse("linalg.pinv", return_rank, "return_rank=True")
    refuse("linalg.pinv", bool(atol), "atol=")
    a = as_value(a)
    size = max(shape_of(a)[-2:])
    return np.linalg.pinv(a, rcond=size * np.finfo(np.float64).eps if rtol is None else rtol)


@replaces("scipy.linalg", "pinvh")
def pinvh(
    a: Any, atol: Any = None, rtol: Any = None, lower: bool = True, return_rank: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    """`scipy.linalg.pinvh`."""
    refuse("linalg.pinvh", return_rank, "return_rank=True")
    refuse("linalg.pinvh", bool(atol), "atol=")
    a = hermitian(as_value(a), lower)
    eps = np.finfo(dtype_of(a)).eps
    return np.linalg.pinv(a, shape_of(a)[-1] * eps if rtol is None else rtol, hermitian=True)


@replaces("scipy.linalg", "orth", note="the rank is constant; as `svd`")
def orth(A: Any, rcond: Any = None) -> Any:
    """`scipy.linalg.orth`."""
    a = as_value(A)
    u, s, _ = np.linalg.svd(a, full_matrices=False)
    limit = max(shape_of(a)) * np.finfo(dtype_of(s)).eps if rcond is None else rcond
    return u[:, : _same_for_all(np.sum(s > limit * np.max(s)))]


def _same_for_all(count: Any) -> int:
    """A number that a shape depends on, which a recording holds for; in a batch it has to be the same for all."""
    found = decidable(count)
    if isinstance(found, Traced):
        return int(found)
    if np.ndim(found) and np.any(found != found.flat[0]):
        raise BatchError(message("The examples of a batch have different ranks.", fix="Call it one by one."))
    return int(np.ravel(found)[0])


@replaces("scipy.linalg", "subspace_angles")
def subspace_angles(A: Any, B: Any) -> Any:
    """`scipy.linalg.subspace_angles`: by sines where angles are small, by cosines where they are large."""
    a, b = orth(A), orth(B)
    inner = adjoint(a) @ b
    cosines = np.linalg.svd(inner, compute_uv=False)
    rest = b - a @ inner if shape_of(a)[1] >= shape_of(b)[1] else a - b @ adjoint(inner)
    small = cosines**2 >= 0.5
    sines = np.clip(np.linalg.svd(rest, compute_uv=False), -1.0, 1.0)
    by_sines = np.arcsin(np.where(small, sines, 0.0))
    return np.where(small, by_sines, np.arccos(np.where(small, 0.0, np.clip(cosines[::-1], -1.0, 1.0))))


@replaces("scipy.linalg", "orthogonal_procrustes")
def orthogonal_procrustes(A: Any, B: Any, check_finite: bool = True) -> Any:
    """`scipy.linalg.orthogonal_procrustes`."""
    u, w, vt = np.linalg.svd(np.transpose(np.transpose(as_value(B)) @ np.conjugate(as_value(A))))
    return u @ vt, np.sum(w)


@replaces("scipy.linalg", "lstsq")
def lstsq(
    a: Any, b: Any, cond: Any = None, overwrite_a: bool = False, overwrite_b: bool = False, check_finite: bool = True,
    lapack_driver: Any = None,
) -> Any:  # fmt: skip
    """`scipy.linalg.lstsq`: solution, residues, rank, singular values."""
    b = as_value(b)
    x, residues, rank, s = np.linalg.lstsq(as_value(a), b, rcond=np.finfo(np.float64).eps if cond is None else cond)
    return x, residues[0] if ndim_of(b) == 1 and shape_of(residues) == (1,) else residues, rank, s
