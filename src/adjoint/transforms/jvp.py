"""`jvp`, `linearize`, `derivative`: push tangents through a function."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Literal, ParamSpec, TypeVar, overload

import numpy as np

from ..core.careful import pull_careful
from ..core.derived import derived
from ..core.errors import TangentError, message
from ..core.finite import all_finite
from ..core.float_warnings import quiet
from ..core.folding import fold
from ..core.forward import ForwardTrace, met, pushed
from ..core.reverse import INPUT, OUTPUT
from ..core.traced import LOCAL, Traced, settled, snapshot
from ..core.tree import flatten, same_structure
from ..core.values import Value, cannot_branch, cast, describe, dtype_of, may_hold, plain, shape_of, zeros_for
from ..ir.interpret import own
from .recording import (
    check_numbers,
    checked_function,
    checked_inputs,
    finished,
    looking_for_nans,
    of_kind,
    output_leaves,
    pair,
    run,
)
from .vjp import Recording

P = ParamSpec("P")
R = TypeVar("R")


@overload
def jvp(fun: Callable[..., R], primals: Any, tangents: Any, has_aux: Literal[False] = False) -> tuple[R, R]: ...
@overload
def jvp(fun: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool) -> Any: ...
def jvp(fun: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool = False) -> Any:
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
    try:
        return _jvp(fun, primals, tangents, has_aux)
    except Exception as error:
        fold(error)
        raise


def _jvp(fun: Callable[..., Any], primals: Any, tangents: Any, has_aux: bool) -> Any:
    checked_function(fun, "jvp", "ad.jvp(f, (x,), (dx,))")
    check_tuples(primals, tangents, "jvp")
    if LOCAL.seeks_nans:
        return looking_for_nans(functools.partial(jvp, fun, has_aux=has_aux), (primals, tangents), {})
    walk = ForwardTrace()
    leaves, rebuild = flatten(tuple(primals))
    given = [settled(x) for x in leaves]
    moves = checked_tangents(tuple(primals), tuple(tangents), given, "jvp")
    inputs = [
        np.float64(x) if type(x) is float and type(g) is not float else x  # as given: arithmetic goes by the kind
        for x, g in zip(checked_inputs(given, tuple(primals), "jvp"), given, strict=True)
    ]
    traced = [Traced(x, walk, t) for x, t in zip(inputs, moves, strict=True)]
    before, met.vertex = met.vertex, False
    try:
        result = run(fun, rebuild(traced), {})
        aux = None
        if has_aux:
            result, aux = pair(result)
            leaves, unflatten = flatten(aux)
            aux = unflatten([finished(leaf, walk) for leaf in leaves])
        outputs, shape = output_leaves(result, "jvp")
        values = [finished(o, walk) for o in outputs]
        moved = [
            o.node if isinstance(o, Traced) and o.walk is walk and o.node is not None else zeros_for(v)
            for o, v in zip(outputs, values, strict=True)
        ]
    finally:
        walk.end()
        in_doubt, met.vertex = met.vertex, before
    moved = [_as_value(t, v) for t, v in zip(moved, values, strict=True)]
    if in_doubt or not _is_certain([*moved, *values]):
        from ..ir.effects import silenced  # seldom needed, so not when the library is imported

        with silenced():
            moved = _decided(Recording(fun, tuple(primals), has_aux, "jvp"), moves, moved, in_doubt)
    results = own(values + moved, inputs + moves)
    both = shape(results[: len(values)]), shape(results[len(values) :])
    return (*both, aux) if has_aux else both


def _is_certain(tangents: list[Value]) -> bool:
    """Whether all tangents are finite, or belong to a program that cannot ask."""
    return any([type(t) is Traced and cannot_branch(t) for t in tangents]) or all_finite(tangents)


@quiet
def _decided(recording: Recording, moves: list[Value], given: list[Value], in_doubt: bool) -> list[Value]:
    """The tangents with limits where they are not finite, or everywhere if any of them is in doubt."""
    from ..rules.again import WalkOn  # seldom needed, so not when the library is imported
    from ..rules.limits import decided

    tangents, places = list(given), recording.places
    in_doubt = in_doubt and _is_in_doubt(recording)
    doubts: list[Value | None] = [np.full(shape_of(t), in_doubt)[()] for t in tangents]
    known = [k for k, p in enumerate(places) if p is not None]
    ends = [(places[k], None) for k in known] + [(-1, t) for t in moves]
    asked = [tangents[k] for k in known], [doubts[k] for k in known]
    is_large = not _is_certain(recording.values)
    found = decided(*asked, WalkOn, recording.trace, ends, recording.inputs, run, is_large=is_large)  # type: ignore[arg-type]
    for k, t in zip(known, found, strict=True):
        tangents[k] = t
    return [_as_value(t, v) for t, v in zip(tangents, recording.values, strict=True)]


def _is_in_doubt(recording: Recording) -> bool:
    """Whether the walk back, which knows more of its zeros, finds any that met an infinite slope and may not be 0."""
    seeds = []
    for place, value in zip(recording.places, recording.values, strict=True):
        if place is not None:
            count = math.prod(shape_of(value))
            seeds.append((place, (1.0 + np.arange(count) * 0.6180339887498949 % 1.0).reshape(shape_of(value))[()]))
    _, doubts = pull_careful(recording.trace, seeds, len(recording.inputs))
    return any([d is not None and may_hold(d) for d in doubts])


def _as_value(tangent: Value, value: Value) -> Value:
    """A tangent of the same kind as its value: a number for a number."""
    if isinstance(tangent, Traced):
        return of_kind(tangent, value)
    if type(value) is np.ndarray or isinstance(value, (Traced, np.ndarray)):
        return tangent
    if type(value) is float and type(tangent) is float:
        return tangent
    return float(tangent) if type(value) is float else np.asarray(tangent)[()]


def check_tuples(primals: Any, tangents: Any, walk: str) -> None:
    """Refuse a single array, which would be taken apart as if it were the arguments."""
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TangentError(
            message(
                f"{walk} takes the arguments as one tuple, and their tangents as another.",
                got=f"{describe(primals)} and {describe(tangents)}",
                fix=f"Write  ad.{walk}(f, (x,), (dx,)).",
            )
        )


def checked_tangents(primals: Any, tangents: Any, given: list[Any], walk: str) -> list[Value]:
    """The leaves of the tangents, each with the shape and dtype of its primal."""
    moves, _ = flatten(tangents)
    if not same_structure(primals, tangents):
        raise TangentError(
            message(
                f"The tangents given to {walk} do not have the structure of the primals.",
                got=f"{type(tangents).__name__} of {len(moves)} leaves for {len(given)}",
                fix="Give tuples of the same containers, as in  ad.jvp(f, (x, y), (dx, dy)).",
            )
        )
    return [_checked_tangent(t, x, walk) for t, x in zip(moves, given, strict=True)]


def _checked_tangent(t: Any, x: Value, walk: str) -> Value:
    if type(t) in (float, int) and type(plain(x)) is float:
        return float(t)
    check_numbers(t, x, f"A tangent given to {walk}")
    if shape_of(t) != shape_of(x):
        raise TangentError(
            message(
                f"A tangent given to {walk} does not have the shape of its primal.",
                got=f"{describe(t)} for {describe(x)}",
                fix="Give an array of the same shape.",
            )
        )
    t = snapshot(t) if isinstance(t, Traced) else np.asarray(t)
    if dtype_of(t).kind == "c" and dtype_of(x).kind != "c":
        raise TangentError(
            message(
                "A real argument cannot move in a complex direction.",
                got=f"{describe(t)} for {describe(x)}",
                fix="Give a real tangent, or a complex primal.",
            )
        )
    return cast(t, dtype_of(x))


def linearize(fun: Callable[..., R], *primals: Any) -> tuple[R, Callable[..., R]]:
    """The value of a function and its linear map t -> J t, which does not evaluate the function again.

    Parameters
    ----------
    fun : callable
        The function; its arguments and result may be any containers.
    *primals : any containers
        Where to evaluate.

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
    if LOCAL.seeks_nans:
        return looking_for_nans(functools.partial(linearize, fun), primals, {})
    try:
        checked_function(fun, "linearize", "ad.linearize(f, x)")
        recording = Recording(fun, primals, False, "linearize")
    except Exception as error:
        fold(error)
        raise

    def pushforward(*tangents: Any) -> Any:
        """The tangent of the result, given tangents of the arguments."""
        moves = checked_tangents(recording.rebuild(recording.given), tangents, recording.given, "linearize")
        return recording.shape(push(recording, moves))

    return recording.value(), pushforward


