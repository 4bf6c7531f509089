"""L-BFGS: for the cross-entropy of many unknowns, with a preconditioner, and for any loss, with absolute values too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.lapack import dtrtri
from scipy.optimize import minimize

from ..labels import Array
from .newton import EntropyProblem

LARGEST_FACTOR = 2000
"""Columns up to which the preconditioner is a Cholesky factor of all of them, else their sizes."""
FIRST_CURVATURE = 0.01
"""Of the loss by a logit, before anything is known of it: that of a probability of 0.99."""
STRETCH = 40
"""Steps after which the preconditioner is made anew."""
NEARER = 0.1
"""Of the gradient the largest element is looked at, not its length."""


def by_quasi_newton(problem: EntropyProblem, start: Array, *, tol: float, max_iter: int) -> tuple[Array, int, bool]:
    """The theta of least cost, the steps it took, and whether the steps came to an end.

    Unknowns are R_k theta_k for each class k, where R_k^T R_k is the block of the Hessian for the class: columns of X
    may hang together as they like, L-BFGS does not see it.
    """
    Q = problem.basis
    two = len(Q) == 2
    every = problem if two else replace(problem, basis=np.eye(len(Q)))
    theta = start if two else start @ Q.T
    total, steps = float(np.sum(problem.weights)), 0
    curvature = np.full((len(problem.X), theta.shape[1]), FIRST_CURVATURE)
    while True:
        inverse = _inverse_factors(problem, curvature)

        def value_and_gradient(x: Array, inverse: Array = inverse) -> tuple[float, Array]:
            inside = _applied(inverse, x.reshape(len(inverse), -1))
            value, p = every.value(inside)
            return value / total, _applied_back(inverse, every.gradient(inside, p)).ravel() / total

        unknowns = _undone(inverse, theta).ravel()
        value = value_and_gradient(unknowns)[0]
        enough = NEARER * np.sqrt(tol * value / total)  # half its square is what can be won, as the Hessian is near I
        found = _minimized(value_and_gradient, unknowns, None, tol=enough, max_iter=min(STRETCH, max_iter - steps))
        theta = _applied(inverse, found.x.reshape(len(inverse), -1))
        steps += max(int(found.nit), 1)
        stands = found.success and found.fun > 0.9 * value  # it was small for a value that is no longer that large
        if stands or steps >= max_iter or found.status == 2:
            return theta if two else theta @ Q, steps, bool(found.success)
        p = every.value(theta)[1][:, -theta.shape[1] :]
        curvature = p * (1.0 - p)


def minimised(
    value_and_gradient: Callable[[Array], tuple[float, Array]],
    start: Array,
    absolute: Array,
    *,
    tol: float,
    max_iter: int,
) -> tuple[Array, int, bool]:
    """The x of least smooth cost + sum_j absolute_j |x_j|, the steps it took, and whether they came to an end.

    Where there are absolute values, x is the difference of two vectors that are not negative, so that zeros are exact.
    """
    if not np.any(absolute):
        found = _minimized(value_and_gradient, start, None, tol=tol, max_iter=max_iter)
        return found.x, max(int(found.nit), 1), bool(found.success)
    size = len(start)
    penalised = absolute > 0.0

    def split(both: Array) -> tuple[float, Array]:
        value, gradient = value_and_gradient(both[:size] - both[size:])
        return value + float(absolute @ (both[:size] + both[size:])), np.concatenate(
            [gradient + absolute, absolute - gradient]
        )

    bounds = [(0.0 if p else None, None) for p in penalised] + [(0.0, None if p else 0.0) for p in penalised]
    both = np.concatenate([np.where(penalised, np.maximum(start, 0.0), start), np.maximum(-start, 0.0) * penalised])
    found = _minimized(split, both, bounds, tol=tol, max_iter=max_iter)
    return found.x[:size] - found.x[size:], max(int(found.nit), 1), bool(found.success)


def _minimized(f: Any, start: Array, bounds: Any, *, tol: float, max_iter: int) -> Any:
    found = minimize(
        f, start, jac=True, method="L-BFGS-B", bounds=bounds,
        options={"maxiter": max_iter, "maxfun": 20 * max_iter, "gtol": tol, "ftol": 0.0, "maxcor": 20, "maxls": 50},
    )  # fmt: skip
    if not found.success and found.status == 2:  # the line search: as a rule rounding, which the gradient shows
        free = (
            np.abs(found.jac)
            if bounds is None
            else np.abs(np.where(found.x > 0.0, found.jac, np.minimum(found.jac, 0.0)))
        )
        found.success = bool(np.max(free) <= max(1e3 * tol, 1e-6 * abs(found.fun)))
    return found


def _inverse_factors(problem: EntropyProblem, curvature: Array) -> Array:
    """R_k^-1 for each class k, upper triangular, or its diagonal."""
    X, penalties = problem.X, problem.penalties
    weights = problem.weights[:, None] * curvature
    diagonal = weights.T @ X**2 + penalties
    diagonal += 1e-12 * np.max(diagonal, axis=1, keepdims=True)
    if X.shape[1] > LARGEST_FACTOR:
        return diagonal**-0.5
    found = np.empty((len(diagonal), X.shape[1], X.shape[1]))
    for k, weight in enumerate(weights.T):
        H = X.T @ (weight[:, None] * X)
        np.fill_diagonal(H, diagonal[k])
        found[k], _ = dtrtri(cholesky(H, check_finite=False))
    return found


def _applied(inverse: Array, x: Array) -> Array:
    """theta, of shape (columns, classes), from the unknowns of each class."""
    return (inverse * x if inverse.ndim == 2 else (inverse @ x[:, :, None])[:, :, 0]).T


def _applied_back(inverse: Array, gradient: Array) -> Array:
    """The gradient by the unknowns of each class."""
    return inverse * gradient.T if inverse.ndim == 2 else (gradient.T[:, None, :] @ inverse)[:, 0, :]


def _undone(inverse: Array, theta: Array) -> Array:
    """The unknowns of each class from theta."""
    if inverse.ndim == 2:
        return theta.T / inverse
    return np.stack([solve_triangular(R, x, check_finite=False) for R, x in zip(inverse, theta.T, strict=True)])
