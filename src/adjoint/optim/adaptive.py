"""Step sizes that adapt to the gradients of each parameter: Adagrad and RMSProp."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ..typing import Tree
from .base import Optimizer, optimizer
from .checks import Rate, at, foreign, like, number, rate_of
from .sgd import zeros


@foreign
def adagrad(rate: Rate, *, eps: float = 1e-10) -> Optimizer:
    """Adagrad: the rate of each parameter falls with the sum of its squared gradients.

        v_t = v_(t-1) + g_t^2        w_(t+1) = w_t - eta g_t / (sqrt(v_t) + eps)

    Parameters
    ----------
    rate : float or callable
        The rate eta: a number, or a schedule.
    eps : float, optional
        What keeps the division finite.

    Returns
    -------
    Optimizer
        The pair of `init` and `update`.

    References
    ----------
    Duchi, Hazan and Singer, Adaptive Subgradient Methods for Online Learning and Stochastic Optimization, 2011.

    The path on Rosenbrock's function is drawn in docs/optim.md.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optimizer = optim.adagrad(0.1)
    >>> optimizer.update(np.array([3.0, -0.01]), optimizer.init(np.zeros(2)))[0]
    array([-0.1,  0.1])
    """
    rate = rate_of(rate, "adagrad")
    eps = number(eps, "adagrad", "eps")

    def init(params: Tree) -> Any:
        return {"count": np.int64(0), "square": zeros(params)}

    def update(gradient: Tree, state: Tree, params: Tree | None = None, **context: Any) -> tuple[Any, Any]:
        eta = at(rate, state["count"])
        square = ad.tree.map(lambda v, g: v + g * g, state["square"], gradient)
        step = ad.tree.map(lambda g, v: -(like(eta, g) * g) / (np.sqrt(v) + eps), gradient, square)
        return step, {"count": state["count"] + 1, "square": square}

    return optimizer(init, update, "adagrad", takes_gradient=True, makes_step=True)


@foreign
def rmsprop(
    rate: Rate, *, decay: float = 0.99, eps: float = 1e-8, momentum: float = 0.0, centered: bool = False
) -> Optimizer:
    """RMSProp: steps divided by a running root mean square of the gradient.

        v_t = decay v_(t-1) + (1 - decay) g_t^2        w_(t+1) = w_t - eta g_t / (sqrt(v_t) + eps)

    With `centered`, v_t has the square of the running mean of the gradient taken off: a running variance. With
    momentum, the steps are added up as `sgd` does it. PyTorch's `RMSprop`, at a constant rate.

    Parameters
    ----------
    rate : float or callable
        The rate eta: a number, or a schedule.
    decay : float, optional
        How much of the running mean is kept at each step.
    eps : float, optional
        What keeps the division finite.
    momentum : float, optional
        The share of the last step that is taken again.
    centered : bool, optional
        Whether the variance takes the place of the mean square.

    Returns
    -------
    Optimizer
        The pair of `init` and `update`.

    References
    ----------
    Tieleman and Hinton, Lecture 6.5 of Neural Networks for Machine Learning, 2012.

    The path on Rosenbrock's function is drawn in docs/optim.md.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optimizer = optim.rmsprop(0.01)
    >>> optimizer.update(np.array([3.0, -0.01]), optimizer.init(np.zeros(2)))[0].round(4)
    array([-0.1,  0.1])
    """
    rate = rate_of(rate, "rmsprop")
    decay = number(decay, "rmsprop", "decay", 0.0, 1.0)
    eps = number(eps, "rmsprop", "eps")
    momentum = number(momentum, "rmsprop", "momentum", 0.0, 1.0)
    moving = not (type(momentum) is float and momentum == 0.0)

    def init(params: Tree) -> Any:
        more = {"velocity": zeros(params)} if moving else {}
        return {"count": np.int64(0), "square": zeros(params), **({"mean": zeros(params)} if centered else {}), **more}

    def update(gradient: Tree, state: Tree, params: Tree | None = None, **context: Any) -> tuple[Any, Any]:
        eta = at(rate, state["count"])
        new = {"count": state["count"] + 1}
        new["square"] = ad.tree.map(lambda v, g: decay * v + (1.0 - decay) * (g * g), state["square"], gradient)
        spread = new["square"]
        if centered:
            new["mean"] = ad.tree.map(lambda m, g: decay * m + (1.0 - decay) * g, state["mean"], gradient)
            spread = ad.tree.map(lambda v, m: np.maximum(v - m * m, 0.0), spread, new["mean"])
        step = ad.tree.map(lambda g, v: -(like(eta, g) * g) / (np.sqrt(v) + eps), gradient, spread)
        if moving:
            step = new["velocity"] = ad.tree.map(lambda b, s: momentum * b + s, state["velocity"], step)
        return step, new

    return optimizer(init, update, "rmsprop", takes_gradient=True, makes_step=True)