def push(recording: Recording, tangents: list[Value]) -> list[Value]:
    """Walk a trace forward: the tangents of the output leaves, given those of the input leaves."""
    trace = recording.trace
    before, met.vertex = met.vertex, False
    moved: list[Any] = [None] * len(trace)
    moved[: len(tangents)] = tangents
    for place, (primitive, parents, args, out, params) in enumerate(trace):
        if primitive is INPUT:
            continue
        if primitive is OUTPUT:
            found = moved[parents[0]]  # type: ignore[index]
            moved[place] = None if found is None else found[params["k"]]
            continue
        moves = [None if p is None else moved[p] for p in parents]
        if any(m is not None for m in moves):
            moved[place] = pushed(primitive, moves, out, args, params)
    results = [
        zeros_for(v) if place is None or moved[place] is None else _as_value(moved[place], v)
        for place, v in zip(recording.places, recording.values, strict=True)
    ]
    in_doubt, met.vertex = met.vertex, before
    if in_doubt or not _is_certain([*results, *recording.values]):
        results = _decided(recording, tangents, results, in_doubt)
    return own(results, tangents)


@overload
def derivative(fun: np.ufunc, n: int = 1) -> Callable[..., Any]: ...
@overload
def derivative(fun: Callable[P, R], n: int = 1) -> Callable[P, R]: ...
def derivative(fun: Callable[..., Any], n: int = 1) -> Callable[..., Any]:
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
    if not isinstance(n, int) or n < 0:
        raise ValueError(f"the order of a derivative is 0, 1, 2, ...; got {n!r}")
    if n == 0:
        return fun

    def differentiated(x: Any) -> Any:
        one = 1.0 if type(plain(x)) is float else np.ones(shape_of(x), dtype_of(x))
        return jvp(fun, (x,), (one,))[1]

    return derivative(derived(differentiated, "derivative", fun), n - 1)
