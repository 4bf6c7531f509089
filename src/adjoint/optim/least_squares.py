"""Least squares: minimise half the sum of squared residuals, by Gauss-Newton and by Levenberg-Marquardt."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arguments import checked
from ..typing import Array, Tree
from .base import Optimizer
from .checks import number, refuse
from .objective import derivative
from .recipes import remembered
from .search import TRIES, as_number
from .vectors import on_vectors


@remembered
@checked()
def gauss_newton(*, shrink: float = 0.5, c1: float = 1e-4) -> Optimizer:
    """Gauss-Newton: the step that solves the least-squares problem of the linearised residuals.

    The function gives residuals r, of any shape; |r|^2 / 2 is minimised. With their Jacobian J,

        w_(t+1) = w_t + a d        d = argmin |J d + r|^2

    by a singular value decomposition, so that d is the shortest solution if J has no full rank. The length a is 1,
    times `shrink` until Armijo's rule holds.

    Parameters
    ----------
    shrink : float, optional
        What a length is multiplied with that is too long.
    c1 : float, optional
        The share of the expected decrease that is asked for.

    Returns
    -------
    Optimizer
        The pair of `init` and `update`. `update` needs `function=`, the residuals as a function of the parameters; the
        gradient may be None.

    References
    ----------
    Nocedal and Wright, Numerical Optimization, 2006, chapter 10.

    The path on Rosenbrock's function is drawn in docs/optim.md.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> t = np.linspace(0.0, 2.0, 9)
    >>> y = 3.0 * np.exp(-1.5 * t)
    >>> found = optim.minimize(lambda p: p[0] * np.exp(-p[1] * t) - y, np.array([1.0, 1.0]), optim.gauss_newton())
    >>> found.x.round(6)
    array([3. , 1.5])
    """
    shrink = number(shrink, "gauss_newton", "shrink", 0.0, 0.99, open=True)
    c1 = number(c1, "gauss_newton", "c1", 0.0, 0.5, open=True)

    def update(gradient: Tree, state: Tree, x: Array, *, function: Any, **context: Any) -> tuple[Any, Any]:
        residuals = derivative(function, "residuals")
        r, jacobian = derivative(function, "residuals_and_jacobian")(x)
        _check_residuals(r, "gauss_newton")
        direction = np.linalg.lstsq(jacobian, -r, rcond=None)[0]
        value, slope, length = 0.5 * as_number(r.dot(r)), as_number(r.dot(jacobian.dot(direction))), 1.0
        for _ in range(TRIES):
            if _half_square(residuals(x + length * direction)) <= value + c1 * length * slope and slope < 0:
                return length * direction, state
            length *= shrink
        return np.zeros_like(x), state

    return on_vectors(lambda x: {}, update, "gauss_newton", residuals=True)


@remembered
@checked()
def levenberg_marquardt(damping: float = 1e-3) -> Optimizer:
    """Levenberg-Marquardt: Gauss-Newton with a damping that grows until the step decreases the function.

    The function gives residuals r, of any shape; |r|^2 / 2 is minimised. With their Jacobian J,

        (J'J + mu D) d = -J'r        w_(t+1) = w_t + d

    where D is diagonal, the largest of the diagonals of J'J so far (Moré), so that the units of the parameters do not
    matter. With rho the decrease over the one expected from the linearised residuals, mu is multiplied by
    max(1/3, 1 - (2 rho - 1)^3) after a step, and by 2, 4, 8, ... while there is none (Nielsen).

    Parameters
    ----------
    damping : float, optional
        The first mu.

    Returns
    -------
    Optimizer
        The pair of `init` and `update`. `update` needs `function=`, the residuals as a function of the parameters; the
        gradient may be None.

    References
    ----------
    Moré, The Levenberg-Marquardt Algorithm: Implementation and Theory, 1978.

    Madsen, Nielsen and Tingleff, Methods for Non-Linear Least Squares Problems, 2004.

    The path on Rosenbrock's function is drawn in docs/optim.md.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> t = np.linspace(0.0, 2.0, 9)
    >>> y = 3.0 * np.exp(-1.5 * t)
    >>> def residuals(p):
    ...     return p["height"] * np.exp(-p["rate"] * t) - y
    >>> found = optim.minimize(residuals, {"height": 1.0, "rate": 1.0}, optim.levenberg_marquardt())
    >>> round(float(found.x["height"]), 6), round(float(found.x["rate"]), 6)
    (3.0, 1.5)
    """
    damping = number(damping, "levenberg_marquardt", "damping", open=True)

    def init(x: Array) -> Any:
        return {"damping": damping, "scale": np.full_like(x, np.finfo(x.dtype).tiny ** 0.5)}

    def update(gradient: Tree, state: Tree, x: Array, *, function: Any, **context: Any) -> tuple[Any, Any]:
        residuals = derivative(function, "residuals")
        r, jacobian = derivative(function, "residuals_and_jacobian")(x)
        _check_residuals(r, "levenberg_marquardt")
        normal, downhill = jacobian.T.dot(jacobian), -r.dot(jacobian)
        value = 0.5 * as_number(r.dot(r))
        diagonal = normal.reshape(-1)[:: x.size + 1]
        own = diagonal.copy()
        scale = np.maximum(state["scale"], own)
        mu, growth = state["damping"], 2.0
        for _ in range(TRIES):
            damp = mu * scale
            diagonal[:] = own + damp
            step = np.linalg.solve(normal, downhill)
            expected = 0.5 * as_number(step.dot(damp * step + downhill))
            decrease = value - _half_square(residuals(x + step))
            if decrease > 0 and expected > 0:
                ratio = decrease / expected
                return step, {
                    "damping": max(mu * max(1.0 / 3.0, 1.0 - (2.0 * ratio - 1.0) ** 3), 1e-15),
                    "scale": scale,
                }
            mu, growth = mu * growth, growth * 2.0
        return np.zeros_like(x), {"damping": mu, "scale": scale}

    return on_vectors(init, update, "levenberg_marquardt", residuals=True)


def _half_square(r: Array) -> Any:
    """What is minimised."""
    return 0.5 * as_number(r.dot(r))


def _check_residuals(r: Array, name: str) -> None:
    """That there are at least as many as make sense: one number is a loss, not residuals."""
    if r.size == 1:
        refuse(
            f"{name} needs residuals, whose squares it adds up itself.",
            got="one number",
            fix="Return  model(p) - y  instead of the loss,  or choose  optim.lbfgs()  for a loss.",
        )
