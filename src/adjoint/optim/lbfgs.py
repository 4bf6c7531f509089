"""L-BFGS: Newton's method with a Hessian that is guessed from the last few steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..typing import Array, Tree
from .base import Optimizer
from .checks import foreign, number, whole
from .search import Trial, as_number, line, strong_wolfe
from .vectors import on_vectors


@foreign
def lbfgs(memory: int = 10, *, c1: float = 1e-4, c2: float = 0.9) -> Optimizer:
    """L-BFGS: a quasi-Newton step from the last `memory` pairs of steps and changes of the gradient.

    With s_k = w_(k+1) - w_k and y_k = g_(k+1) - g_k as the rows of S and Y, and gamma = s.y / y.y of the last pair,

        w_(t+1) = w_t - a H g_t
        H = gamma I + [S' gamma Y'] [[R^-T (D + gamma Y Y') R^-1, -R^-T], [-R^-1, 0]] [S; gamma Y]

    where R is the upper triangle of S Y' and D its diagonal, and a satisfies the strong conditions of Wolfe. A pair
    with s.y <= 0 is left out, so that H stays positive definite and the direction descends. If the search fails, the
    memory is emptied; if it fails along the gradient as well, the step is 0.

    Parameters
    ----------
    memory : int, optional
        How many pairs are kept.
    c1 : float, optional
        The share of the expected decrease that is asked of a step.
    c2 : float, optional
        The share of the slope that may be left after it.

    Returns
    -------
    Optimizer
        The pair of `init` and `update`. `update` needs `function=`, the function of the parameters.

    References
    ----------
    Byrd, Nocedal and Schnabel, Representations of Quasi-Newton Matrices and Their Use in Limited Memory Methods, 1994.

    Nocedal and Wright, Numerical Optimization, 2006, chapters 3 and 7.

    The path on Rosenbrock's function is drawn in docs/optim.md.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> def rosenbrock(x):
    ...     return 100.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2
    >>> optim.minimize(rosenbrock, np.array([-1.2, 1.0]), optim.lbfgs()).x.round(6)
    array([1., 1.])
    """
    memory = whole(memory, "lbfgs", "memory")
    c1 = number(c1, "lbfgs", "c1", 0.0, 0.5, open=True)
    c2 = number(c2, "lbfgs", "c2", c1, 1.0, open=True)

    def init(x: Array) -> Any:
        m, dtype = memory, x.dtype
        return {
            "count": 0, "gamma": 1.0, "pairs": np.zeros((2 * m, x.size), dtype),
            "inverse": np.zeros((m, m), dtype), "products": np.zeros((m, m), dtype), "diagonal": np.zeros(m, dtype),
            "known": (np.nan, np.zeros_like(x)),
        }  # fmt: skip

    def update(
        gradient: Tree, state: Tree, x: Array, *, value: Array, function: Any, donate: bool = False, **_: Any
    ) -> tuple[Any, Any]:
        if not donate:
            state = {name: part.copy() if isinstance(part, np.ndarray) else part for name, part in state.items()}
        count = state["count"]
        direction = _direction(gradient, state) if count else -gradient
        slope = as_number(gradient.dot(direction))
        start = Trial(0.0, as_number(value), slope, x, gradient)
        found = None
        if slope < 0:
            first = 1.0 if count else min(1.0, 1.0 / (-slope) ** 0.5)
            found = strong_wolfe(line(function, x, direction), start, first, c1, c2)
        if found is None and count:
            return update(gradient, init(x), x, value=value, function=function)
        if found is None:
            return np.zeros_like(x), {**state, "known": (start.value, gradient)}
        step = found.length * direction
        return step, {**_remembered(state, step, found.gradient - gradient), "known": (found.value, found.gradient)}

    return on_vectors(init, update, "lbfgs")


def _direction(gradient: Tree, state: Tree) -> Any:
    """-H g, by the compact form: everything is in the order of the places in memory, which no product minds."""
    pairs, inverse, gamma = state["pairs"], state["inverse"], state["gamma"]
    m = len(inverse)
    along = pairs.dot(gradient)
    u = inverse.dot(along[:m])
    mixed = state["products"].dot(u)
    mixed -= along[m:]
    mixed *= gamma
    mixed += state["diagonal"] * u
    along[:m] = mixed.dot(inverse)
    along[m:] = u * -gamma
    direction = along.dot(pairs)
    direction += gradient * gamma
    return -direction


def _remembered(state: Tree, step: Tree, change: Tree) -> Any:
    """The state with one pair more, in the place of the oldest; its arrays are written to."""
    inverse, pairs, products = state["inverse"], state["pairs"], state["products"]
    curvature, square = as_number(step.dot(change)), as_number(change.dot(change))
    if not curvature > 1e-10 * square:  # s.y <= 0, or nothing but rounding
        return state
    m = len(inverse)
    at = state["count"] % m
    pairs[at], pairs[m + at] = step, change
    against = pairs.dot(change)
    products[at] = products[:, at] = against[m:]
    inverse[at] = inverse[:, at] = 0.0
    inverse[:, at] = inverse.dot(against[:m]) / -curvature
    inverse[at, at] = 1.0 / curvature
    state["diagonal"][at] = curvature
    return {**state, "count": state["count"] + 1, "gamma": curvature / square}
