"""`eval_shape`: the shapes and dtypes of a function's results, without computing them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.arguments import checked
from ..core.batch import BatchTrace
from ..core.errors import BatchError, InputError, message
from ..core.traced import Traced, settled
from ..core.tree import flatten
from ..core.values import dtype_of, shape_of
from ..transforms.calling import run
from ..transforms.interface.checking import checked_function, output_leaves


class Shape:
    """A shape and a dtype: what `eval_shape` says of an array, and what it takes in the place of one."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: int | tuple[int, ...], dtype: Any = float) -> None:
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.dtype = np.dtype(dtype)

    def __repr__(self) -> str:
        return f"{self.dtype.name}[{','.join([str(n) for n in self.shape])}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shape) and (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype))


@checked("fun")
def eval_shape(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The shapes and dtypes of a function's results; nothing is computed and no memory is taken.

    The function is run on a batch of no examples, as `vmap` would run it: every step knows the shapes, and no step has
    any numbers to work on. So a function whose shapes depend on values is refused.

    Parameters
    ----------
    fun : callable
        The function; plain NumPy code.
    *args : any containers
        Of arrays, or of anything that has a `shape` and a `dtype`, such as what this function returns. Everything else,
        including Python numbers, is passed on as it is.
    **kwargs : any containers
        Likewise, by name.

    Returns
    -------
    any containers of Shape
        The containers of the result; in place of each array an object that has a `shape` and a `dtype`.

    Raises
    ------
    InputError
        If the shapes depend on values.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.eval_shape(lambda A, x: {"y": A @ x, "norm": np.sum(x**2)}, np.zeros((100_000, 50)), np.zeros(50))
    {'y': float64[100000], 'norm': float64[]}
    """
    checked_function(fun, "eval_shape", "ad.eval_shape(f, x)")
    trace = BatchTrace(0)
    leaves, rebuild = flatten((args, kwargs))
    args, kwargs = rebuild([_without_examples(x, trace) for x in leaves])
    try:
        result = run(fun, args, kwargs)
    except BatchError as error:
        raise InputError(
            message(
                "The shapes of the results depend on values, or the function branches on them: it has to be computed.",
                fix="Call the function itself, or pass what it branches on as a plain Python number.",
            )
        ) from error
    else:
        outputs, shape = output_leaves(result, "eval_shape")
        return shape([_shape(x) for x in outputs])
    finally:
        trace.end()


def _without_examples(x: Any, trace: BatchTrace) -> Any:
    """A handle of the same shape and dtype in a batch that holds no example of it."""
    if not hasattr(x, "shape") or not hasattr(x, "dtype"):
        return x
    return Traced(np.zeros((0, *x.shape), x.dtype), trace, None)


def _shape(x: Any) -> Shape:
    x = settled(x)
    return Shape(shape_of(x), dtype_of(x))
