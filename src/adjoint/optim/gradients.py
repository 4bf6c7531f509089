"""Links of a chain that change a gradient or a step: clipping, weight decay, scaling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad

from ..arguments import Finite, Patterns, checked, fitting
from ..typing import Tree
from .base import Optimizer, optimizer
from .checks import at, foreign, is_plain, like, number, refuse
from .recipes import remembered


@foreign
def clip(max: float) -> Optimizer:
    """Each number of the gradient, cut off at `-max` and `max`.

    Parameters
    ----------
    max : float
        The largest magnitude.

    Returns
    -------
    Optimizer
        A link for `optim.chain`.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optimizer = optim.chain(optim.clip(1.0), optim.sgd(0.1))
    >>> optimizer.update(np.array([0.5, -30.0]), optimizer.init(np.zeros(2)))[0]
    array([-0.05,  0.1 ])
    """
    bound = number(max, "clip", "max", open=True)
    return optimizer(
        _nothing, lambda g, state, p, **_: (ad.tree.map(lambda x: np.clip(x, -bound, bound), g), state), "clip"
    )


@foreign
def clip_by_norm(max: float) -> Optimizer:
    """The gradient, shortened to the length `max` if it is longer: g * min(1, max / |g|).

    The norm is that of all numbers of the tree together. A gradient so long that its norm overflows gives no step.

    Parameters
    ----------
    max : float
        The largest Euclidean norm.

    Returns
    -------
    Optimizer
        A link for `optim.chain`.

    References
    ----------
    Pascanu, Mikolov and Bengio, On the Difficulty of Training Recurrent Neural Networks, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optimizer = optim.clip_by_norm(1.0)
    >>> optimizer.update({"a": np.array([3.0]), "b": np.array([4.0])}, ())[0]
    {'a': array([0.6]), 'b': array([0.8])}
    """
    bound = number(max, "clip_by_norm", "max", open=True)

    def update(gradient: Tree, state: Tree, params: Tree | None = None, **context: Any) -> tuple[Any, Any]:
        length = norm(gradient)
        factor = bound / np.maximum(length, bound)
        return ad.tree.map(lambda g: g * like(factor, g), gradient), state

    return optimizer(_nothing, update, "clip_by_norm")


@foreign
def weight_decay(strength: float, *, only: Patterns = "*") -> Optimizer:
    """The gradient plus `strength` times the parameters: that of strength / 2 * |params|^2 is added.

    It comes before the optimiser, as PyTorch's `weight_decay=` of SGD and Adam has it. Decay that is not scaled by an
    adaptive optimiser's step sizes is `adamw`.

    Parameters
    ----------
    strength : float
        How strong it is.
    only : str or sequence of str, optional
        Patterns with stars for the paths (`ad.tree.paths`) of the parameters that decay, such as `"*weight"`; the word
        `"matrices"` leaves out all with fewer than two axes, as biases and the factors of norms are.

    Returns
    -------
    Optimizer
        A link for `optim.chain`.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optimizer = optim.chain(optim.weight_decay(0.1, only="w*"), optim.sgd(1.0))
    >>> params = {"bias": np.array([5.0]), "weight": np.array([5.0])}
    >>> optimizer.update({"bias": np.zeros(1), "weight": np.zeros(1)}, optimizer.init(params), params)[0]
    {'bias': array([-0.]), 'weight': array([-0.5])}
    """
    strength = number(strength, "weight_decay", "strength")
    check_patterns(only, "weight_decay")

    def update(gradient: Tree, state: Tree, params: Tree | None = None, **context: Any) -> tuple[Any, Any]:
        need(params, "weight_decay")
        return decayed(gradient, params, strength, only), state

    return optimizer(_nothing, update, "weight_decay", takes_gradient=True)


@remembered
@checked()
def scale(factor: Finite | Callable[[Any], Any]) -> Optimizer:
    """What passes, times a factor.

    Parameters
    ----------
    factor : float or callable
        The factor, or a schedule for it.

    Returns
    -------
    Optimizer
        A link for `optim.chain`. Alone, with a negative factor, it is gradient descent.

    Examples
    --------
    >>> import numpy as np
    >>> from adjoint import optim
    >>> optimizer = optim.scale(-0.5)
    >>> optimizer.update(np.array([1.0, 2.0]), optimizer.init(np.zeros(2)))[0]
    array([-0.5, -1. ])
    """
    known = float(factor) if is_plain(factor) else factor  # type: ignore[arg-type]

    def update(gradient: Tree, state: Tree, params: Tree | None = None, **context: Any) -> tuple[Any, Any]:
        by = at(known, state["count"])
        return ad.tree.map(lambda g: g * like(by, g), gradient), {"count": state["count"] + 1}

    return optimizer(lambda params: {"count": np.int64(0)}, update, "scale")


def decayed(gradient: Tree, params: Tree, strength: Any, only: Patterns = "*") -> Any:
    """The gradient plus `strength` times those parameters whose path fits."""
    if only == "*":
        return ad.tree.map(lambda g, p: g + like(strength, p) * p, gradient, params)
    paths = ad.tree.paths(params)
    found, missing = fitting(only, paths, ad.tree.leaves(params))
    if missing is not None:
        refuse(
            "No parameter has a path that fits the pattern of what decays.",
            got=f"only = {missing!r}, and the paths {', '.join(paths)}",
            fix='Stars stand for anything:  only="*weight".',
        )
    fits = iter(found)
    return ad.tree.map(lambda g, p: g + like(strength, p) * p if next(fits) else g, gradient, params)


def check_patterns(only: Any, name: str) -> None:
    """That these are patterns, one at least."""
    several = (only,) if isinstance(only, str) else only
    if not isinstance(several, (tuple, list)) or not several or not all([isinstance(p, str) for p in several]):
        refuse(f"{name} takes a pattern of paths.", got=f"only = {only!r}", fix='Write  only="*weight".')


def norm(tree: Tree) -> Any:
    """The Euclidean norm of all numbers of a tree."""
    squares = [np.sum(np.abs(x) ** 2 if np.iscomplexobj(x) else x * x) for x in ad.tree.leaves(tree)]
    return np.sqrt(sum(squares[1:], squares[0])) if squares else np.float64(0.0)


def need(params: Tree, name: str) -> None:
    """That the parameters were given."""
    if params is None:
        refuse(f"{name} needs the parameters.", got="None", fix="Write  optimizer.update(gradient, state, params).")


def _nothing(params: Tree) -> Any:
    return ()
