"""Losses on rows that a fit has not seen, as NumPy functions of its coefficients, penalties and temperature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint import nn

from ..labels import Array
from .problem import LinearProblem
from .reading import FittedProblem
from .rows import Entropy, OneOutput, RowLoss

Criterion = Callable[[Any, Any, Any], Any]


def by_new_rows(fit: FittedProblem, X: Any, y: Any) -> Criterion:
    """The mean loss of other rows."""
    rows, targets = fit.rows(X), fit.targets(y)
    loss = _traceable(fit.problem.loss)
    return lambda theta, penalties, log_temperature: np.mean(loss(rows @ theta, targets, log_temperature)[0])


def by_leave_one_out(problem: LinearProblem) -> Criterion:
    """The mean loss of all rows, each left out by one Newton step: `leaving.without_each`, to be differentiated.

    The share of a row in the penalty of a mean of losses is taken to be the same for all.
    """
    X, weights = problem.X, problem.weights
    share = 1.0 / len(X) if problem.is_mean else 0.0
    size, outputs = X.shape[1], problem.theta.shape[1]
    loss = _traceable(problem.loss)

    def mean(theta: Any, penalties: Any, log_temperature: Any) -> Any:
        f = X @ theta
        _, slope, curvature = loss(f, problem.targets, 0.0)
        W = weights[:, None, None] * curvature
        blocks = [[X.T @ (W[:, a, b, None] * X) for b in range(outputs)] for a in range(outputs)]
        H = np.concatenate([np.concatenate(row, axis=1) for row in blocks], axis=0)
        H = H + np.diag(np.concatenate([(1.0 - share) * penalties] * outputs))
        inverse = np.reshape(np.linalg.inv(H), (outputs, size, outputs, size))
        A = np.stack([np.stack([np.sum((X @ inverse[a, :, b]) * X, axis=1) for b in range(outputs)], axis=1)
                      for a in range(outputs)], axis=1)  # fmt: skip
        right = np.sum(A * (weights[:, None] * slope)[:, None, :], axis=2)
        if share:
            pulled = share * penalties[:, None] * theta
            right = right + X @ np.stack([np.sum(inverse[a] * pulled.T, axis=(1, 2)) for a in range(outputs)], axis=1)
        rest = np.eye(outputs) - A @ W
        left = f + (np.linalg.solve(rest, right[:, :, None])[:, :, 0] if outputs > 1 else right / rest[:, :, 0])
        return np.sum(weights * loss(left, problem.targets, log_temperature)[0]) / np.sum(weights)

    return mean


def _traceable(loss: RowLoss) -> Callable[[Any, Array, Any], tuple[Any, Any, Any]]:
    """Value, slope and curvature of each row's loss, of the outputs over a temperature."""
    if isinstance(loss, Entropy):
        basis = loss.basis
        products = (basis[:, :, None] * basis[:, None, :]).reshape(len(basis), -1)

        def entropy(f: Any, codes: Array, log_temperature: Any) -> tuple[Any, Any, Any]:
            logs = nn.log_softmax(f @ basis.T * np.exp(-log_temperature))
            p, own = np.exp(logs), np.eye(len(basis))[codes]
            middle = p @ basis
            seen = np.reshape(p @ products, (len(codes), basis.shape[1], basis.shape[1]))
            return -np.sum(own * logs, axis=1), (p - own) @ basis, seen - middle[:, :, None] * middle[:, None, :]

        return entropy
    if not isinstance(loss, OneOutput):
        raise ValueError("tune takes losses by name, such as 'squared', 'huber', 'poisson', 'logistic'.")
    smooth = loss.smooth

    def of_one(f: Any, targets: Array, log_temperature: Any) -> tuple[Any, Any, Any]:
        f = f[:, 0]
        curvature = smooth.curvature(f, targets)
        return smooth.value(f, targets), smooth.slope(f, targets)[:, None], curvature[:, None, None]

    return of_one
