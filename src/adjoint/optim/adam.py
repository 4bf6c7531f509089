"""Running means of the gradient over those of its square, or their signs: Adam, AdamW and Lion."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import Patterns
from ..typing import Tree
from .base import Optimizer, optimizer
from .checks import Rate, at, foreign, like, number, rate_of
from .gradients import check_patterns, decayed, need
from .sgd import zeros


@foreign
def adam(rate: Rate = 1e-3, *, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8) -> Optimizer:
    """Adam: a running mean of the gradient over the root of one of its square, both corrected for their start at 0.

        m_t = beta1 m_(t-1) + (1 - beta1) g_t        v_t = beta2 v_(t-1) + (1 - beta2) g_t^2
        w_(t+1) = w_t - eta (m_t / (1 - beta1^t)) / (sqrt(v_t / (1 - beta2^t)) + eps)

    Parameters
    ----------
    rate : float or callable, optional
        The rate eta: a number, or a schedule. About the length of the first steps in each parameter.
    beta1 : float, optional
        How much of the mean is kept at each step.
    beta2 : float, optional
        How much of the mean square is kept at each step.
    eps : float, optional
        What keeps the division finite.

    Returns
    -------
    Optimizer
        The pair of `init` and `update`.

    References
    ----------
    Kingma and Ba, Adam: A Method for Stochastic Optimization, 2015.

    The path on Rosenbrock's function is drawn in docs/optim.md.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> from adjoint import optim
    >>> optimizer = optim.adam(0.1)
    >>> @ad.jit
    ... def advance(w, state):
    ...     step, state = optimizer.update(ad.grad(lambda w: np.sum(w**2))(w), state, w)
    ...     return optim.apply(w, step), state
    >>> w = np.array([1.0, -2.0])
    >>> state = optimizer.init(w)
    >>> for _ in range(200):
    ...     w, state = advance(w, state)
    >>> w.round(2) + 0.0
    array([0., 0.])
    """
    return _adam(rate, beta1, beta2, eps, 0.0, "*", "adam")


@foreign
def adamw(
    rate: Rate = 1e-3,
    *,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
    weight_decay: float = 0.01,
    only: Patterns = "*",
) -> Optimizer:
    """AdamW: Adam, with weights that decay by themselves instead of through the gradient.

        w_(t+1) = w_t - eta ((m_t / (1 - beta1^t)) / (sqrt(v_t / (1 - beta2^t)) + eps) + decay w_t)

    with m_t and v_t as for `adam`. PyTorch's `AdamW`.

    Parameters
    ----------
    rate : float or callable, optional
        The rate eta: a number, or a schedule.
    beta1 : float, optional
        How much of the mean is kept at each step.
    beta2 : float, optional
        How much of the mean square is kept at each step.
    eps : float, optional
        What keeps the division finite.
    weight_decay : float, optional
        The decay; a weight without gradient shrinks by `rate * weight_decay` of itself at each step.
    only : str or sequence of str, optional
        Patterns with stars for the paths (`ad.tree.paths`) of the parameters that decay, such as `"*weight"`; the word
        `"matrices"` leaves out all with fewer than two axes, as biases and the factors of norms are.

    Returns
    -------
    Optimizer
        The pair of `init` and `update`.

    References
    ----------
    Loshchilov and Hutter, Decoupled Weight Decay Regularization, 2019.

    The path on Rosenbrock's function is drawn in docs/optim.md.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optimizer = optim.adamw(0.1, weight_decay=0.5)
    >>> w = np.array([2.0, 2.0])
    >>> optimizer.update(np.array([0.0, 3.0]), optimizer.init(w), w)[0]
    array([-0.1, -0.2])
    """
    strength = number(weight_decay, "adamw", "weight_decay")
    check_patterns(only, "adamw")
    return _adam(rate, beta1, beta2, eps, strength, only, "adamw")


def _adam(rate: Rate, beta1: float, beta2: float, eps: float, strength: Any, only: Patterns, name: str) -> Optimizer:
    """Both of them."""
    rate = rate_of(rate, name)
    beta1 = number(beta1, name, "beta1", 0.0, 1.0)
    beta2 = number(beta2, name, "beta2", 0.0, 1.0)
    eps = number(eps, name, "eps")
    decays = not (type(strength) is float and strength == 0.0)

    def init(params: Tree) -> Any:
        return {"count": np.int64(0), "mean": zeros(params), "square": zeros(params)}

    def update(gradient: Tree, state: Tree, params: Tree | None = None, **context: Any) -> tuple[Any, Any]:
        count = state["count"] + 1
        mean = ad.tree.map(lambda m, g: beta1 * m + (1.0 - beta1) * g, state["mean"], gradient)
        square = ad.tree.map(lambda v, g: beta2 * v + (1.0 - beta2) * (g * g), state["square"], gradient)
        eta = at(rate, state["count"])
        # one division for each number: the corrections are numbers, and go into the rate and beside the root
        by, root = eta / (1.0 - beta1**count), 1.0 / np.sqrt(1.0 - beta2**count)
        step = ad.tree.map(lambda m, v: -(like(by, m) * m) / (np.sqrt(v) * like(root, v) + eps), mean, square)
        if decays:
            need(params, name)
            step = decayed(step, params, -(eta * strength), only)
        return step, {"count": count, "mean": mean, "square": square}

    return optimizer(init, update, name, takes_gradient=True, makes_step=True)


@foreign
def lion(
    rate: Rate = 1e-4, *, beta1: float = 0.9, beta2: float = 0.99, weight_decay: float = 0.0, only: Patterns = "*"
) -> Optimizer:
    """Lion: the sign of an average of gradient and momentum, so that every parameter moves by the rate.

        w_(t+1) = w_t - eta (sign(beta1 m_(t-1) + (1 - beta1) g_t) + decay w_t)
        m_t = beta2 m_(t-1) + (1 - beta2) g_t

    Parameters
    ----------
    rate : float or callable, optional
        The rate eta: a number, or a schedule; a third to a tenth of Adam's.
    beta1 : float, optional
        The share of the momentum in the step.
    beta2 : float, optional
        How much of the momentum is kept at each step.
    weight_decay : float, optional
        The decay, as for `adamw`.
    only : str, optional
        A pattern with stars for the paths of the parameters that decay.

    Returns
    -------
    Optimizer
        The pair of `init` and `update`.

    References
    ----------
    Chen et al., Symbolic Discovery of Optimization Algorithms, 2023.

    The path on Rosenbrock's function is drawn in docs/optim.md.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optimizer = optim.lion(0.1)
    >>> optimizer.update(np.array([3.0, -0.01]), optimizer.init(np.zeros(2)))[0]
    array([-0.1,  0.1])
    """
    rate = rate_of(rate, "lion")
    check_patterns(only, "lion")
    beta1 = number(beta1, "lion", "beta1", 0.0, 1.0)
    beta2 = number(beta2, "lion", "beta2", 0.0, 1.0)
    strength = number(weight_decay, "lion", "weight_decay")
    decays = not (type(strength) is float and strength == 0.0)

    def init(params: Tree) -> Any:
        return {"count": np.int64(0), "mean": zeros(params)}

    def update(gradient: Tree, state: Tree, params: Tree | None = None, **context: Any) -> tuple[Any, Any]:
        eta = at(rate, state["count"])
        mixed = ad.tree.map(lambda m, g: beta1 * m + (1.0 - beta1) * g, state["mean"], gradient)
        step = ad.tree.map(lambda c: -(like(eta, c) * np.sign(c)), mixed)
        if decays:
            need(params, "lion")
            step = decayed(step, params, -(eta * strength), only)
        mean = ad.tree.map(lambda m, g: beta2 * m + (1.0 - beta2) * g, state["mean"], gradient)
        return step, {"count": state["count"] + 1, "mean": mean}

    return optimizer(init, update, "lion", takes_gradient=True, makes_step=True)
