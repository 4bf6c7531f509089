"""`jacobian`, `jacfwd`, `jacrev`, `hessian`, `hvp`: derivatives of arrays with respect to arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, ParamSpec, overload

import numpy as np

from ..core.arguments import Arguments, Count, checked
from ..core.derived import derived
from ..core.tree import flatten
from ..core.values import dtype_of
from .calling import entrance
from .grad import grad
from .interface.checking import check_tuples, checked_function
from .interface.inputs import checked_argnums, chosen, replaced
from .jvp import jvp
from .sweeps.blocks import check_complex, columns, prefers_columns, rows
from .vjp import TraceAtPoint

P = ParamSpec("P")
Mode = Literal["auto", "forward", "reverse"]
FORWARD: dict[str, bool | None] = {"auto": None, "forward": True, "reverse": False}
"""Whether a mode is by columns; None if that is found from the function."""


@overload
def jacobian(fun: np.ufunc, *args: Any, **options: Any) -> Callable[..., Any]: ...
@overload
def jacobian(
    fun: Callable[P, Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False,
    chunk_size: int | None = None, argnames: str | Sequence[str] | None = None, holomorphic: bool = False,
    mode: Mode = "auto",
) -> Callable[P, Any]: ...  # fmt: skip
@checked("fun", "argnums", "argnames")
def jacobian(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False,
    chunk_size: Count | None = None, argnames: str | Sequence[str] | None = None, holomorphic: bool = False,
    mode: Mode = "auto",
) -> Callable[..., Any]:  # fmt: skip
    """The Jacobian, by rows or by columns, whichever are fewer unless `mode` says it.

    J[i, j] = d out_i / d x_j; for containers, a container of results, each of containers of arguments.

    Parameters
    ----------
    fun : callable
        The function; its arguments and result may be any containers.
    argnums : int or sequence of int, default 0
        Which positional arguments to differentiate with respect to.
    has_aux : bool, default False
        Whether `fun` returns a pair (value, anything); then the result is the pair (Jacobian, aux).
    chunk_size : int, optional
        How many rows or columns to compute at once, to bound memory; by default all.
    argnames : str or sequence of str, optional
        Which arguments, by name instead of number, however they are passed.
    holomorphic : bool, default False
        Whether the function is one from complex to complex numbers; anything else is then refused.
    mode : {"auto", "forward", "reverse"}, default "auto"
        By columns, one sweep forward for each input, as `jacfwd`; by rows, one sweep back for each output, as
        `jacrev`; or whichever are fewer.

    Returns
    -------
    callable
        A function with the parameters of `fun` that returns the Jacobian, of shape (*result, *argument).

    Raises
    ------
    NotDifferentiableError
        When a complex result is not holomorphic in a complex argument.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.jacobian(lambda x: np.array([(x[0] + x[1]) / 2]))(np.array([1.0, 3.0]))
    array([[0.5, 0.5]])
    """
    return _jacobian(fun, argnums, has_aux, chunk_size, FORWARD[mode], argnames, holomorphic)


@overload
def jacfwd(fun: np.ufunc, *args: Any, **options: Any) -> Callable[..., Any]: ...
@overload
def jacfwd(
    fun: Callable[P, Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False,
    chunk_size: int | None = None, argnames: str | Sequence[str] | None = None, holomorphic: bool = False,
) -> Callable[P, Any]: ...  # fmt: skip
@checked("fun", "argnums", "argnames")
def jacfwd(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False,
    chunk_size: Count | None = None, argnames: str | Sequence[str] | None = None, holomorphic: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """The Jacobian by columns: one sweep forward for each input. Best for few inputs.

    Parameters
    ----------
    fun : callable
        The function; its arguments and result may be any containers.
    argnums : int or sequence of int, default 0
        Which positional arguments to differentiate with respect to.
    has_aux : bool, default False
        Whether `fun` returns a pair (value, anything); then the result is the pair (Jacobian, aux).
    chunk_size : int, optional
        How many columns to compute at once, to bound memory; by default all.
    argnames : str or sequence of str, optional
        Which arguments, by name instead of number, however they are passed.
    holomorphic : bool, default False
        Whether the function is one from complex to complex numbers; anything else is then refused.

    Returns
    -------
    callable
        A function with the parameters of `fun` that returns the Jacobian, as for `jacobian`.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.jacfwd(lambda t: np.array([t**2, t**3]))(2.0)
    array([ 4., 12.])
    """
    return _jacobian(fun, argnums, has_aux, chunk_size, True, argnames, holomorphic)


@overload
def jacrev(fun: np.ufunc, *args: Any, **options: Any) -> Callable[..., Any]: ...
@overload
def jacrev(
    fun: Callable[P, Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False,
    chunk_size: int | None = None, argnames: str | Sequence[str] | None = None, holomorphic: bool = False,
) -> Callable[P, Any]: ...  # fmt: skip
@checked("fun", "argnums", "argnames")
def jacrev(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False,
    chunk_size: Count | None = None, argnames: str | Sequence[str] | None = None, holomorphic: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """The Jacobian by rows: one sweep back for each output. Best for few outputs.

    Parameters
    ----------
    fun : callable
        The function; its arguments and result may be any containers.
    argnums : int or sequence of int, default 0
        Which positional arguments to differentiate with respect to.
    has_aux : bool, default False
        Whether `fun` returns a pair (value, anything); then the result is the pair (Jacobian, aux).
    chunk_size : int, optional
        How many rows to compute at once, to bound memory; by default all.
    argnames : str or sequence of str, optional
        Which arguments, by name instead of number, however they are passed.
    holomorphic : bool, default False
        Whether the function is one from complex to complex numbers; anything else is then refused.

    Returns
    -------
    callable
        A function with the parameters of `fun` that returns the Jacobian, as for `jacobian`.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.jacrev(lambda x: np.array([x[0] * x[1]]))(np.array([2.0, 3.0]))
    array([[3., 2.]])
    """
    return _jacobian(fun, argnums, has_aux, chunk_size, False, argnames, holomorphic)


@overload
def hessian(fun: np.ufunc, *args: Any, **options: Any) -> Callable[..., Any]: ...
@overload
def hessian(
    fun: Callable[P, Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False,
    chunk_size: int | None = None, argnames: str | Sequence[str] | None = None, holomorphic: bool = False,
) -> Callable[P, Any]: ...  # fmt: skip
@checked("fun", "argnums", "argnames")
def hessian(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False,
    chunk_size: Count | None = None, argnames: str | Sequence[str] | None = None, holomorphic: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """The matrix of second derivatives, forward over reverse; for a vector field of m results, (m, n, n).

    Parameters
    ----------
    fun : callable
        The function.
    argnums : int or sequence of int, default 0
        Which positional arguments to differentiate with respect to.
    has_aux : bool, default False
        Whether `fun` returns a pair (value, anything), of which only the first is differentiated.
    chunk_size : int, optional
        How many rows or columns to compute at once, to bound memory; by default all.
    argnames : str or sequence of str, optional
        Which arguments, by name instead of number, however they are passed.
    holomorphic : bool, default False
        Whether the function is one from complex to complex numbers; anything else is then refused.

    Returns
    -------
    callable
        A function with the parameters of `fun` that returns the second derivatives, of shape
        (*result, *argument, *argument).

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.hessian(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0]))
    array([[6., 4.],
           [4., 0.]])
    """
    how: dict[str, Any] = {
        "has_aux": has_aux, "chunk_size": chunk_size, "argnames": argnames, "holomorphic": holomorphic,
    }  # fmt: skip
    return jacfwd(jacrev(fun, argnums, **how), argnums, **how)


@checked("fun", "primals", "tangents")
def hvp(fun: Callable[..., Any], primals: Arguments, tangents: Arguments) -> Any:
    """The Hessian of a real-valued function times a vector, without the Hessian.

    Parameters
    ----------
    fun : callable
        The function; plain NumPy code that returns one real number.
    primals : tuple
        The arguments.
    tangents : tuple
        The vector: for each argument one part, with the same structure and shapes.

    Returns
    -------
    array or tuple
        The product, in the containers of the argument; of several arguments, a tuple.

    Raises
    ------
    TangentError
        If the tangents do not have the structure or shapes of the primals.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.hvp(lambda x: x[0] ** 2 * x[1], (np.array([2.0, 3.0]),), (np.array([1.0, 0.0]),))
    array([6., 4.])
    """
    check_tuples(primals, tangents, "hvp")
    argnums = 0 if len(primals) == 1 else tuple(range(len(primals)))
    return jvp(grad(fun, argnums), primals, tangents)[1]


def _jacobian(
    fun: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool, chunk_size: int | None, forward: bool | None,
    argnames: Any, holomorphic: bool,
) -> Callable[..., Any]:  # fmt: skip
    transform = "jacobian" if forward is None else "jacfwd" if forward else "jacrev"
    checked_function(fun, transform)
    if argnames is not None:
        from .named import by_name  # seldom needed, so not when the library is imported

        named = by_name(
            lambda f, n: _jacobian(f, n, has_aux, chunk_size, forward, None, holomorphic), fun, argnums, argnames
        )
        return derived(  # type: ignore[no-any-return]
            entrance(named),
            transform,
            fun,
            has_aux=has_aux,
            chunk_size=chunk_size,
            argnames=argnames,
            holomorphic=holomorphic,
        )
    argnums = checked_argnums(argnums)

    def matrix(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        wanted = chosen(args, argnums)

        def of_wanted(x: Any) -> Any:
            return fun(*replaced(args, argnums, x), **kwargs)

        recording = TraceAtPoint(of_wanted, (wanted,), has_aux, "jacobian")
        if holomorphic:
            check_complex(recording)
        by_columns = prefers_columns(recording) if forward is None else forward
        if any(dtype_of(y).kind == "c" for y in recording.values):
            by_columns = True  # a complex result has two directions, a column has both
        blocks = columns(recording, chunk_size) if by_columns else rows(recording, chunk_size)
        _, rebuild = flatten(wanted)
        found = recording.shape([rebuild(row) for row in blocks])
        return (found, recording.aux) if has_aux else found

    return derived(  # type: ignore[no-any-return]
        entrance(matrix),
        transform,
        fun,
        argnums=argnums,
        has_aux=has_aux,
        chunk_size=chunk_size,
        holomorphic=holomorphic,
    )
