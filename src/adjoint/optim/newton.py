"""Newton's method: with the Hessian for few parameters, with its products for many."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arguments import checked
from ..typing import Array, Tree
from .base import Optimizer
from .checks import number, whole
from .objective import derivative
from .recipes import remembered
from .search import Trial, as_number, line, strong_wolfe
from .vectors import on_vectors


@remembered
@checked()
def newton(*, dense: int = 200, c1: float = 1e-4, c2: float = 0.9, floor: float = 1e-8) -> Optimizer:
    """Newton's method with a line search: w_(t+1) = w_t - a H^-1 g.

    The Hessian H is factored (Cholesky). If it is not positive definite, its eigenvalues are replaced by their
    magnitudes, at least `floor` times the largest one, so that the direction descends and saddle points repel. For
    more than `dense` parameters, H d = -g is solved by conjugate gradients from products with H alone, until |H d +
    g| is below min(1/100, sqrt|g|) |g| or a direction of negative curvature is met. The length a satisfies the strong
    conditions of Wolfe; a = 1 is tried first.

    Parameters
    ----------
    dense : int, optional
        Up to how many parameters the Hessian is computed.
    c1 : float, optional
        The share of the expected decrease that is asked of a step.
    c2 : float, optional
        The share of the slope that may be left after it.
    floor : float, optional
        The smallest magnitude of an eigenvalue, relative to the largest.

    Returns
    -------
    Optimizer
        The pair of `init` and `update`. `update` needs `function=`, the function of the parameters.

    References
    ----------
    Nocedal and Wright, Numerical Optimization, 2006, chapters 3 and 7.

    Dauphin et al., Identifying and Attacking the Saddle Point Problem in High-Dimensional Non-Convex Optimization,
    2014.

    The path on Rosenbrock's function is drawn in docs/optim.md.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> def double_well(w):  # with a saddle point at 0
    ...     return (w[0] ** 2 - 1.0) ** 2 + w[1] ** 2
    >>> found = optim.minimize(double_well, np.array([0.1, 1.0]), optim.newton())
    >>> found.x.round(6) + 0.0
    array([1., 0.])
    """
    dense = whole(dense, "newton", "dense", 0)
    c1 = number(c1, "newton", "c1", 0.0, 0.5, open=True)
    c2 = number(c2, "newton", "c2", c1, 1.0, open=True)
    floor = number(floor, "newton", "floor", 0.0, 1.0, open=True)

    def init(x: Array) -> Any:
        return {"known": (np.nan, np.zeros_like(x))}

    def update(gradient: Tree, state: Tree, x: Array, *, value: Array, function: Any, **_: Any) -> tuple[Any, Any]:
        if x.size <= dense:
            direction = _solved(derivative(function, "hessian")(x), gradient, floor)
        else:
            direction = _by_products(derivative(function, "hvp"), x, gradient)
        slope = as_number(gradient.dot(direction))
        if not slope < 0:
            direction, slope = -gradient, -as_number(gradient.dot(gradient))
        found = None
        if slope < 0:
            start = Trial(0.0, as_number(value), slope, x, gradient)
            found = strong_wolfe(line(function, x, direction), start, 1.0, c1, c2)
        if found is None:
            return np.zeros_like(x), {"known": (as_number(value), gradient)}
        return found.length * direction, {"known": (found.value, found.gradient)}

    return on_vectors(init, update, "newton")


def _solved(hessian: Array, gradient: Tree, floor: float) -> Any:
    """-H^-1 g, for the nearest thing to H that is positive definite."""
    try:
        np.linalg.cholesky(hessian)
        return -np.linalg.solve(hessian, gradient)
    except np.linalg.LinAlgError:
        pass
    if not np.all(np.isfinite(hessian)):
        return -gradient
    sizes, axes = np.linalg.eigh(hessian)
    sizes = np.abs(sizes)
    largest = np.max(sizes)
    if not largest > 0:
        return -gradient
    return -axes.dot(gradient.dot(axes) / np.maximum(sizes, floor * largest))


def _by_products(hvp: Any, x: Array, gradient: Tree) -> Any:
    """-H^-1 g by conjugate gradients, roughly far from the minimum and ever better near it."""
    square = as_number(gradient.dot(gradient))
    enough = min(1e-4, square**0.5) * square
    direction, residual, search = np.zeros_like(x), gradient, -gradient
    for k in range(2 * x.size):
        product = hvp(x, search)
        curvature = as_number(search.dot(product))
        if not curvature > 1e-14 * as_number(search.dot(search)):
            return direction if k else -gradient
        length = square / curvature
        direction = direction + length * search
        residual = residual + length * product
        before, square = square, as_number(residual.dot(residual))
        if square <= enough:
            break
        search = (square / before) * search - residual
    return direction
