"""A fitted linear model as what it solves, with the inverse of the Hessian: all derivatives of a fit follow from it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, qr, svd

from ..labels import Array
from ..linear.columns import Columns
from ..linear.newton import covariances, hessian_of
from .rows import RowLoss

MOST_UNKNOWNS = 5000
EPS = np.finfo(np.float64).eps
STEPS = 20
"""Of Newton's method, from where the estimator's own solver ended."""


@dataclass(frozen=True)
class LinearProblem:
    """sum_i weights_i loss(X_i theta, targets_i) + 1/2 penalties . theta^2 + tilt . theta, least at `theta`.

    `tilt` is what is left of absolute values in the penalty, where coefficients are not 0.

    `X` has the columns that the model uses, scaled, with ones for the intercept. Where the estimator takes the mean of
    losses (`is_mean`), the penalties are those of the mean times the sum of the weights.
    """

    X: Array
    targets: Array
    weights: Array
    penalties: Array
    tilt: Array
    theta: Array
    loss: RowLoss
    scaled: Callable[[Array], Array]
    held: Array
    """Which columns it uses."""
    is_mean: bool
    is_quadratic: bool

    @property
    def outputs(self) -> Array:
        """Of all rows: (n, m)."""
        return self.X @ self.theta

    @property
    def pull(self) -> Array:
        """The gradient of the penalty."""
        return self.penalties[:, None] * self.theta + self.tilt[:, None]

    @cached_property
    def slope(self) -> Array:
        """Of each row's loss by its outputs, with its weight: (n, m)."""
        return self.weights[:, None] * self.loss.slope(self.outputs, self.targets)

    @cached_property
    def curvature(self) -> Array:
        """Of each row's loss by its outputs, with its weight: (n, m, m)."""
        return self.weights[:, None, None] * self.loss.curvature(self.outputs, self.targets)

    @cached_property
    def inverse(self) -> Array:
        """H^-1, by theta.T.ravel(); the pseudo-inverse if there are directions that no row's loss sees."""
        if self.theta.shape[1] == 1 and np.all(self.curvature >= 0.0):
            # from the root of H, with half as many digits lost as from H: they count where columns nearly depend
            root = np.vstack([np.sqrt(self.curvature[:, 0]) * self.X, np.diag(np.sqrt(self.penalties))])
            _, s, V = svd(qr(root, mode="r", check_finite=False)[0][: len(self.theta)], check_finite=False)
            s, directions, smallest = s**2, V.T, (max(root.shape) * EPS) ** 2
        else:
            H = hessian_of(self.X, self.curvature, self.penalties)
            with suppress(LinAlgError):
                L, lower = cho_factor(H, lower=True, check_finite=False)
                if np.ptp(np.log(np.diag(L))) < -0.5 * np.log(len(H) * EPS):
                    return cho_solve((L, lower), np.eye(len(H)), check_finite=False)
            s, directions = eigh(H, check_finite=False)
            smallest = len(H) * EPS
        known = np.abs(s) > np.max(np.abs(s)) * smallest
        if np.any(s[known] < 0.0) or not self._is_blind_to(directions[:, ~known]):
            raise no_minimum()
        return directions[:, known] / s[known] @ directions[:, known].T

    def _is_blind_to(self, directions: Array) -> bool:
        """Whether no row's loss changes along them."""
        moved = self.X @ directions.T.reshape(-1, *self.theta.shape[::-1]).transpose(0, 2, 1)
        changes = np.sum(moved * self.slope, axis=2)
        return bool(np.all(np.abs(changes) <= 1e-6 * (np.max(np.abs(self.slope), initial=0.0))))

    def solved(self, right: Array) -> Array:
        """H^-1 of a right-hand side with the shape of theta."""
        return (self.inverse @ right.T.ravel()).reshape(self.theta.shape[::-1]).T

    @cached_property
    def covariances(self) -> Array:
        """x_i H^-1 x_i for the outputs of each row: (n, m, m)."""
        return covariances(self.X, self.inverse)

    def with_penalties(self, penalties: Array) -> LinearProblem:
        """The same rows and theta with another penalty."""
        return replace(self, penalties=penalties)

    def at_optimum(self) -> LinearProblem:
        """The same with theta where the gradient is 0 to rounding: solvers stop earlier, or much earlier."""
        if self.is_quadratic:
            return self
        problem, before, moved = self, np.inf, np.inf
        for _ in range(STEPS):
            gradient = problem.X.T @ problem.slope + problem.pull
            step = problem.solved(gradient)
            decrease = float(np.sum(gradient * step))
            if not decrease < before:  # rounding is all that is left
                break
            before, moved = decrease, np.max(np.abs(step)) / max(np.max(np.abs(problem.theta)), EPS)
            problem = replace(problem, theta=problem.theta - step)
        if not moved <= 1e-6:  # theta goes on to infinity, or elsewhere
            raise no_minimum()
        return problem


def problem_of(
    columns: Columns, coef: Array, intercept: Array, *, targets: Array, weights: Array, squares: Array | float,
    loss: RowLoss, basis: Array, absolute: Array | float = 0.0, is_mean: bool = False, is_quadratic: bool = False,
) -> LinearProblem:  # fmt: skip
    """What a model with coefficients (m, columns) has solved.

    `squares` and `absolute` are the factors of w^2 / 2 and |w| in its penalty, for columns as given. Columns that are
    constant, or left at 0 by an absolute penalty, are not used.
    """
    held = np.any(columns.scaled[:, : len(columns.scale)] != 0.0, axis=0)
    if np.any(absolute):
        held &= coef[0] != 0.0
    scale = columns.scale[held]
    penalties = np.broadcast_to(squares, held.shape)[held] * scale**-2
    tilt = np.broadcast_to(absolute, held.shape)[held] * np.sign(coef[0, held]) / scale
    theta = coef[:, held].T * scale[:, None]
    used = held
    if columns.has_intercept:
        theta = np.vstack([theta, intercept + coef[:, held] @ columns.centre[held]])
        penalties, tilt, used = np.append(penalties, 0.0), np.append(tilt, 0.0), np.append(held, True)

    def scaled(X: Array) -> Array:
        inner = ((X - columns.centre) / columns.scale)[:, held]
        return np.hstack([inner, np.ones((len(X), 1))]) if columns.has_intercept else inner

    theta = theta @ basis
    if theta.size > MOST_UNKNOWNS:
        raise ValueError(f"At most {MOST_UNKNOWNS} unknowns are differentiated through, got {theta.size}.")
    return LinearProblem(
        columns.scaled[:, used], targets, weights, penalties, tilt, theta, loss, scaled, held, is_mean, is_quadratic
    ).at_optimum()


def no_minimum() -> ValueError:
    """What to say where there is nothing to differentiate."""
    return ValueError(
        "The fit has no single minimum, so it has no derivative: columns depend on each other, or a line tells the "
        "classes apart, and there is no penalty. Give one (alpha, C), or take leave_one_out(method='refit')."
    )
