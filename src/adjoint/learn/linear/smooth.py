"""Losses of one output with their slopes and curvatures, and Newton's method for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..labels import Array
from .newton import solved
from .quasi_newton import minimised

Part = Callable[[Array, Array], Array]


@dataclass(frozen=True)
class Smooth:
    """A loss of outputs f and targets y, its slope and curvature by f, and a curvature whose parabola lies above it."""

    value: Part
    slope: Part
    curvature: Part
    above: Part
    is_parabola: bool = False
    """Whether it outgrows every line on both sides."""


def squared() -> Smooth:
    """(f - y)^2."""
    two: Part = lambda f, y: np.full(len(f), 2.0)  # noqa: E731
    return Smooth(lambda f, y: (f - y) ** 2, lambda f, y: 2.0 * (f - y), two, two, is_parabola=True)


def huber(delta: float) -> Smooth:
    """r^2 / 2 up to delta, a line above it."""

    def value(f: Array, y: Array) -> Array:
        size = np.abs(f - y)
        inner = np.minimum(size, delta)
        return inner * (size - 0.5 * inner)

    return Smooth(
        value,
        lambda f, y: np.clip(f - y, -delta, delta),
        lambda f, y: (np.abs(f - y) <= delta).astype(np.float64),
        lambda f, y: delta / np.maximum(np.abs(f - y), delta),
    )


def poisson() -> Smooth:
    """e^f - y f."""
    return Smooth(
        lambda f, y: np.exp(f) - y * f, lambda f, y: np.exp(f) - y, lambda f, y: np.exp(f), lambda f, y: np.exp(f)
    )


GUESSES = 20
"""How often signs of coefficients are guessed before L-BFGS looks for them."""


def by_newton(
    loss: Smooth, X: Array, y: Array, weights: Array, penalties: Array, tilt: Array, start: Array,
    *, tol: float, max_iter: int,
) -> tuple[Array, int, bool]:  # fmt: skip
    """The theta of least weights . loss + 1/2 penalties . theta^2 + tilt . theta, steps, and whether they ended.

    Where Newton's step does not lower the cost, as where few errors are on the curved part of a loss, the minimum of
    the parabolas above the loss does, or else the first part of the way there.
    """

    def cost(theta: Array) -> float:
        with np.errstate(over="ignore"):
            total = weights @ loss.value(X @ theta, y)
        return float(total + 0.5 * penalties @ theta**2 + tilt @ theta)

    theta, value = start, cost(start)
    rounding = np.finfo(np.float64).eps ** 2 * abs(cost(np.zeros_like(start)))  # of a cost that comes to 0
    for n in range(1, max_iter + 1):
        f = X @ theta
        gradient = X.T @ (weights * loss.slope(f, y)) + penalties * theta + tilt
        lowered = False
        for curvature in (loss.curvature, loss.above):
            H = X.T @ ((weights * curvature(f, y))[:, None] * X)
            H.flat[:: len(H) + 1] += penalties + 1e-14 * np.max(np.diag(H))
            step = solved(H, gradient)
            slope = float(gradient @ step)
            new = cost(theta - step)
            lowered = new <= value - 1e-4 * slope
            ends = slope <= tol**2 * abs(value) + rounding
            if lowered or ends:
                break
        if ends:
            return (theta - step if new <= value else theta), n, True
        for _ in range(50):
            if new <= value - 1e-4 * slope:
                break
            step, slope = 0.5 * step, 0.5 * slope
            new = cost(theta - step)
        else:
            return theta, n, True  # rounding is all that is left
        theta, value = theta - step, new
    return theta, max_iter, False


def sparse(
    loss: Smooth, X: Array, y: Array, weights: Array, penalties: Array, absolute: Array, start: Array,
    *, tol: float, max_iter: int,
) -> tuple[Array, int, bool]:  # fmt: skip
    """The same with absolute . |theta| added: signs are guessed, or L-BFGS finds them, and Newton's method ends it."""
    if not np.any(absolute):
        return by_newton(loss, X, y, weights, penalties, absolute, start, tol=tol, max_iter=max_iter)

    def value_and_gradient(theta: Array) -> tuple[float, Array]:
        with np.errstate(over="ignore"):
            f = X @ theta
            value = weights @ loss.value(f, y) + 0.5 * penalties @ theta**2
            return float(value), X.T @ (weights * loss.slope(f, y)) + penalties * theta

    def with_signs(theta: Array, held: Array, signs: Array) -> tuple[Array, int]:
        """The least cost where signs are as given and all that is not held is 0."""
        found = np.zeros_like(theta)
        found[held], steps, _ = by_newton(
            loss, X[:, held], y, weights, penalties[held], (signs * absolute)[held], theta[held],
            tol=tol, max_iter=max_iter,
        )  # fmt: skip
        return found, steps

    def wrong_in(theta: Array, held: Array, signs: Array) -> tuple[Array, Array]:
        """Which have another sign than was meant, and which are 0 but should not be."""
        pulls = value_and_gradient(theta)[1]
        return held & (np.sign(theta) * (absolute > 0.0) != signs), ~held & (np.abs(pulls) > absolute)

    steps = 0
    if loss.is_parabola and len(X) > X.shape[1]:  # all at first, then those go whose sign turns, till nothing is wrong
        theta, steps, _ = by_newton(loss, X, y, weights, penalties, 0.0 * absolute, start, tol=tol, max_iter=max_iter)
        held, signs = np.ones(len(theta), dtype=bool), np.sign(theta) * (absolute > 0.0)
        for _ in range(GUESSES):
            theta, more = with_signs(theta, held, signs)
            steps += more
            turned, missed = wrong_in(theta, held, signs)
            if not np.any(turned | missed):
                return theta, steps, True
            if not np.any(turned):
                signs[missed] = -np.sign(value_and_gradient(theta)[1][missed])
            held = (held & ~turned) | (missed & ~np.any(turned))
            signs, theta = np.where(held, signs, 0.0), np.where(held, theta, 0.0)
    theta, more, ended = minimised(value_and_gradient, start, absolute, tol=tol, max_iter=max_iter)
    held, signs = (theta != 0.0) | (absolute == 0.0), np.sign(theta) * (absolute > 0.0)
    exact, last = with_signs(theta, held, signs)
    if not np.any(np.logical_or(*wrong_in(exact, held, signs))):
        return exact, steps + more + last, True
    return theta, steps + more, ended
