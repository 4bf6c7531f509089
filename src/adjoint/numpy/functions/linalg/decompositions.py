"""Linear algebra: decompositions and eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.errors import UnsupportedError, message
from ....core.values import shape_of
from ....ops.linalg import decompositions, singular, solving
from ...dispatch.registry import implements
from .matrices import matrices

EigResult = type(np.linalg.eig(np.eye(1)))


EighResult = type(np.linalg.eigh(np.eye(1)))


QRResult = type(np.linalg.qr(np.eye(1)))


SVDResult = type(np.linalg.svd(np.eye(1)))


@implements(np.linalg.cholesky)
def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """`np.linalg.cholesky`, for Hermitian perturbations."""
    a = matrices(a)
    return solving.adjoint(solving.cholesky(solving.adjoint(a))) if upper else solving.cholesky(a)


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
    return SVDResult(u, s, solving.adjoint(u * sign[..., None, :]))


@implements(np.linalg.svdvals)
def svdvals(x: Any, /) -> Any:
    """`np.linalg.svdvals`."""
    return svd(x, compute_uv=False)


@implements(np.linalg.eig)
def eig(a: Any) -> Any:
    """`np.linalg.eig`."""
    return EigResult(*decompositions.eig(matrices(a)))


@implements(np.linalg.eigh)
def eigh(a: Any, UPLO: str = "L") -> Any:
    """`np.linalg.eigh`, for Hermitian perturbations."""
    return EighResult(*decompositions.eigh(matrices(a), UPLO=UPLO.upper()))


@implements(np.linalg.eigvals)
def eigvals(a: Any) -> Any:
    """`np.linalg.eigvals`."""
    return decompositions.eig(matrices(a))[0]


@implements(np.linalg.eigvalsh)
def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """`np.linalg.eigvalsh`, for Hermitian perturbations."""
    return decompositions.eigh(matrices(a), UPLO=UPLO.upper(), vectors=False)[0]
