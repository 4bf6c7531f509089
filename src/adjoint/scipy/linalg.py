"""What stands in for the functions of `scipy.linalg` while a function is traced."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.errors import UnsupportedError, message
from ..core.values import dtype_of, shape_of
from ..numpy.registry import as_value, ndim_of
from ..numpy.replacements import replaces
from ..ops.linalg import adjoint, swapped
from ..ops.matrix_functions import expm as exponential
from ..ops.matrix_functions import logm as logarithm
from ..ops.matrix_functions import sqrtm as square_root
from ..ops.matrix_functions import triangular_solve

STRUCTURES = {"sym", "her", "pos", "symmetric", "hermitian", "positive definite"}
"""What `assume_a` says of a matrix of which one triangle is read."""


@replaces("scipy.linalg", "expm")
def expm(A: Any) -> Any:
    """`scipy.linalg.expm`."""
    return exponential(as_value(A))


@replaces("scipy.linalg", "logm")
def logm(A: Any, disp: Any = None) -> Any:
    """`scipy.linalg.logm`."""
    return logarithm(as_value(A))


@replaces("scipy.linalg", "sqrtm")
def sqrtm(A: Any, disp: Any = None, blocksize: Any = None) -> Any:
    """`scipy.linalg.sqrtm`."""
    return square_root(as_value(A))


@replaces("scipy.linalg", "solve")
def solve(
    a: Any, b: Any, lower: bool = False, overwrite_a: bool = False, overwrite_b: bool = False,
    check_finite: bool = True, assume_a: str | None = None, transposed: bool = False,
) -> Any:  # fmt: skip
    """`scipy.linalg.solve`; of a matrix assumed symmetric one triangle is read, as SciPy does."""
    a = as_value(a)
    if assume_a in ("upper triangular", "lower triangular"):
        return solve_triangular(a, b, trans=int(transposed), lower=assume_a.startswith("lower"))
    if assume_a in STRUCTURES:
        triangle = np.tril(a) if lower else np.triu(a)
        mirrored = adjoint(triangle) if assume_a not in ("sym", "symmetric") else swapped(triangle)
        a = triangle + mirrored * (1.0 - np.eye(shape_of(a)[-1], dtype=np.finfo(dtype_of(a)).dtype))
    elif assume_a not in (None, "gen", "general"):
        raise UnsupportedError(
            message(f"scipy.linalg.solve is not differentiated with assume_a={assume_a!r}.", fix="Leave it out.")
        )
    return np.linalg.solve(swapped(a) if transposed else a, b)


@replaces("scipy.linalg", "inv")
def inv(a: Any, overwrite_a: bool = False, check_finite: bool = True, **rest: Any) -> Any:
    """`scipy.linalg.inv`."""
    return np.linalg.inv(as_value(a))


@replaces("scipy.linalg", "det")
def det(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.det`: in double precision, whatever a has."""
    a = as_value(a)
    return np.linalg.det(np.astype(a, np.result_type(dtype_of(a), np.float64)))


@replaces("scipy.linalg", "cholesky")
def cholesky(a: Any, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.cholesky`: upper by default."""
    return np.linalg.cholesky(as_value(a), upper=not lower)


@replaces("scipy.linalg", "cho_factor")
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
    """`scipy.linalg.toeplitz`."""
    c = np.ravel(as_value(c))
    r = np.conjugate(c) if r is None else np.ravel(as_value(r))
    rows, columns = shape_of(c)[0], shape_of(r)[0]
    values = np.concatenate([np.flip(c, -1), r[1:]], -1)
    return values[np.arange(rows - 1, -1, -1)[:, None] + np.arange(columns)]
