"""What stands in for SciPy's functions of banded, Toeplitz and circulant matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.values import dtype_of, shape_of
from ...numpy.dispatch.arguments import as_value, ndim_of
from ...numpy.dispatch.opaque_calls import as_constant
from ...numpy.patching.replacements import replaces
from ...ops.linalg.banded import banded_solve, banded_transpose, within
from ..options import refuse
from .functions import circulant, toeplitz


def _columns(solved: Any, ab: Any, b: Any, **widths: int) -> Any:
    """A solution for a vector or for columns."""
    b = as_value(b)
    if ndim_of(b) == 1:
        return solved(ab, b[:, None], **widths)[:, 0]
    return solved(ab, b, **widths)


@replaces("scipy.linalg", "solve_banded")
def solve_banded(
    l_and_u: Any, ab: Any, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False, check_finite: bool = True
) -> Any:
    """`scipy.linalg.solve_banded`."""
    lower, upper = (int(n) for n in l_and_u)
    ab = as_value(ab)
    if shape_of(ab)[-2:] != (lower + upper + 1, shape_of(as_value(b))[0]):
        raise ValueError("shapes of ab and b are not compatible.")
    return _columns(banded_solve, np.astype(ab, np.result_type(dtype_of(ab), np.float32)), b, lower=lower, upper=upper)


def _both_sides(ab: Any, lower: bool) -> Any:
    """The diagonals on both sides of a Hermitian matrix of which those on one are given."""
    width = shape_of(ab)[0] - 1
    if lower:
        upper = np.conjugate(banded_transpose(ab, lower=width, upper=0))
        return np.concatenate([upper[:-1], ab])
    below = np.conjugate(banded_transpose(ab, lower=0, upper=width))
    return np.concatenate([ab, below[1:]])


@replaces("scipy.linalg", "solveh_banded")
def solveh_banded(
    ab: Any, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False, lower: bool = False,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    """`scipy.linalg.solveh_banded`."""
    ab = as_value(ab)
    width = shape_of(ab)[0] - 1
    return _columns(banded_solve, _both_sides(ab, lower), b, lower=width, upper=width)


def dense(ab: Any, lower: bool) -> Any:
    """The whole Hermitian matrix of which the diagonals on one side are given."""
    width, n = shape_of(ab)[0] - 1, shape_of(ab)[1]
    rows = np.arange(-width, width + 1)[:, None] + np.arange(n)
    k, j = np.nonzero((rows >= 0) & (rows < n))
    both = within(_both_sides(ab, lower), lower=width, upper=width)
    order = np.full((n, n), len(k))
    order[rows[k, j], j] = np.arange(len(k))
    values = np.concatenate([both[k, j], np.zeros(1, dtype_of(both))])
    return values[order]


@replaces("scipy.linalg", "cholesky_banded", note="by the dense factor")
def cholesky_banded(ab: Any, overwrite_ab: bool = False, lower: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.cholesky_banded`."""
    ab = as_value(ab)
    width, n = shape_of(ab)[0] - 1, shape_of(ab)[1]
    factor = np.linalg.cholesky(dense(ab, lower), upper=not lower)
    rows = np.arange(width + 1)[:, None] + np.arange(n) - (0 if lower else width)
    inside = (rows >= 0) & (rows < n)
    return np.where(inside, factor[np.clip(rows, 0, n - 1), np.arange(n)], 0.0)


