"""Gradient descent: with momentum, with Nesterov's look ahead, and with subgradients where there is no gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ..typing import Array, Tree
from .base import Optimizer, optimizer
from .checks import Rate, at, foreign, like, number, rate_of, refuse
from .gradients import need, norm
from .schedule import diminishing


@foreign
def sgd(rate: Rate, momentum: float = 0.0, nesterov: bool = False) -> Optimizer:
    """Gradient descent, with momentum on request.

    With the rate eta and the momentum lambda, and s_0 = 0,

        s_t = lambda s_(t-1) - eta g_t        w_(t+1) = w_t + s_t

    and with `nesterov`, w_(t+1) = w_t + lambda s_t - eta g_t. For a constant rate these are PyTorch's `SGD`; when the
    rate changes, earlier steps keep the rate that they were taken with.

    Parameters
    ----------
    rate : float or callable
        The rate eta: a number, or a schedule.
    momentum : float, optional
        The share lambda of the last step that is taken again, between 0 and 1.
    nesterov : bool, optional
        Whether the step looks ahead.

    Returns
    -------
    Optimizer
        The pair of `init` and `update`.

    References
    ----------
    Polyak, Some Methods of Speeding Up the Convergence of Iteration Methods, 1964.

    Nesterov, A Method of Solving a Convex Programming Problem with Convergence Rate O(1/k^2), 1983.

    The path on Rosenbrock's function is drawn in docs/optim.md.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optimizer = optim.sgd(0.1, momentum=0.9)
    >>> w = np.array([1.0, 2.0])
    >>> state = optimizer.init(w)
    >>> for _ in range(2):
    ...     step, state = optimizer.update(2 * w, state, w)  # the gradient of |w|^2
    ...     w = optim.apply(w, step)
    >>> w
    array([0.46, 0.92])
    """
    rate = rate_of(rate, "sgd")
    momentum = number(momentum, "sgd", "momentum", 0.0, 1.0)
    if nesterov and type(momentum) is float and momentum == 0.0:
        refuse(
            "sgd looks ahead along its momentum, so nesterov=True needs one.",
            got="momentum = 0.0",
            fix="Write  momentum=0.9.",
        )
    moving = not (type(momentum) is float and momentum == 0.0)

    def init(params: Tree) -> Any:
        return {"count": np.int64(0), **({"velocity": zeros(params)} if moving else {})}

    def update(gradient: Tree, state: Tree, params: Tree | None = None, **context: Any) -> tuple[Any, Any]:
        eta = at(rate, state["count"])
        step = ad.tree.map(lambda g: -(like(eta, g) * g), gradient)
        new = {"count": state["count"] + 1}
        if moving:
            velocity = ad.tree.map(lambda v, s: momentum * v + s, state["velocity"], step)
            step = ad.tree.map(lambda v, s: momentum * v + s, velocity, step) if nesterov else velocity
            new["velocity"] = velocity
        return step, new

    return optimizer(init, update, "sgd", takes_gradient=True, makes_step=True)


@foreign
def subgradient(rate: Rate, *, normalize: bool = False) -> Optimizer:
    """Subgradient descent: diminishing steps, of which the best point is kept.

    At a kink, any subgradient stands for the gradient, and no step size need descend. So the steps get shorter, and the
    point with the smallest value so far is the result:

        w_(t+1) = w_t - eta_t g_t        best_t = the w_s, s <= t, with the smallest value

    A rate that is a number means eta_t = rate / sqrt(t + 1). `update` needs the value, as in
    `update(g, state, w, value=f(w))`; the best point and its value are in the state, and `optim.minimize` returns them.

    Parameters
    ----------
    rate : float or callable
        The first rate, or a schedule of one's own; its sum should be infinite, and it should go to 0.
    normalize : bool, optional
        Whether a step has the length of the rate, whatever the subgradient's.

    Returns
    -------
    Optimizer
        The pair of `init` and `update`.

    References
    ----------
    Shor, Minimization Methods for Non-Differentiable Functions, 1985.

    The path on Rosenbrock's function is drawn in docs/optim.md.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> start = np.array([3.0, -1.0])
    >>> found = optim.minimize(lambda w: np.sum(np.abs(w - 1.0)), start, optim.subgradient(0.5), max_steps=500)
    >>> bool(found.value < 0.05)
    True
    """
    rate = diminishing(rate) if not callable(rate_of(rate, "subgradient")) else rate  # type: ignore[arg-type]

    def init(params: Tree) -> Any:
        return {
            "count": np.int64(0),
            "best": ad.tree.map(lambda p: as_numpy(p), params),
            "best_value": np.float64(np.inf),
        }

    def update(
        gradient: Tree, state: Tree, params: Tree | None = None, *, value: Array | None = None, **context: Any
    ) -> tuple[Any, Any]:
        need(params, "subgradient")
        if value is None:
            refuse(
                "subgradient needs the value of the function, to keep the best point.",
                got="none",
                fix="Write  optimizer.update(gradient, state, params, value=f(params)).",
            )
        better = value < state["best_value"]
        eta = at(rate, state["count"])
        if normalize:
            length = norm(gradient)
            eta = eta / np.where(length > 0.0, length, 1.0)
        new = {
            "count": state["count"] + 1,
            "best": ad.tree.map(lambda p, b: chosen(better, p, b), params, state["best"]),
            "best_value": chosen(better, value, state["best_value"]).astype(np.float64),
        }
        return ad.tree.map(lambda g: -(like(eta, g) * g), gradient), new

    return optimizer(init, update, "subgradient", takes_gradient=True, makes_step=True)


def chosen(pred: Array, x: Array, y: Array) -> Any:
    """One of the two, as a number of NumPy's if it is one."""
    found: Any = np.where(pred, x, y)
    return found[()]


def zeros(params: Tree) -> Any:
    """A tree of zeros; a number becomes one of NumPy's, as what is computed from it will be."""
    return ad.tree.map(_zero, params)


def _zero(p: Array) -> Any:
    """Zeros as the system gives them: they take no memory before something is written."""
    return np.zeros(p.shape, p.dtype) if type(p) is np.ndarray and p.ndim else np.zeros_like(p)[()]


def as_numpy(x: Array) -> Any:
    """A Python number as one of NumPy's, so that a state has one type from the start."""
    return np.float64(x) if type(x) is float else x
