"""What stands in for `lu`, `lu_factor`, `lu_solve`, and for factorisations that follow from others."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.traced import Traced
from ...core.values import dtype_of, shape_of
from ...numpy.dispatch.arguments import as_value, ndim_of
from ...numpy.dispatch.opaque_calls import as_constant
from ...numpy.patching.replacements import replaces
from ...ops.linalg.solving import adjoint
from ...ops.linalg.triangles import lower_of, lu_packed, order_of, upper_of
from ..options import refuse
from .functions import solve_triangular


def _floating(a: Any) -> Any:
    a = as_value(a)
    return a if dtype_of(a).kind in "fc" else np.astype(a, np.float64)


@replaces("scipy.linalg", "lu", note="the permutation is constant; a matrix, no stack")
def lu(
    a: Any, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True, p_indices: bool = False
) -> Any:
    """`scipy.linalg.lu`."""
    a = _floating(a)
    refuse("linalg.lu", ndim_of(a) > 2, "a stack of matrices")
    packed, _, order = lu_packed(a)
    lower, upper = lower_of(packed), upper_of(packed)
    back = np.argsort(order)
    if permute_l:
        return lower[back], upper
    if p_indices:
        return back, lower, upper
    kind = np.finfo(dtype_of(a)).dtype
    return np.astype(np.equal(back[:, None], np.arange(shape_of(a)[0])), kind), lower, upper


@replaces("scipy.linalg", "lu_factor", note="the pivots are constant")
def lu_factor(a: Any, overwrite_a: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.lu_factor`."""
    a = _floating(a)
    refuse("linalg.lu_factor", ndim_of(a) > 2, "a stack of matrices")
    packed, pivots, _ = lu_packed(a)
    return packed, pivots


def _rows(x: Any, order: Any) -> Any:
    """Rows in another order; `np.take` has no ear for handles that are indices alone."""
    return np.take_along_axis(x, order if ndim_of(x) == 1 else order[:, None], axis=0)


@replaces("scipy.linalg", "lu_solve")
def lu_solve(lu_and_piv: Any, b: Any, trans: int = 0, overwrite_b: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.lu_solve`."""
    packed, pivots = as_value(lu_and_piv[0]), lu_and_piv[1]
    size = shape_of(packed)[0]
    if isinstance(pivots, Traced):
        order = as_constant("scipy.linalg.lu_solve", lambda p: order_of(p, size), (pivots,), {})
    else:
        order = order_of(np.asarray(pivots), size)
    b = as_value(b)
    if trans == 0:
        half = solve_triangular(packed, _rows(b, order), lower=True, unit_diagonal=True)
        return solve_triangular(packed, half)
    half = solve_triangular(packed, b, trans=trans)
    found = solve_triangular(packed, half, trans=trans, lower=True, unit_diagonal=True)
    return _rows(found, np.argsort(order))


@replaces("scipy.linalg", "rq", note="nan where the rows are linearly dependent")
def rq(a: Any, overwrite_a: bool = False, lwork: Any = None, mode: str = "full", check_finite: bool = True) -> Any:
    """`scipy.linalg.rq`: by QR of the matrix with its rows in the other order, transposed."""
    refuse("linalg.rq", mode == "full" and shape_of(a)[0] < shape_of(a)[1], "mode='full' for a wide matrix")
    a = as_value(a)
    q, r = np.linalg.qr(adjoint(a[::-1]))
    q, r = adjoint(q)[::-1], adjoint(r)[::-1, ::-1]
    signs = as_constant("scipy.linalg.rq", _signs_of_rq, (a, q), {})
    r = r * signs
    return r if mode == "r" else (r, q * signs[:, None])


def _signs_of_rq(a: Any, q: Any) -> Any:
    """Where LAPACK's routine has another sign than ours."""
    import scipy.linalg

    theirs = scipy.linalg.rq(a, mode="economic")[1]
    return np.where(np.real(np.sum(np.conjugate(theirs) * q, axis=1)) < 0, -1, 1).astype(q.dtype)


@replaces("scipy.linalg", "qr_multiply", note="without pivoting")
def qr_multiply(
    a: Any, c: Any, mode: str = "right", pivoting: bool = False, conjugate: bool = False, overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> Any:  # fmt: skip
    """`scipy.linalg.qr_multiply`."""
    refuse("linalg.qr_multiply", pivoting, "pivoting=True")
    a, c = as_value(a), as_value(c)
    m, n = shape_of(a)
    column = ndim_of(c) == 1
    c = c[None] if column and mode == "right" else c[:, None] if column else c
    short = min(m, n) == (shape_of(c)[0] if mode == "left" else min(m, n))
    q, r = np.linalg.qr(a, "reduced" if short else "complete")
    q = np.conjugate(q) if conjugate else q
    found = q @ c if mode == "left" else c @ q
    return np.reshape(found, (-1,)) if column else found, r


@replaces("scipy.linalg", "schur", note="real, of a matrix with real eigenvalues that are all different")
def schur(
    a: Any, output: str = "real", lwork: Any = None, overwrite_a: bool = False, sort: Any = None,
    check_finite: bool = True,
) -> Any:  # fmt: skip
    """`scipy.linalg.schur`."""
    from ...ops.linalg.schur import schur as decomposed

    a = _floating(a)
    refuse("linalg.schur", sort is not None, "sort=")
    refuse("linalg.schur", output[:1] != "r" or dtype_of(a).kind == "c", "complex results")
    return tuple(decomposed(a))


@replaces("scipy.linalg", "matrix_balance", note="the scaling is constant in pieces")
def matrix_balance(
    A: Any, permute: bool = True, scale: bool = True, separate: bool = False, overwrite_a: bool = False
) -> Any:
    """`scipy.linalg.matrix_balance`: T^-1 A T for a T that is constant."""
    a = as_value(A)

    def run(matrix: Any) -> Any:
        import scipy.linalg

        return scipy.linalg.matrix_balance(matrix, permute, scale, separate)

    _, found = as_constant("scipy.linalg.matrix_balance", run, (a,), {})
    if separate:
        scaling, order = found
        turned = np.take(np.take(a, order, axis=0), order, axis=1)
        return turned * scaling / scaling[:, None], (scaling, order)
    return np.linalg.solve(found, a @ found), found