@replaces("scipy.linalg", "cho_solve_banded")
def cho_solve_banded(cb_and_lower: Any, b: Any, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.cho_solve_banded`."""
    cb, lower = as_value(cb_and_lower[0]), cb_and_lower[1]
    width = shape_of(cb)[0] - 1
    one = {"lower": width if lower else 0, "upper": 0 if lower else width}
    other = {"lower": one["upper"], "upper": one["lower"]}
    turned = np.conjugate(banded_transpose(cb, **one))
    if lower:
        return _columns(banded_solve, turned, _columns(banded_solve, cb, b, **one), **other)
    return _columns(banded_solve, cb, _columns(banded_solve, turned, b, **other), **one)


def _spectrum(name: str, matrix: Any, args: Any, how: dict[str, Any], select: Any, select_range: Any) -> Any:
    """Eigenvalues and vectors of the dense matrix, those selected, with the signs of SciPy's routine."""
    letter = str(select)[0]  # of a word, or one of LAPACK's numbers
    refuse(f"linalg.{name}", letter not in "ai02", f"select={select!r}")
    w, v = np.linalg.eigh(matrix)
    if letter in "i2":
        first, last = select_range
        w, v = w[first : last + 1], v[:, first : last + 1]

    def signs(found: Any, *given: Any) -> Any:
        import scipy.linalg

        theirs = getattr(scipy.linalg, name)(*given, select=select, select_range=select_range, **how)[1]
        return np.where(np.real(np.sum(np.conjugate(theirs) * found, axis=0)) < 0, -1, 1).astype(found.dtype)

    return w, v * as_constant(f"scipy.linalg.{name}", signs, (v, *args), {})


@replaces("scipy.linalg", "eig_banded", note="by the dense matrix; as `eigh`")
def eig_banded(
    a_band: Any, lower: bool = False, eigvals_only: bool = False, overwrite_a_band: bool = False, select: Any = "a",
    select_range: Any = None, max_ev: int = 0, check_finite: bool = True,
) -> Any:  # fmt: skip
    """`scipy.linalg.eig_banded`."""
    band = as_value(a_band)
    refuse("linalg.eig_banded", dtype_of(band).kind == "c", "complex matrices")
    w, v = _spectrum("eig_banded", dense(band, lower), (band,), {"lower": lower}, select, select_range)
    return w if eigvals_only else (w, v)


@replaces("scipy.linalg", "eigvals_banded", note="by the dense matrix")
def eigvals_banded(
    a_band: Any, lower: bool = False, overwrite_a_band: bool = False, select: Any = "a", select_range: Any = None,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    """`scipy.linalg.eigvals_banded`."""
    return eig_banded(a_band, lower, True, select=select, select_range=select_range)


@replaces("scipy.linalg", "eigh_tridiagonal", note="by the dense matrix; as `eigh`")
def eigh_tridiagonal(
    d: Any, e: Any, eigvals_only: bool = False, select: Any = "a", select_range: Any = None, check_finite: bool = True,
    tol: float = 0.0, lapack_driver: str = "auto",
) -> Any:  # fmt: skip
    """`scipy.linalg.eigh_tridiagonal`."""
    d, e = as_value(d), as_value(e)
    w, v = _spectrum("eigh_tridiagonal", np.diag(d) + np.diag(e, 1) + np.diag(e, -1), (d, e), {}, select, select_range)
    return w if eigvals_only else (w, v)


@replaces("scipy.linalg", "eigvalsh_tridiagonal", note="by the dense matrix")
def eigvalsh_tridiagonal(
    d: Any, e: Any, select: Any = "a", select_range: Any = None, check_finite: bool = True, tol: float = 0.0,
    lapack_driver: str = "auto",
) -> Any:  # fmt: skip
    """`scipy.linalg.eigvalsh_tridiagonal`."""
    return eigh_tridiagonal(d, e, True, select, select_range)


def _column_and_row(c_or_cr: Any) -> tuple[Any, Any]:
    """First column and first row of a Toeplitz matrix."""
    if isinstance(c_or_cr, tuple):
        return np.ravel(as_value(c_or_cr[0])), np.ravel(as_value(c_or_cr[1]))
    c = np.ravel(as_value(c_or_cr))
    return c, np.conjugate(c)


@replaces("scipy.linalg", "solve_toeplitz", note="by the dense matrix")
def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: bool = True) -> Any:
    """`scipy.linalg.solve_toeplitz`."""
    return np.linalg.solve(toeplitz(*_column_and_row(c_or_cr)), as_value(b))


@replaces("scipy.linalg", "matmul_toeplitz", note="by the dense matrix")
def matmul_toeplitz(c_or_cr: Any, x: Any, check_finite: bool = False, workers: Any = None) -> Any:
    """`scipy.linalg.matmul_toeplitz`."""
    found = toeplitz(*_column_and_row(c_or_cr)) @ as_value(x)
    return np.astype(found, np.result_type(dtype_of(found), np.float64))


@replaces("scipy.linalg", "solve_circulant", note="by the dense matrix")
def solve_circulant(
    c: Any, b: Any, singular: str = "raise", tol: Any = None, caxis: int = -1, baxis: int = 0, outaxis: int = 0
) -> Any:
    """`scipy.linalg.solve_circulant`."""
    refuse("linalg.solve_circulant", singular != "raise", f"singular={singular!r}")
    refuse("linalg.solve_circulant", (caxis, baxis, outaxis) != (-1, 0, 0) or ndim_of(as_value(c)) > 1, "other axes")
    found = np.linalg.solve(circulant(c), as_value(b))
    return np.astype(found, np.result_type(dtype_of(found), np.float32))
