"""`jacobian`, `jacfwd`, `jacrev`, `hessian`, `hvp`: derivatives of arrays with respect to arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.tree import flatten
from ..core.values import Value, dtype_of, shape_of
from .grad import _chosen, _replaced, grad
from .jvp import jvp, push
from .recording import checked_cotangent
from .vjp import Recording
from .vmap import vmap


def jacobian(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, chunk_size: int | None = None
) -> Callable[..., Any]:
    """The Jacobian, by rows or by columns, whichever is fewer.

    J[i, j] = d out_i / d x_j; for containers, a container of results, each of containers of arguments.

    Parameters
    ----------
    fun : the function.
    argnums : which arguments to differentiate with respect to.
    has_aux : whether `fun` returns a pair (value, anything); then the result is the pair (Jacobian, aux).
    chunk_size : how many rows or columns to compute at once, to bound memory; None for all.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.jacobian(lambda x: np.array([(x[0] + x[1]) / 2]))(np.array([1.0, 3.0]))
    array([[0.5, 0.5]])
    """
    return _jacobian(fun, argnums, has_aux, chunk_size, None)


def jacfwd(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, chunk_size: int | None = None
) -> Callable[..., Any]:
    """The Jacobian by columns: one sweep forward for each input. Best for few inputs; see `jacobian`."""
    return _jacobian(fun, argnums, has_aux, chunk_size, True)


def jacrev(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, chunk_size: int | None = None
) -> Callable[..., Any]:
    """The Jacobian by rows: one sweep back for each output. Best for few outputs; see `jacobian`."""
    return _jacobian(fun, argnums, has_aux, chunk_size, False)


def hessian(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False, chunk_size: int | None = None
) -> Callable[..., Any]:
    """The matrix of second derivatives, forward over reverse; for a vector field of m results, (m, n, n).

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.hessian(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0]))
    array([[6., 4.],
           [4., 0.]])
    """
    return jacfwd(jacrev(fun, argnums, has_aux, chunk_size), argnums, has_aux, chunk_size)


def hvp(fun: Callable[..., Any], primals: Any, tangents: Any) -> Any:
    """The Hessian of a real-valued function times a vector, without the Hessian.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.hvp(lambda x: x[0] ** 2 * x[1], (np.array([2.0, 3.0]),), (np.array([1.0, 0.0]),))
    array([6., 4.])
    """
    argnums = 0 if len(primals) == 1 else tuple(range(len(primals)))
    return jvp(grad(fun, argnums), primals, tangents)[1]


def _jacobian(
    fun: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool, chunk_size: int | None, forward: bool | None
) -> Callable[..., Any]:
    @functools.wraps(fun, assigned=("__name__", "__doc__"), updated=())
    def matrix(*args: Any, **kwargs: Any) -> Any:
        chosen = _chosen(args, argnums)

        def of_chosen(x: Any) -> Any:
            return fun(*_replaced(args, argnums, x), **kwargs)

        recording = Recording(of_chosen, (chosen,), has_aux, "jacobian")
        inputs, outputs = recording.inputs, recording.values
        columns = sum(_real_size(x) for x in inputs)
        rows = sum(_real_size(y) for y in outputs)
        by_columns = columns < rows if forward is None else forward
        if any(dtype_of(v).kind == "c" for v in [*inputs, *outputs]):
            by_columns = True
        blocks = _columns(recording, chunk_size) if by_columns else _rows(recording, chunk_size)
        _, rebuild = flatten(chosen)
        found = recording.shape([rebuild(row) for row in blocks])
        return (found, recording.aux) if has_aux else found

    return matrix


def _columns(recording: Recording, chunk_size: int | None) -> list[list[Value]]:
    """blocks[i][j] = d out_i / d in_j, from tangents."""
    by_input = []
    for j, x in enumerate(recording.inputs):
        def column(t: Value, j: int = j) -> tuple[Value, ...]:
            return tuple(push(recording, [t if k == j else _zero(y) for k, y in enumerate(recording.inputs)]))

        found = vmap(column, out_axes=-1, chunk_size=chunk_size)(_basis(x))
        by_input.append([np.reshape(f, shape_of(y) + shape_of(x)) for f, y in zip(found, recording.values, strict=True)])
    return [[by_input[j][i] for j in range(len(recording.inputs))] for i in range(len(recording.values))]


def _rows(recording: Recording, chunk_size: int | None) -> list[list[Value]]:
    """blocks[i][j] = d out_i / d in_j, from cotangents."""
    blocks = []
    for i, y in enumerate(recording.values):
        def row(g: Value, i: int = i) -> tuple[Value, ...]:
            seeds = [checked_cotangent(g if k == i else _zero(v), v, "jacobian") for k, v in enumerate(recording.values)]
            return tuple(recording.pull(seeds))

        found = vmap(row, chunk_size=chunk_size)(_basis(y))
        blocks.append(
            [np.reshape(f, shape_of(y) + shape_of(x)) for f, x in zip(found, recording.inputs, strict=True)]
        )
    return blocks


def _real_size(x: Value) -> int:
    return int(np.prod(shape_of(x)))


def _basis(x: Value) -> Value:
    size = _real_size(x)
    return np.reshape(np.eye(size, dtype=dtype_of(x)), (size, *shape_of(x)))


def _zero(x: Value) -> Value:
    return np.zeros(shape_of(x), dtype_of(x))


