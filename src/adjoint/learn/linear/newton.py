"""Cross-entropy of linear logits with a squared penalty: Newton's method, and what its Hessian says of each row.

Logits are X theta Q^T. For two classes Q^T = (0, 1), one column of theta for the second class. For more, the columns of
Q are orthonormal and sum to zero: of all coefficients with the same probabilities the penalty takes those that sum to
zero over classes, so one column less is as much, and the Hessian is not singular.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve, helmert
from scipy.linalg.lapack import dposv

from ..labels import Array

HALVINGS = 40


@dataclass(frozen=True)
class EntropyProblem:
    """sum_i weight_i cross_entropy(logits_i, code_i) + 1/2 sum_j penalty_j |theta_j|^2."""

    X: Array
    codes: Array
    weights: Array
    penalties: Array
    basis: Array

    def value(self, theta: Array) -> tuple[float, Array]:
        """The objective, and the probabilities."""
        logits = (self.basis @ theta.T) @ self.X.T  # a row for each class: sums over few classes go along many rows
        logits -= np.max(logits, axis=0)
        own = logits[self.codes, np.arange(logits.shape[1])]
        p = np.exp(logits, out=logits)
        total = np.sum(p, axis=0)
        p /= total
        loss = self.weights @ (np.log(total) - own)
        return float(loss + 0.5 * np.sum(self.penalties @ theta**2)), p.T

    def gradient(self, theta: Array, p: Array) -> Array:
        """By theta."""
        back = p.T.copy()
        back[self.codes, np.arange(len(p))] -= 1.0
        back *= self.weights
        return ((self.basis.T @ back) @ self.X).T + self.penalties[:, None] * theta

    def curvature(self, p: Array) -> Array:
        """Of the loss by the logits of each row, seen through Q: shape (n, columns, columns)."""
        Q = self.basis
        mean = p @ Q
        products = (Q[:, :, None] * Q[:, None, :]).reshape(len(Q), -1)
        found = (p @ products).reshape(len(p), Q.shape[1], Q.shape[1])
        return self.weights[:, None, None] * (found - mean[:, :, None] * mean[:, None, :])

    def hessian(self, p: Array) -> Array:
        """Of theta.T.ravel()."""
        return hessian_of(self.X, self.curvature(p), self.penalties)


def hessian_of(X: Array, curvature: Array, penalties: Array) -> Array:
    """By theta.T.ravel(), of a cost of rows X theta: blocks of columns of X, one for each pair of columns of theta.

    `curvature` is the cost's by each row of outputs, of shape (n, outputs, outputs).
    """
    size, columns = X.shape[1], curvature.shape[1]
    whole = np.empty((columns * size, columns * size))
    for a in range(columns):
        for b in range(a + 1):
            block = X.T @ (curvature[:, a, b, None] * X)
            if a == b:
                block.flat[:: size + 1] += penalties
            whole[a * size : (a + 1) * size, b * size : (b + 1) * size] = block
            whole[b * size : (b + 1) * size, a * size : (a + 1) * size] = block.T
    return whole


def basis_of(classes: int) -> Array:
    """Q, of shape (classes, columns of theta)."""
    return np.array([[0.0], [1.0]]) if classes == 2 else helmert(classes).T


def by_newton(problem: EntropyProblem, start: Array, *, tol: float, max_iter: int) -> tuple[Array, int, bool]:
    """The theta of least cost, the steps it took, and whether the steps came to an end.

    The last step is one that lowers the cost by a share below tol^2; Newton's method doubles the digits with each.
    """
    theta = start
    value, p = problem.value(theta)
    for n in range(1, max_iter + 1):
        gradient = problem.gradient(theta, p)
        step = solved(problem.hessian(p), gradient.T.ravel()).reshape(theta.shape[::-1]).T
        slope = float(np.sum(gradient * step))
        if not slope > tol**2 * value:
            return theta - step, n, True
        for _ in range(HALVINGS):
            new, new_p = problem.value(theta - step)
            if new <= value - 1e-4 * slope:
                break
            step, slope = 0.5 * step, 0.5 * slope
        else:
            return theta, n, slope <= 1e-8 * value  # rounding is all that is left
        theta, value, p = theta - step, new, new_p
    return theta, max_iter, False


def leave_one_out(problem: EntropyProblem, theta: Array) -> Array:
    """Logits of each row as one Newton step without it predicts them, shape (n, classes).

    With A the covariance of the logits of a row, W their curvature, g their gradient: logits + A (I - W A)^-1 g.
    """
    _, p = problem.value(theta)
    Q = problem.basis
    factor = cho_factor(problem.hessian(p), lower=True, check_finite=False)
    A = covariances(problem.X, cho_solve(factor, np.eye(theta.size), check_finite=False))
    back = p.copy()
    back[np.arange(len(p)), problem.codes] -= 1.0
    g = (problem.weights[:, None] * back) @ Q
    without = np.linalg.solve(np.eye(Q.shape[1]) - problem.curvature(p) @ A, g[:, :, None])
    return (problem.X @ theta + (A @ without)[:, :, 0]) @ Q.T


def covariances(X: Array, inverse: Array) -> Array:
    """Of the outputs of each row, shape (n, outputs, outputs), where `inverse` is that of the Hessian."""
    size = X.shape[1]
    columns = len(inverse) // size
    A = np.empty((len(X), columns, columns))
    for a in range(columns):
        for b in range(a + 1):
            block = inverse[a * size : (a + 1) * size, b * size : (b + 1) * size]
            A[:, a, b] = A[:, b, a] = np.einsum("ij,ij->i", X @ block, X)
    return A


def solved(hessian: Array, gradient: Array) -> Array:
    """H^-1 g by Cholesky; where H is singular to rounding, a little more on its diagonal."""
    _, found, failed = dposv(hessian, gradient, lower=1)
    more = 1e-14
    while failed:
        heavier = hessian.copy()
        heavier.flat[:: len(hessian) + 1] += more * np.max(np.abs(np.diag(hessian)))
        _, found, failed = dposv(heavier, gradient, lower=1)
        more *= 100.0
    return found
