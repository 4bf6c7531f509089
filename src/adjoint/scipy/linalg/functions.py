"""What stands in for the functions of `scipy.linalg` while a function is traced."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.values import dtype_of, shape_of
from ...numpy.dispatch.arguments import as_value, ndim_of
from ...numpy.patching.replacements import replaces
from ...ops.linalg.matrix_equations import logm as logarithm
from ...ops.linalg.matrix_equations import sqrtm as square_root
from ...ops.linalg.matrix_equations import sylvester
from ...ops.linalg.matrix_functions import expm as exponential
from ...ops.linalg.matrix_functions import triangular_solve
from ...ops.linalg.solving import adjoint, swapped
from ..options import refuse

STRUCTURES = {"sym", "her", "pos", "symmetric", "hermitian", "positive definite"}
"""What `assume_a` says of a matrix of which one triangle is read."""

TRIANGULAR = ("upper triangular", "lower triangular")
BANDS = {"diagonal": 0, "tridiagonal": 1}
"""Matrices of which so many diagonals on each side are read."""


@replaces("scipy.linalg", "expm", in_parts=True)
def expm(A: Any) -> Any:
    """`scipy.linalg.expm`."""
    return exponential(as_value(A))


@replaces("scipy.linalg", "logm", in_parts=True)
def logm(A: Any, disp: Any = None) -> Any:
    """`scipy.linalg.logm`."""
    return logarithm(as_value(A))


@replaces("scipy.linalg", "sqrtm", in_parts=True)
def sqrtm(A: Any, disp: Any = None, blocksize: Any = None) -> Any:
    """`scipy.linalg.sqrtm`."""
    return square_root(as_value(A))


@replaces("scipy.linalg", "solve_sylvester")
def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    """`scipy.linalg.solve_sylvester`: a x + x b = q."""
    return sylvester(as_value(a), as_value(b), as_value(q))


@replaces("scipy.linalg", "solve_continuous_lyapunov", "solve_lyapunov")
def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    """`scipy.linalg.solve_continuous_lyapunov`: a x + x a* = q."""
    a = as_value(a)
    return sylvester(a, adjoint(a), as_value(q))


@replaces("scipy.linalg", "solve")
def solve(
    a: Any, b: Any, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False,
    check_finite: bool = True, assume_a: str | None = None, transposed: bool = False,
) -> Any:  # fmt: skip
    """`scipy.linalg.solve`; of a matrix assumed symmetric one triangle is read, as SciPy does."""
    a = _as_read(as_value(a), assume_a, lower)
    if assume_a in TRIANGULAR:
        return solve_triangular(a, b, trans=int(transposed), lower=assume_a == "lower triangular")
    return np.linalg.solve(swapped(a) if transposed else a, b)


@replaces("scipy.linalg", "inv")
def inv(
    a: Any, overwrite_a: bool = False, check_finite: bool = True, *, assume_a: str | None = None, lower: bool = False
) -> Any:
    """`scipy.linalg.inv`; of a matrix that is assumed to have a structure only that part is read."""
    refuse("linalg.inv", assume_a == "diagonal", "assume_a='diagonal'")  # SciPy leaves the other elements as they were
    a = _as_read(as_value(a), assume_a, lower)
    if assume_a in TRIANGULAR:
        return triangular_solve(a, np.eye(shape_of(a)[-1]), lower=assume_a == "lower triangular", unit=False)
    return np.linalg.inv(a)


def _as_read(a: Any, assume_a: str | None, lower: bool) -> Any:
    """The matrix that SciPy sees if it is told to assume a structure: the part that it reads."""
    if assume_a in TRIANGULAR:
        return np.tril(a) if assume_a == "lower triangular" else np.triu(a)
    if assume_a in STRUCTURES:
        triangle = np.tril(a) if lower else np.triu(a)
        mirrored = swapped(triangle) if assume_a in ("sym", "symmetric") else adjoint(triangle)
        return triangle + mirrored * (1.0 - np.eye(shape_of(a)[-1], dtype=np.finfo(dtype_of(a)).dtype))
    if assume_a in BANDS:
        width = BANDS[assume_a]
        return np.triu(np.tril(a, width), -width)
    if assume_a not in (None, "gen", "general", "banded"):
        raise ValueError(f"{assume_a} is not a recognized matrix structure")
    return a


@replaces("scipy.linalg", "det")
def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.det`: in double precision, whatever a has."""
    a = as_value(a)
    return np.linalg.det(np.astype(a, np.result_type(dtype_of(a), np.float64)))


