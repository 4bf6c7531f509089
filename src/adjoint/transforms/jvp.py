"""`jvp`, `linearize`, `derivative`: push tangents through a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, overload

import numpy as np

from ..core.arguments import Arguments, Tree, checked, whole
from ..core.derived import derived
from ..core.forward import ForwardTrace, met
from ..core.traced import Traced, is_of
from ..core.tree import flatten
from ..core.values import concrete, dtype_of, shape_of, unshared, zeros_for
from ..host.frames.tracebacks import FOLDING
from .calling import entered, run
from .interface.checking import (
    check_tuples,
    checked_function,
    checked_inputs,
    checked_tangents,
    given_leaves,
    note_one_tuple,
    output_leaves,
    pair,
)
from .interface.presenting import finished, without_handles
from .sweeps.forward import as_value, is_certain, push, tangents_decided
from .vjp import TraceAtPoint

P = ParamSpec("P")
R = TypeVar("R")


@overload
def jvp(fun: Callable[..., R], primals: Any, tangents: Any, *, has_aux: Literal[False] = False) -> tuple[R, R]: ...
@overload
def jvp(fun: Callable[..., Any], primals: Any, tangents: Any, *, has_aux: bool) -> Any: ...
@checked("fun", "primals", "tangents")
def jvp(fun: Callable[..., Any], primals: Arguments, tangents: Arguments, *, has_aux: bool = False) -> Any:
    """The value of a function and its directional derivative, in one sweep forward.

    For f at x along t: (f(x), J(x) t).

    Parameters
    ----------
    fun : callable
        The function; its arguments and result may be any containers.
    primals : tuple
        The arguments.
    tangents : tuple
        The direction for each argument, with the same structure and shapes.
    has_aux : bool, default False
        Whether `fun` returns a pair (value, anything).

    Returns
    -------
    tuple
        (value, tangent), with `has_aux` (value, tangent, aux).

    Raises
    ------
    TangentError
        If the tangents do not have the structure, shapes or kinds of the primals.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.jvp(lambda x: x**2 - 1.5 * x, (0.5,), (1.0,))
    (-0.5, -0.5)
    """
    checked_function(fun, "jvp", "ad.jvp(f, (x,), (dx,))")
    with FOLDING:
        return entered(_jvp, (fun, has_aux), (primals, tangents))


def _jvp(fun: Callable[..., Any], has_aux: bool, primals: Any, tangents: Any) -> Any:
    """One sweep, in which every value goes on together with its tangent."""
    check_tuples(primals, tangents, "jvp")
    trace = ForwardTrace()
    leaves, rebuild = flatten(tuple(primals))
    given = given_leaves(leaves, tuple(primals))
    moves = checked_tangents(tuple(primals), tuple(tangents), given, "jvp")
    inputs = [
        np.float64(x) if type(x) is float and type(g) is not float else x  # as given: arithmetic goes by the kind
        for x, g in zip(checked_inputs(given, tuple(primals), "jvp"), given, strict=True)
    ]
    traced = [Traced(x, trace, t) for x, t in zip(inputs, moves, strict=True)]
    before, met.vertex = met.vertex, False
    try:
        result = run(fun, rebuild(traced), {})
        result, aux = pair(result) if has_aux else (result, None)
        aux = without_handles(aux, trace) if has_aux else None
        outputs, shape = output_leaves(result, "jvp")
        values = [finished(o, trace) for o in outputs]
        moved = [
            o.node if is_of(o, trace) and o.node is not None else zeros_for(v)
            for o, v in zip(outputs, values, strict=True)
        ]
    finally:
        trace.end()
        in_doubt, met.vertex = met.vertex, before
    moved = [as_value(t, v) for t, v in zip(moved, values, strict=True)]
    if in_doubt or not is_certain([*moved, *values]):
        from ..ir.effects import silenced  # seldom needed, so not when the library is imported

        with silenced():
            moved = tangents_decided(TraceAtPoint(fun, tuple(primals), has_aux, "jvp"), moves, moved, in_doubt)
    results = unshared(values + moved, inputs + moves)
    both = shape(results[: len(values)]), shape(results[len(values) :])
    return (*both, aux) if has_aux else both


@checked("fun")
def linearize(fun: Callable[..., R], *primals: Tree) -> tuple[R, Callable[..., R]]:
    """The value of a function and its linear map t -> J t, which does not evaluate the function again.

    Parameters
    ----------
    fun : callable
        The function; its arguments and result may be any containers.
    *primals : any containers
        Where to evaluate: the arguments of `fun`, one by one.

    Returns
    -------
    tuple
        (value, pushforward). The pushforward takes one tangent for each primal and returns the tangent of the result;
        it may be called any number of times.

    Examples
    --------
    >>> import adjoint as ad
    >>> y, push = ad.linearize(lambda x: x**2 - 1.5 * x, 0.5)
    >>> y + push(0.01)
    -0.505
    """
    checked_function(fun, "linearize", "ad.linearize(f, x)")
    with FOLDING:
        return entered(_linearize, (fun,), primals)  # type: ignore[no-any-return]


def _linearize(fun: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    try:
        recording = TraceAtPoint(fun, primals, False, "linearize")
    except TypeError as error:
        note_one_tuple(error, primals, "linearize")
        raise

    def pushforward(*tangents: Any) -> Any:
        """The tangent of the result, given tangents of the arguments."""
        moves = checked_tangents(recording.rebuild(recording.given), tangents, recording.given, "linearize")
        return recording.shape(push(recording, moves))

    return recording.value(), pushforward


@overload
def derivative(fun: np.ufunc, n: int = 1) -> Callable[..., Any]: ...
@overload
def derivative(fun: Callable[P, R], n: int = 1) -> Callable[P, R]: ...
@checked("fun")
def derivative(fun: Callable[..., Any], n: Annotated[int, whole(0, 100)] = 1) -> Callable[..., Any]:
    """The n-th derivative of a function of one number, d^n f / dx^n; arrays are taken element by element.

    Parameters
    ----------
    fun : callable
        A function of one argument.
    n : int, default 1
        The order; 0 gives the function itself.

    Returns
    -------
    callable
        A function of the same argument.

    Raises
    ------
    ValueError
        If `n` is not an integer from 0 on.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.derivative(lambda x: x**5, 3)(1.0)
    60.0
    """
    checked_function(fun, "derivative")
    if n == 0:
        return fun

    def differentiated(x: Any) -> Any:
        one = 1.0 if type(concrete(x)) is float else np.ones(shape_of(x), dtype_of(x))
        return jvp(fun, (x,), (one,))[1]

    return derivative(derived(differentiated, "derivative", fun), n - 1)
