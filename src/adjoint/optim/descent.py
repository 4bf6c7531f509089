"""Descent with a line search: along the gradient, or along the steps of another optimiser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import checked
from ..typing import Array, Tree
from .base import Optimizer, check_optimizer
from .checks import check_same, number
from .objective import derivative
from .recipes import remembered
from .search import Trial, as_number, backtracking, line, strong_wolfe
from .vectors import on_vectors

Search = Callable[[Callable[[Any], Trial], Trial, Any], Trial | None]


@checked("gradient", "step")
def is_descent(gradient: Tree, step: Tree) -> bool:
    """Whether a step goes downhill: <gradient, step> < 0.

    Parameters
    ----------
    gradient : any containers of arrays
        The gradient.
    step : any containers of arrays
        The step, or a direction.

    Returns
    -------
    bool
        Whether the function decreases along the step at first.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> g = np.array([1.0, -2.0])
    >>> optim.is_descent(g, -g), optim.is_descent(g, np.array([2.0, 1.0]))
    (True, False)
    """
    check_same(gradient, step, "is_descent", other="the step")
    return bool(sum([np.sum(g * s) for g, s in zip(ad.tree.leaves(gradient), ad.tree.leaves(step), strict=True)]) < 0)


@remembered
@checked()
def armijo(along: Optimizer | None = None, *, start: float = 1.0, shrink: float = 0.5, c1: float = 1e-4) -> Optimizer:
    """Descent with Armijo's rule: the direction d is shortened until the function decreases enough.

        w_(t+1) = w_t + a d_t        f(w_t + a d_t) <= f(w_t) + c1 a <g_t, d_t>

    The first trial is `start`; later ones begin with the last length over `shrink`, so that steps can grow again. A
    direction that does not descend is replaced by -g_t.

    Parameters
    ----------
    along : Optimizer, optional
        Whose steps are the directions; without it, d = -g.
    start : float, optional
        The first length that is tried.
    shrink : float, optional
        What a length is multiplied with that is too long.
    c1 : float, optional
        The share of the expected decrease that is asked for.

    Returns
    -------
    Optimizer
        The pair of `init` and `update`. `update` needs `function=`, the function of the parameters.

    References
    ----------
    Armijo, Minimization of Functions Having Lipschitz Continuous First Partial Derivatives, 1966.

    The path on Rosenbrock's function is drawn in docs/optim.md.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> found = optim.minimize(lambda w: np.sum(np.cosh(w)), np.array([3.0, -1.0]), optim.armijo())
    >>> found.x.round(5) + 0.0
    array([0., 0.])
    """
    start = number(start, "armijo", "start", open=True)
    shrink = number(shrink, "armijo", "shrink", 0.0, 0.99, open=True)
    c1 = number(c1, "armijo", "c1", 0.0, 0.5, open=True)

    def search(trial: Callable[[Any], Trial], here: Trial, length: Array) -> Trial | None:
        return backtracking(trial, here, length, shrink, c1)

    return _searched(along, search, start * shrink, 1.0 / shrink, "armijo")


@remembered
@checked()
def wolfe(along: Optimizer | None = None, *, start: float = 1.0, c1: float = 1e-4, c2: float = 0.9) -> Optimizer:
    """Descent with the strong conditions of Wolfe: enough decrease, and a slope that has become small.

        f(w_t + a d_t) <= f(w_t) + c1 a <g_t, d_t>        |<g(w_t + a d_t), d_t>| <= c2 |<g_t, d_t>|

    Lengths are found by cubic interpolation between two that enclose one. A direction that does not descend is
    replaced by -g_t.

    Parameters
    ----------
    along : Optimizer, optional
        Whose steps are the directions; without it, d = -g.
    start : float, optional
        The first length that is tried; later the last one.
    c1 : float, optional
        The share of the expected decrease that is asked for.
    c2 : float, optional
        The share of the slope that may be left; 0.1 makes the search almost exact.

    Returns
    -------
    Optimizer
        The pair of `init` and `update`. `update` needs `function=`, the function of the parameters.

    References
    ----------
    Wolfe, Convergence Conditions for Ascent Methods, 1969. Nocedal and Wright, Numerical Optimization, 2006, chapter 3.

    The path on Rosenbrock's function is drawn in docs/optim.md.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> found = optim.minimize(lambda w: np.sum(np.cosh(w)), np.array([3.0, -1.0]), optim.wolfe(c2=0.1))
    >>> found.x.round(5) + 0.0
    array([0., 0.])
    """
    start = number(start, "wolfe", "start", open=True)
    c1 = number(c1, "wolfe", "c1", 0.0, 0.5, open=True)
    c2 = number(c2, "wolfe", "c2", c1, 1.0, open=True)

    def search(trial: Callable[[Any], Trial], here: Trial, length: Array) -> Trial | None:
        return strong_wolfe(trial, here, length, c1, c2)

    return _searched(along, search, start, 1.0, "wolfe")


@remembered
@checked()
def exact(along: Optimizer | None = None) -> Optimizer:
    """Descent with the step that is exact for a quadratic function: a = -<g, d> / <d, H d>.

    The product with the Hessian H costs about as much as two gradients. Where the function curves downwards, or this
    step would not decrease it, the conditions of Wolfe decide instead.

    Parameters
    ----------
    along : Optimizer, optional
        Whose steps are the directions; without it, d = -g.

    Returns
    -------
    Optimizer
        The pair of `init` and `update`. `update` needs `function=`, the function of the parameters.

    References
    ----------
    Cauchy, Méthode générale pour la résolution des systèmes d'équations simultanées, 1847.

    The path on Rosenbrock's function is drawn in docs/optim.md.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> found = optim.minimize(lambda w: 2.0 * np.sum((w - 3.0) ** 2), np.zeros(2), optim.exact())
    >>> found.x, found.steps
    (array([3., 3.]), 1)
    """
    return _searched(along, None, 1.0, 1.0, "exact")


def _searched(along: Optimizer | None, search: Search | None, start: float, grow: float, name: str) -> Optimizer:
    """An optimiser that searches along directions; `search=None` is the exact step."""
    if along is not None:
        check_optimizer(along, name)

    def init(x: Array) -> Any:
        inner = () if along is None else along.init(x)
        return {"length": start, "along": inner, "known": (np.nan, np.zeros_like(x))}

    def update(gradient: Tree, state: Tree, x: Array, *, value: Array, function: Any, **_: Any) -> tuple[Any, Any]:
        direction, inner = -gradient, state["along"]
        if along is not None:
            direction, inner = along.update(gradient, inner, x, value=value, function=function)
        slope = as_number(gradient.dot(direction))
        if not slope < 0:
            direction = -gradient
            slope = as_number(gradient.dot(direction))
        here, trial = Trial(0.0, as_number(value), slope, x, gradient), line(function, x, direction)
        length = state["length"] * grow
        found = search(trial, here, length) if search else _exact(trial, here, length, function, direction)
        if found is None:
            return np.zeros_like(x), {"length": start, "along": inner, "known": (here.value, gradient)}
        known = (found.value, found.gradient)
        return found.length * direction, {"length": found.length, "along": inner, "known": known}

    return on_vectors(init, update, name)


def _exact(trial: Callable[[Any], Trial], here: Trial, length: Array, function: Any, direction: Array) -> Trial | None:
    """The minimum of the parabola with the value, slope and curvature of the function here."""
    curvature = as_number(direction.dot(derivative(function, "hvp")(here.x, direction)))
    if curvature > 0:
        found = trial(-here.slope / curvature)
        if found.value <= here.value:
            return found
    return strong_wolfe(trial, here, length, 1e-4, 0.9)
