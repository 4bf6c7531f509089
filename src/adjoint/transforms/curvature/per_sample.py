"""`per_sample_grad`: the gradient of each example of a batch by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.arguments import Axes, Count, checked
from ...core.derived import derived
from ...core.errors import InputError, message
from ..calling import entrance
from ..grad import grad
from ..interface.checking import checked_function
from ..vmap import vmap


@checked("fun", "argnums")
def per_sample_grad(
    fun: Callable[..., Any], in_axes: Axes = None, argnums: int | Sequence[int] = 0, *,
    has_aux: bool = False, chunk_size: Count | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """One gradient for each example of a batch, all at once.

    What `ad.vmap(ad.grad(f), in_axes)` does, with the axes that are usual for a loss: `f(params, x, y)` for one
    example, the parameters the same for all. Under `ad.jit` the gradients of weights are written once, as outer
    products.

    Parameters
    ----------
    fun : callable
        The function of one example; plain NumPy code that returns one real number.
    in_axes : int, None, or containers of them, optional
        The axis of the examples for each argument, as for `vmap`; by default the first argument is the same for all
        and all others have their examples along the first axis.
    argnums : int or sequence of int, default 0
        Which positional arguments to differentiate with respect to.
    has_aux : bool, default False
        Whether `fun` returns a pair (value, anything); then the result is the pair (gradients, aux).
    chunk_size : int, optional
        How many examples to take at once, to bound memory; by default all.

    Returns
    -------
    callable
        A function of a batch that returns gradients in the containers of the argument, each with the axis of the
        examples in front.

    Raises
    ------
    InputError
        If there is no argument that differs from example to example.
    OutputError
        If the function of one example does not return one real number.
    BatchSizeError
        If the arguments do not have equally many examples.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> def loss(w, x, y):  # of one example
    ...     return (np.dot(w, x) - y) ** 2
    >>> X, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([0.0, 1.0, 1.0])
    >>> ad.per_sample_grad(loss)(np.array([1.0, 0.0]), X, y)
    array([[2., 0.],
           [0., 0.],
           [0., 0.]])
    """
    checked_function(fun, "per_sample_grad", "ad.per_sample_grad(loss)(params, X, y)")
    one = grad(fun, argnums, has_aux=has_aux)
    if in_axes is not None:
        return vmap(one, in_axes, chunk_size=chunk_size)

    def each(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if len(args) < 2:
            raise InputError(
                message(
                    "per_sample_grad takes what is the same for all examples first, and then the examples.",
                    got=f"{len(args)} positional argument{'s' if len(args) != 1 else ''}",
                    fix="Write  ad.per_sample_grad(loss)(params, X, y),  or give  in_axes.",
                )
            )
        return vmap(one, (None, *[0] * (len(args) - 1)), chunk_size=chunk_size)(*args, **kwargs)

    options = {"argnums": argnums, "has_aux": has_aux, "chunk_size": chunk_size}
    return derived(entrance(each), "per_sample_grad", fun, **options)  # type: ignore[no-any-return]
