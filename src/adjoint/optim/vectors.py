"""Optimisers that work on one vector and look at the function: trees are raveled around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import adjoint as ad

from ..typing import Array, Tree
from .base import Optimizer, optimizer
from .checks import described, refuse
from .gradients import need
from .objective import Objective


def on_vectors(init: Callable[..., Any], update: Callable[..., tuple[Any, Any]], name: str, **facts: bool) -> Optimizer:
    """The optimiser of trees for one of vectors, whose `update` takes value and function by name."""
    looks, values = not facts.get("no_function"), not (facts.get("no_function") or facts.get("residuals"))

    def tree_init(params: Tree) -> Any:
        return init(params if _is_vector(params) else ad.tree.ravel(params)[0])

    def tree_update(
        gradient: Tree,
        state: Tree,
        params: Tree | None = None,
        *,
        value: Array | None = None,
        function: Any = None,
        donate: bool = False,
        **_: Any,
    ) -> tuple[Any, Any]:
        if params is None:
            need(params, name)
        if looks and not callable(function):
            refuse(
                f"{name} looks at the function itself, not only at its gradient.",
                got=f"function = {described(function)}",
                fix="Write  optimizer.update(gradient, state, params, function=f),  or  optim.minimize(f, ...).",
            )
        if _is_vector(params):
            value = function(params) if value is None and values else value
            unravel = getattr(function, "unravel", _same)
            return update(gradient, state, params, value=value, function=function, donate=donate, unravel=unravel)
        vector, unravel = ad.tree.ravel(params)
        flat: Any = function if isinstance(function, Objective) else lambda v: function(unravel(v))
        value = flat(vector) if value is None and values else value
        slope = None if gradient is None else ad.tree.ravel(gradient)[0]
        step, state = update(slope, state, vector, value=value, function=flat, donate=donate, unravel=unravel)
        return unravel(step), state

    return optimizer(tree_init, tree_update, name, takes_gradient=True, makes_step=True, vector=True, **facts)


def _is_vector(params: Tree) -> bool:
    return isinstance(params, np.ndarray) and params.ndim == 1


def _same(x: Tree) -> Any:
    return x
