"""Solvers that are taken where the user gives none: for plain vectors, and small ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import UnsupportedError, message
from ..grad import grad
from ..jacobian import hessian, jacobian

Function = Callable[[Any], Any]
STEPS = 200
TOLERANCE = 1e-12


def newton(f: Function, x: Any) -> Any:
    """A root, by Newton's method with halved steps where a whole one makes it worse."""
    value = f(x)
    for _ in range(STEPS):
        size = np.linalg.norm(value)
        if size == 0.0:
            return x
        try:
            step = np.linalg.solve(jacobian(f)(x), value)
        except np.linalg.LinAlgError:
            step = np.linalg.lstsq(jacobian(f)(x), value, rcond=None)[0]
        length = 1.0
        while length > 1e-10 and not np.linalg.norm(f(x - length * step)) <= (1.0 - 0.1 * length) * size:
            length *= 0.5
        if length <= 1e-10:  # no better point: this is the last one, or there is none
            if np.linalg.norm(step) <= 1e-6 * (1.0 + np.linalg.norm(x)):
                return x
            break
        x = x - length * step
        value = f(x)
        if np.linalg.norm(length * step) <= TOLERANCE * (1.0 + np.linalg.norm(x)):
            return x
    raise _failure("root")


def iterated(f: Function, x: Any) -> Any:
    """A fixed point, by x = f(x) again and again."""
    for _ in range(100 * STEPS):
        new = f(x)
        if not np.all(np.isfinite(new)):
            break
        if np.max(np.abs(new - x), initial=0.0) <= TOLERANCE * (1.0 + np.max(np.abs(new), initial=0.0)):
            return new
        x = new
    raise _failure("fixed_point")


def damped_newton(f: Function, x: Any) -> Any:
    """A minimum, by Newton's method with as much damping as it takes to go down."""
    damping, value = 0.0, f(x)
    for _ in range(STEPS):
        slope, curvature = grad(f)(x), hessian(f)(x)
        lowest = float(np.linalg.eigvalsh(curvature)[0])
        scale = 1e-8 + float(np.max(np.abs(curvature)))
        shift = max(damping, 1e-8 * scale - lowest if lowest <= 0.0 else 0.0)
        for _ in range(60):
            step = np.linalg.solve(curvature + shift * np.eye(len(x)), slope)
            new = f(x - step)
            is_small = np.linalg.norm(step) <= 1e-9 * (1.0 + np.linalg.norm(x))
            if new < value or is_small:
                break
            shift = max(4.0 * shift, 1e-4 * scale)
        else:
            break
        if is_small and lowest > 0.0:
            return x - step if new <= value else x
        x, value, damping = x - step, new, 0.0 if shift < 1e-6 * scale else 0.25 * shift
    raise _failure("argmin")


def gmres(apply: Function, b: Any) -> Any:
    """The solution of a linear equation, by the method of minimal residuals."""
    size = float(np.linalg.norm(b))
    if size == 0.0:
        return np.zeros(len(b))
    basis, rows = [b / size], []
    for k in range(min(len(b), 1000)):
        w = apply(basis[-1])
        row: list[float] = []
        for _ in range(2):  # twice is enough for all digits
            along = [float(v @ w) for v in basis]
            w = w - np.stack(basis, 1) @ np.array(along)
            row = [r + s for r, s in zip(row, along, strict=True)] if row else along
        rest = float(np.linalg.norm(w))
        rows.append([*row, rest])
        upper = np.zeros((k + 2, k + 1))
        for j, column in enumerate(rows):
            upper[: len(column), j] = column
        right = np.zeros(k + 2)
        right[0] = size
        y = np.linalg.lstsq(upper, right, rcond=None)[0]
        if np.linalg.norm(upper @ y - right) <= TOLERANCE * size or rest <= 1e-14 * size:
            break
        basis.append(w / rest)
    return np.stack(basis[: len(y)], 1) @ y


def conjugate_gradients(apply: Function, b: Any) -> Any:
    """The solution of a linear equation whose matrix is symmetric and positive definite."""
    x, rest = np.zeros(len(b)), b
    direction, square = rest, float(rest @ rest)
    goal = (TOLERANCE * float(np.linalg.norm(b))) ** 2
    for _ in range(10 * len(b) + 10):
        if square <= goal:
            break
        image = apply(direction)
        length = square / float(direction @ image)
        x, rest = x + length * direction, rest - length * image
        square, before = float(rest @ rest), square
        direction = rest + (square / before) * direction
    return x


def _failure(name: str) -> UnsupportedError:
    return UnsupportedError(
        message(
            f"ad.implicit.{name} did not converge.",
            fix=f"Begin closer to the solution, or give a solver:  ad.implicit.{name}(f, x0, solver=solve),\n"
            "  where  solve(f, x0)  sees plain values.",
        )
    )
