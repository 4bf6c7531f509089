"""Riccati's and Lyapunov's equations, and functions of matrices that follow from others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.values import dtype_of, shape_of
from ...numpy.dispatch.arguments import as_value, ndim_of
from ...numpy.dispatch.opaque_calls import as_constant
from ...numpy.patching.replacements import replaces
from ...ops.linalg.matrix_equations import logm as logarithm
from ...ops.linalg.matrix_equations import sqrtm as square_root
from ...ops.linalg.matrix_equations import sylvester
from ...ops.linalg.matrix_functions import expm as exponential
from ...ops.linalg.solving import adjoint
from ..options import refuse

STEPS = 3
"""Of Newton's: each one doubles the order up to which derivatives are right."""


@replaces("scipy.linalg", "solve_discrete_lyapunov", note="a x a* - x + q = 0")
def solve_discrete_lyapunov(a: Any, q: Any, method: Any = None) -> Any:
    """`scipy.linalg.solve_discrete_lyapunov`: by the continuous one of the transformed matrix."""
    a, q = _double(a), _double(q)
    one, turned = np.eye(shape_of(a)[0], dtype=dtype_of(a)), adjoint(a)
    inverse = np.linalg.inv(turned + one)
    b = (turned - one) @ inverse
    c = 2 * np.linalg.inv(a + one) @ q @ inverse
    return sylvester(adjoint(b), b, -c)


def _plain_solution(name: str, *args: Any) -> Any:
    def run(*values: Any) -> Any:
        import scipy.linalg

        return getattr(scipy.linalg, name)(*values)

    return as_constant(f"scipy.linalg.{name}", run, args, {})


@replaces("scipy.linalg", "solve_continuous_are", note="without e and s")
def solve_continuous_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True) -> Any:
    """`scipy.linalg.solve_continuous_are`: SciPy's solution, with steps of Newton's for its derivatives."""
    refuse("linalg.solve_continuous_are", e is not None or s is not None, "e= or s=")
    a, b, q, r = (as_value(x) for x in (a, b, q, r))
    x = _plain_solution("solve_continuous_are", a, b, q, r)
    for _ in range(STEPS):
        gain = np.linalg.solve(r, adjoint(b) @ x)
        closed = a - b @ gain
        x = sylvester(adjoint(closed), closed, -(q + adjoint(gain) @ r @ gain))
    return x


@replaces("scipy.linalg", "solve_discrete_are", note="without e and s")
def solve_discrete_are(a: Any, b: Any, q: Any, r: Any, e: Any = None, s: Any = None, balanced: bool = True) -> Any:
    """`scipy.linalg.solve_discrete_are`: SciPy's solution, with steps of Newton's for its derivatives."""
    refuse("linalg.solve_discrete_are", e is not None or s is not None, "e= or s=")
    a, b, q, r = (as_value(x) for x in (a, b, q, r))
    x = _plain_solution("solve_discrete_are", a, b, q, r)
    for _ in range(STEPS):
        gain = np.linalg.solve(r + adjoint(b) @ x @ b, adjoint(b) @ x @ a)
        closed = a - b @ gain
        x = solve_discrete_lyapunov(adjoint(closed), q + adjoint(gain) @ r @ gain)
    return x


@replaces("scipy.linalg", "expm_frechet")
def expm_frechet(A: Any, E: Any, method: Any = None, compute_expm: bool = True, check_finite: bool = True) -> Any:
    """`scipy.linalg.expm_frechet`: the corner of the exponential of [[A, E], [0, A]]."""
    a, e = _double(A), _double(E)
    n = shape_of(a)[0]
    whole = exponential(np.concatenate([np.concatenate([a, e], 1), np.concatenate([a * 0.0, a], 1)]))
    return (whole[:n, :n], whole[:n, n:]) if compute_expm else whole[:n, n:]


@replaces("scipy.linalg", "signm")
def signm(A: Any, disp: Any = None) -> Any:
    """`scipy.linalg.signm`: A (A A)^(-1/2)."""
    a = as_value(A)
    return np.linalg.solve(square_root(a @ a), a)


@replaces("scipy.linalg", "fractional_matrix_power", note="exp(t log(A))")
def fractional_matrix_power(A: Any, t: Any) -> Any:
    """`scipy.linalg.fractional_matrix_power`."""
    a = as_value(A)
    if isinstance(t, int):
        return np.linalg.matrix_power(a, t)
    return exponential(logarithm(a) * as_value(t))


@replaces("scipy.linalg", "funm", note="of a matrix with independent eigenvectors")
def funm(A: Any, func: Callable[[Any], Any], disp: Any = None) -> Any:
    """`scipy.linalg.funm`: the function of the eigenvalues, turned back."""
    a = as_value(A)
    w, v = np.linalg.eig(a)
    found = (v * func(w + 0j)) @ np.linalg.inv(v)
    return np.real(found) if dtype_of(a).kind != "c" else found


@replaces("scipy.linalg", "norm")
def norm(a: Any, ord: Any = None, axis: Any = None, keepdims: bool = False, check_finite: bool = True) -> Any:
    """`scipy.linalg.norm`."""
    a = as_value(a)
    found = np.linalg.norm(a, ord, axis, keepdims)
    by_lapack = ord in (1, np.inf) and ndim_of(a) == 2 and axis is None and dtype_of(a).char in "fdFD"
    return np.astype(found, np.float64) if by_lapack else found


def _double(a: Any) -> Any:
    """A matrix in double precision, in which SciPy computes whatever it is given."""
    a = as_value(a)
    return np.astype(a, np.result_type(dtype_of(a), np.float64))
