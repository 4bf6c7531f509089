"""`pullback_metric` and `gauss_newton`: the matrices J'J and J'HJ of a map, or their products with vectors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.arguments import checked
from ...core.derived import derived
from ...core.errors import InputError, OutputError, message
from ...core.tree import flatten
from ...core.values import describe, dtype_of, shape_of
from ..calling import entrance
from ..interface.checking import checked_function
from ..interface.inputs import checked_argnums, chosen, replaced
from ..jacobian import hvp
from ..vmap import vmap
from .linearized import Linearized


@checked("fun", "argnums")
def pullback_metric(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, *, product: bool = False
) -> Callable[..., Any]:  # fmt: skip
    """The metric J'J that a map induces on its arguments: |J v|^2 = v' (J'J) v is how far the result moves along v.

    Parameters
    ----------
    fun : callable
        The map; its argument and result may be any containers of real numbers.
    argnums : int or sequence of int, default 0
        Which positional arguments the metric is for.
    product : bool, default False
        Whether to give the function v -> J'J v instead of the matrix, with v and the product in the containers of the
        argument: one sweep forward and one back for each v, after one recording.

    Returns
    -------
    callable
        A function with the parameters of `fun` that returns the matrix of shape (n, n), where n is how many numbers
        the argument has, in the order of `ad.tree.ravel`; or the product.

    Raises
    ------
    InputError
        If the argument is complex, or no number.

    Examples
    --------
    Polar coordinates, whose metric is diag(1, r^2):

    >>> import numpy as np, adjoint as ad
    >>> def plane(p):
    ...     return np.array([p[0] * np.cos(p[1]), p[0] * np.sin(p[1])])
    >>> ad.curvature.pullback_metric(plane)(np.array([2.0, 0.5])).round(12) + 0.0
    array([[1., 0.],
           [0., 4.]])
    """
    checked_function(fun, "pullback_metric")
    argnums = checked_argnums(argnums, "pullback_metric")

    def of_map(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        wanted = chosen(args, argnums)
        at = Linearized(lambda x: fun(*replaced(args, argnums, x), **kwargs), wanted, "pullback_metric")
        if product:
            return lambda v: at.pulled(at.pushed(v))
        jacobian = at.jacobian()
        return np.matmul(np.transpose(jacobian), jacobian)

    return derived(entrance(of_map), "pullback_metric", fun, argnums=argnums, product=product)  # type: ignore[no-any-return]


@checked("model", "loss")
def gauss_newton(
    model: Callable[..., Any], loss: Callable[..., Any], *, product: bool = False
) -> Callable[..., Any]:  # fmt: skip
    """The Gauss-Newton matrix J' H J: the Hessian of a loss without the part that comes from the model's curvature.

    J is the Jacobian of the model's outputs and H the Hessian of the loss with respect to them. It is positive
    semidefinite for every convex loss, and equal to the Hessian where the model is linear.

    Parameters
    ----------
    model : callable
        `model(params, *inputs)`, the outputs, in any containers.
    loss : callable
        `loss(outputs, targets)`, one number; `loss(outputs)` if the function is called with parameters alone.
    product : bool, default False
        Whether to give the function v -> J' H J v instead of the matrix, with v and the product in the containers of
        the parameters: J is never made.

    Returns
    -------
    callable
        A function of `(params, *inputs, targets)`, as in `(params, X, y)`, or of `(params)` for functions that know
        their data. It returns the matrix of shape (n, n), for the n numbers of the parameters in the order of
        `ad.tree.ravel`; or the product.

    Raises
    ------
    InputError
        If it is called with parameters and one more argument, which could be inputs or targets.
    OutputError
        If the loss is not one real number.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> X, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([0.0, 1.0, 1.0])
    >>> def model(p, X):
    ...     return np.exp(X @ p)
    >>> def loss(z, y):
    ...     return 0.5 * np.sum((z - y) ** 2)
    >>> ad.curvature.gauss_newton(model, loss)(np.zeros(2), X, y)
    array([[3., 3.],
           [3., 5.]])
    >>> ad.curvature.gauss_newton(model, loss, product=True)(np.zeros(2), X, y)(np.array([1.0, 0.0]))
    array([3., 3.])
    """
    checked_function(model, "gauss_newton", "ad.curvature.gauss_newton(model, loss)(params, X, y)")
    checked_function(loss, "gauss_newton", "ad.curvature.gauss_newton(model, loss)(params, X, y)")

    def of_model(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        params, inputs, targets = taken_apart(args, "gauss_newton")
        at = Linearized(lambda p: model(p, *inputs, **kwargs), params, "gauss_newton")
        outputs = at.result()
        _check_loss(loss(outputs, *targets))

        def bent(u: Any) -> Any:
            return hvp(lambda z: loss(z, *targets), (outputs,), (u,))

        if product:
            return lambda v: at.pulled(flatten(bent(at.result(at.pushed(v))))[0])
        jacobian = at.jacobian()
        return _symmetric(np.matmul(_each_column(bent, jacobian, at), jacobian))

    return derived(entrance(of_model), "gauss_newton", model, how="<loss>")  # type: ignore[no-any-return]


def taken_apart(args: tuple[Any, ...], name: str) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Parameters, inputs of the model, and targets as a tuple of one or none."""
    if len(args) in (0, 2):
        raise InputError(
            message(
                f"{name} is called with parameters, inputs and targets, or with parameters alone.",
                got=f"{len(args)} positional argument{'s' if len(args) != 1 else ''}",
                fix="Write  (params, X, y),  or  (params)  with functions that know their data.",
            )
        )
    return args[0], args[1:-1], args[-1:] if len(args) > 1 else ()


def _each_column(bent: Callable[[Any], Any], jacobian: Any, at: Linearized) -> Any:
    """(H J)', by one product with H for each column of J."""

    def product(column: Any) -> Any:
        leaves, start = [], 0
        for y in at.recording.values:
            stop = start + math.prod(shape_of(y))
            leaves.append(np.reshape(column[start:stop], shape_of(y)))
            start = stop
        return np.concatenate([np.reshape(h, -1) for h in flatten(bent(at.result(leaves)))[0]])

    return vmap(product)(np.transpose(jacobian))


def _symmetric(matrix: Any) -> Any:
    return 0.5 * (matrix + np.transpose(matrix))


def _check_loss(value: Any) -> None:
    leaves = flatten(value)[0]
    if len(leaves) != 1 or leaves[0] is not value or shape_of(value) != () or dtype_of(value).kind != "f":
        raise OutputError(
            message(
                "gauss_newton needs a loss that is one real number.",
                got=describe(value),
                fix="Sum the losses of the examples, or take their mean.",
            )
        )