def hermitian(a: Any, lower: bool) -> Any:
    """The matrix of which only one triangle is given."""
    triangle = np.tril(a, -1) if lower else np.triu(a, 1)
    middle = np.real(np.diagonal(a, axis1=-2, axis2=-1))
    return triangle + adjoint(triangle) + middle[..., None] * np.eye(shape_of(a)[-1], dtype=dtype_of(middle))


@replaces("scipy.linalg", "cholesky", note="of the triangle that is read")
def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.cholesky`: upper by default; a function of the triangle that it reads, as SciPy's is."""
    return np.linalg.cholesky(hermitian(as_value(a), bool(lower)), upper=not lower)


@replaces("scipy.linalg", "cho_factor", note="of the triangle that is read")
def cho_factor(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.cho_factor`; the triangle that SciPy leaves undefined keeps the elements of a."""
    a = as_value(a)
    other = np.triu(a, 1) if lower else np.tril(a, -1)
    return cholesky(a, lower) + other, lower


@replaces("scipy.linalg", "cho_solve")
def cho_solve(c_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.cho_solve`."""
    c, lower = c_and_lower
    first, second = ("N", "C") if lower else ("C", "N")
    return solve_triangular(c, solve_triangular(c, b, first, lower), second, lower)


@replaces("scipy.linalg", "solve_triangular")
def solve_triangular(
    a: Any, b: Any, trans: Any = 0, lower: bool = False, unit_diagonal: bool = False, overwrite_b: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    """`scipy.linalg.solve_triangular`."""
    a, b = as_value(a), as_value(b)
    if trans in (1, "T", 2, "C"):
        a, lower = (adjoint(a) if trans in (2, "C") else swapped(a)), not lower
    column = ndim_of(b) == 1
    found = triangular_solve(a, b[:, None] if column else b, lower=bool(lower), unit=bool(unit_diagonal))
    return found[..., 0] if column else found


@replaces("scipy.linalg", "block_diag")
def block_diag(*arrs: Any) -> Any:
    """`scipy.linalg.block_diag`."""
    blocks = [np.atleast_2d(as_value(a)) for a in arrs]
    width = sum(shape_of(b)[-1] for b in blocks)
    rows, start = [], 0
    for block in blocks:
        height, length = shape_of(block)[-2:]
        sides = [np.zeros((height, n), dtype_of(block)) for n in (start, width - start - length)]
        rows.append(np.concatenate([sides[0], block, sides[1]], -1))
        start += length
    return np.concatenate(rows, -2)


@replaces("scipy.linalg", "toeplitz")
def toeplitz(c: Any, r: Any = None) -> Any:
    """`scipy.linalg.toeplitz`; stacks of columns and rows give stacks of matrices."""
    return _along_diagonals(c, np.conjugate(as_value(c)) if r is None else r, flipped=True)


@replaces("scipy.linalg", "hankel")
def hankel(c: Any, r: Any = None) -> Any:
    """`scipy.linalg.hankel`."""
    c = np.ravel(as_value(c))
    return _along_diagonals(c, np.zeros_like(c) if r is None else np.ravel(as_value(r)), flipped=False)


@replaces("scipy.linalg", "circulant")
def circulant(c: Any) -> Any:
    """`scipy.linalg.circulant`."""
    n = np.arange(shape_of(c)[-1])
    return as_value(c)[..., n[:, None] - n]


def _along_diagonals(c: Any, r: Any, *, flipped: bool) -> Any:
    """The matrix with these values in its first column and its last or first row, constant along its diagonals."""
    c, r = (np.atleast_1d(as_value(x)) for x in (c, r))
    lead = np.broadcast_shapes(shape_of(c)[:-1], shape_of(r)[:-1])
    rows, columns = shape_of(c)[-1], shape_of(r)[-1]
    c, r = np.broadcast_to(c, (*lead, rows)), np.broadcast_to(r, (*lead, columns))
    values = np.concatenate([np.flip(c, -1) if flipped else c, r[..., 1:]], -1)
    start = np.arange(rows - 1, -1, -1) if flipped else np.arange(rows)
    return values[..., start[:, None] + np.arange(columns)]
