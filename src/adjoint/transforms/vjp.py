"""`vjp`, `linear_transpose`: pull cotangents back through a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar, overload

import numpy as np

from ..core.arguments import Tree, checked
from ..core.errors import TangentError, message
from ..core.quick.number_kinds import note_kinds
from ..core.reverse import ReverseTrace
from ..core.traced import is_of
from ..core.tree import flatten, same_structure
from ..core.values import Value, dtype_of, numpy_number, shape_of
from ..host.frames.tracebacks import FOLDING
from .calling import entered, run
from .interface.checking import (
    checked_cotangent,
    checked_function,
    checked_inputs,
    given_leaves,
    note_one_tuple,
    output_leaves,
    pair,
)
from .interface.presenting import copied, presented, released, without_handles
from .sweeps.back import pulled_back

R = TypeVar("R")


class TraceAtPoint:
    """A function's trace at one point: swept back with cotangents, or forward with tangents, as often as wanted."""

    __slots__ = ("aux", "given", "inputs", "places", "rebuild", "shape", "trace", "values")

    def __init__(self, fun: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool, transform: str) -> None:
        trace = ReverseTrace()
        leaves, self.rebuild = flatten(primals)
        self.given = given_leaves(leaves, primals)
        note_kinds(trace, self.given)
        self.inputs = [copied(x) for x in checked_inputs(self.given, primals, transform)]
        try:
            result = run(fun, self.rebuild([trace.input(x) for x in self.inputs]), {})
            result, aux = pair(result) if has_aux else (result, None)
            self.aux = without_handles(aux, trace) if has_aux else None
            outputs, self.shape = output_leaves(result, transform)
            self.values = [numpy_number(released(o, trace), self.inputs) for o in outputs]
            if trace.replaced:
                outputs = self._prepared(trace, outputs, fun, has_aux)
            self.places = [o.node if is_of(o, trace) else None for o in outputs]
            """Where in the trace each leaf of the result is; None for one that does not depend on the inputs."""
        finally:
            self.trace = trace.handed_over()

    def _prepared(self, trace: ReverseTrace, outputs: list[Any], fun: Callable[..., Any], has_aux: bool) -> list[Any]:
        """The leaves of the result, if the function may have to be run again."""
        from .sweeps.running_again import prepare  # seldom needed, so not when the library is imported

        rebuild = self.rebuild

        def call(fun: Any, inputs: list[Any]) -> list[Any]:
            result = run(fun, rebuild(inputs), {})
            return output_leaves(result[0] if has_aux else result, "vjp")[0]

        return prepare(trace, outputs, call, fun)

    def value(self) -> Any:
        """What the function returned; a copy, as the trace keeps the original."""
        return self.shape([copied(v) for v in self.values])

    def pull(self, cotangents: list[Value], *, is_inside: bool = False) -> list[Value]:
        """The cotangents of the input leaves, given those of the output leaves."""
        seeds = [(place, g) for place, g in zip(self.places, cotangents, strict=True) if place is not None]
        return pulled_back(self.trace, seeds, self.inputs, is_inside=is_inside)


@overload
def vjp(
    fun: Callable[..., R], *primals: Any, has_aux: Literal[False] = False
) -> tuple[R, Callable[[Any], tuple[Any, ...]]]: ...
@overload
def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool) -> Any: ...
@checked("fun")
def vjp(fun: Callable[..., Any], *primals: Tree, has_aux: bool = False) -> Any:
    """The value of a function and its pullback, the map from cotangents of the result to cotangents of the arguments.

    The pullback g -> J* g is the adjoint of the Jacobian: <g, J t> = <J* g, t> for every tangent t. It may be called
    any number of times.

    Parameters
    ----------
    fun : callable
        The function; its arguments and result may be any containers.
    *primals : any containers
        Where to evaluate: the arguments of `fun`, one by one.
    has_aux : bool, default False
        Whether `fun` returns a pair (value, anything).

    Returns
    -------
    tuple
        (value, pullback), with `has_aux` (value, pullback, aux). The pullback returns a tuple, one entry per primal.

    Raises
    ------
    InputError
        If a primal cannot be differentiated, such as an integer.
    TangentError
        When the pullback is called with a cotangent that does not have the structure or the shapes of the result, or
        is not made of numbers. Numbers of another dtype are converted to that of the result.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> W, x = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([5.0, 6.0])
    >>> y, pullback = ad.vjp(lambda W, x: W @ x, W, x)
    >>> pullback(np.array([1.0, 0.0]))
    (array([[5., 6.],
           [0., 0.]]), array([1., 2.]))
    """
    checked_function(fun, "vjp", "ad.vjp(f, x)")
    with FOLDING:
        return entered(_vjp, (fun, has_aux), primals)


def _vjp(fun: Callable[..., Any], has_aux: bool, *primals: Any) -> Any:
    try:
        value, pullback, aux = _pullback(fun, primals, has_aux, is_inside=False)
    except TypeError as error:
        note_one_tuple(error, primals, "vjp")
        raise
    return (value, pullback, aux) if has_aux else (value, pullback)


def vjp_inside(fun: Callable[..., Any], *primals: Any) -> Any:
    """`vjp` for the rule of a step: a cotangent that is 0 does not say that nothing is asked for."""
    return _pullback(fun, primals, False, is_inside=True)[:2]


def _pullback(fun: Callable[..., Any], primals: tuple[Any, ...], has_aux: bool, *, is_inside: bool) -> Any:
    recording = TraceAtPoint(fun, primals, has_aux, "vjp")
    value = recording.value()

    def pullback(cotangent: Any) -> Any:
        """Cotangents of the arguments, given one of the result."""
        g, _ = flatten(cotangent)
        if not same_structure(cotangent, value):
            raise TangentError(
                message(
                    "The cotangent does not have the structure of the function's result.",
                    got=type(cotangent).__name__,
                    fix="Give a cotangent in the same containers as the value that vjp returned.",
                )
            )
        checked = [checked_cotangent(c, v, "vjp") for c, v in zip(g, recording.values, strict=True)]
        found = recording.pull(checked, is_inside=is_inside)
        return recording.rebuild([presented(c, x) for c, x in zip(found, recording.given, strict=True)])

    return value, pullback, recording.aux


@checked("fun")
def linear_transpose(fun: Callable[..., Any], *primals: Tree) -> Callable[[Any], tuple[Any, ...]]:
    """The transpose of a linear function: for f(x) = A x the map g -> A* g.

    Parameters
    ----------
    fun : callable
        A function that is linear in all its arguments together.
    *primals : array_like
        Arrays, or anything with a shape and a dtype: only those are looked at.

    Returns
    -------
    callable
        The map from a cotangent of the result to a tuple of cotangents, one for each primal.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> A = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> ad.linear_transpose(lambda x: A @ x, np.zeros(2))(np.array([1.0, 1.0]))
    (array([4., 6.]),)
    """
    leaves, rebuild = flatten(primals)
    zeros = rebuild([0.0 if type(x) is float else np.zeros(shape_of(x), dtype_of(x)) for x in leaves])
    return vjp(fun, *zeros)[1]
