"""`grad` and `value_and_grad`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, overload

import numpy as np

from ..core.derived import derived, unusual
from ..core.errors import InputError, OutputError, message
from ..core.reverse import ReverseTrace
from ..core.traced import Traced, settled
from ..core.tree import LEAVES, flatten
from ..core.values import describe, dtype_of, numpy_number, plain, shape_of
from .recording import (
    Evaluation,
    checked_function,
    checked_input,
    checked_inputs,
    entrance,
    finished,
    of_kind,
    pair,
    presented,
    pulled_back,
    run,
)

P = ParamSpec("P")
R = TypeVar("R")


@overload
def grad(fun: np.ufunc, *args: Any, **options: Any) -> Callable[..., Any]: ...  # its overloads would be one, the first
@overload
def grad(
    fun: Callable[P, Any], argnums: int | Sequence[int] = 0, has_aux: bool = False,
    *, argnames: str | Sequence[str] | None = None, holomorphic: bool = False,
) -> Callable[P, Any]: ...  # fmt: skip
def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    argnames: str | Sequence[str] | None = None,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """The gradient of a real-valued function, by one sweep forward and one back.

    For f: R^n -> R, `grad(f)(x)` is the vector of partial derivatives at x. A complex argument z = x + iy gets
    df/dx + i df/dy, the direction of steepest ascent.

    Parameters
    ----------
    fun : callable
        The function; plain NumPy code that returns one real number.
    argnums : int or sequence of int, default 0
        Which positional arguments to differentiate with respect to; a tuple gives a tuple of gradients.
    has_aux : bool, default False
        Whether `fun` returns a pair (value, anything), of which only the first is differentiated.
    argnames : str or sequence of str, optional
        Which arguments, by name instead of number, however they are passed; a tuple gives a tuple of gradients.
    holomorphic : bool, default False
        Whether to compute df/dz of a function from complex to complex numbers. A function that is not holomorphic
        at the point is refused.

    Returns
    -------
    callable
        A function with the parameters of `fun` that returns the gradient (with `has_aux`, the pair gradient, aux).
        Containers (dicts, lists, tuples, dataclasses) come back as containers; strings, flags and functions in a
        dataclass are settings and stay as they are.

    Raises
    ------
    InputError
        When the gradient is called with an argument that cannot be differentiated, such as an integer.
    OutputError
        When `fun` returns anything but one real number.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> ad.grad(lambda x: x**2 - 1.5 * x)(0.5)
    -0.5
    >>> ad.grad(lambda p: np.sum(p["w"] ** 2) + p["b"])({"b": 3.0, "w": np.array([1.0, 2.0])})
    {'b': 1.0, 'w': array([2., 4.])}
    >>> ad.grad(lambda x, rate=0.5: rate * x**2, argnames="rate")(3.0)
    9.0
    >>> ad.grad(lambda z: z**2, holomorphic=True)(1.0 + 2.0j)
    (2+4j)
    """
    checked_function(fun, "grad")
    both = _value_and_gradient(fun, argnums, has_aux, argnames, holomorphic)
    gradient = entrance(both, _gradient_and_aux if has_aux else _gradient)
    options = unusual(argnums=argnums, has_aux=has_aux, argnames=argnames, holomorphic=holomorphic)
    return derived(gradient, "grad", fun, **options)  # type: ignore[no-any-return]


def _gradient(found: tuple[Any, Any]) -> Any:
    return found[1]


def _gradient_and_aux(found: tuple[tuple[Any, Any], Any]) -> Any:
    return found[1], found[0][1]


@overload
def value_and_grad(fun: np.ufunc, *args: Any, **options: Any) -> Callable[..., tuple[Any, Any]]: ...
@overload
def value_and_grad(
    fun: Callable[P, R], argnums: int | Sequence[int] = 0, has_aux: bool = False,
    *, argnames: str | Sequence[str] | None = None, holomorphic: bool = False,
) -> Callable[P, tuple[R, Any]]: ...  # fmt: skip
def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    argnames: str | Sequence[str] | None = None,
    holomorphic: bool = False,
) -> Callable[..., Any]:
    """The value and the gradient together, for the price of the gradient.

    Parameters
    ----------
    fun : callable
        The function; plain NumPy code that returns one real number.
    argnums : int or sequence of int, default 0
        Which positional arguments to differentiate with respect to; a tuple gives a tuple of gradients.
    has_aux : bool, default False
        Whether `fun` returns a pair (value, anything), of which only the first is differentiated.
    argnames : str or sequence of str, optional
        Which arguments, by name instead of number, however they are passed.
    holomorphic : bool, default False
        Whether to compute df/dz of a function from complex to complex numbers.

    Returns
    -------
    callable
        A function with the parameters of `fun` that returns the pair (value, gradient), with `has_aux` the pair
        ((value, aux), gradient). Conventions are those of `grad`.

    Raises
    ------
    InputError
        When it is called with an argument that cannot be differentiated, such as an integer.
    OutputError
        When `fun` returns anything but one real number.

    Examples
    --------
    >>> import adjoint as ad
    >>> ad.value_and_grad(lambda x: x**2)(3.0)
    (9.0, 6.0)
    """
    checked_function(fun, "value_and_grad")
    both = entrance(_value_and_gradient(fun, argnums, has_aux, argnames, holomorphic))
    options = unusual(argnums=argnums, has_aux=has_aux, argnames=argnames, holomorphic=holomorphic)
    return derived(both, "value_and_grad", fun, **options)  # type: ignore[no-any-return]


def _value_and_gradient(
    fun: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool, argnames: Any, holomorphic: bool
) -> Evaluation:
    if argnames is not None:
        from .named import by_name  # seldom needed, so not when the library is imported

        return by_name(lambda f, n: value_and_grad(f, n, has_aux, holomorphic=holomorphic), fun, argnums, argnames)
    argnums = checked_argnums(argnums)
    if holomorphic:
        from .holomorphic import (
            holomorphic as holomorphic_derivative,  # seldom needed, so not when the library is imported
        )

        return holomorphic_derivative(fun, argnums, has_aux, _chosen, _replaced)
    place = argnums if isinstance(argnums, int) and argnums >= 0 else sys.maxsize

    def value_and_gradient(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        trace = ReverseTrace()
        try:
            if place < len(args) and type(args[place]) in LEAVES:
                x = args[place]
                given, rebuild = [settled(x) if type(x) is Traced else x], None
                inputs = [checked_input(given[0], "grad")]
                call = list(args)
                call[place] = trace.input(inputs[0])
            else:
                chosen = _chosen(args, argnums)
                leaves, rebuild = flatten(chosen)
                given = [settled(x) for x in leaves]
                inputs = checked_inputs(given, (chosen,) if isinstance(argnums, int) else chosen, "grad")
                call = _replaced(args, argnums, rebuild([trace.input(x) for x in inputs]))
            if rebuild is not None or type(given[0]) is not float:
                trace.note_kinds(given)
            out = run(fun, call, kwargs)
            if has_aux:
                out, aux = pair(out)
            if isinstance(out, Traced) and out.walk is trace:
                seeds, value = [(out.node, 1.0)], out.value
            else:
                seeds, value = [], finished(_number(out), trace)
            if type(value) is not float:
                _check_scalar(value)
            elif rebuild is not None or type(inputs[0]) is not float:
                value = numpy_number(value, inputs)
            if isinstance(value, Traced) and all([type(plain(x)) in (float, np.float64) for x in inputs]):
                value = of_kind(value, 0.0)
            found = pulled_back(trace, seeds, inputs)
            if has_aux:
                leaves, unflatten = flatten(aux)
                aux = unflatten([finished(leaf, trace) for leaf in leaves])
        finally:
            trace.end()
        if rebuild is None:
            g = presented(found[0], given[0])
        else:
            g = rebuild([presented(c, x) for c, x in zip(found, given, strict=True)])
        return ((value, aux), g) if has_aux else (value, g)

    return value_and_gradient


def checked_argnums(argnums: Any, walk: str = "grad") -> int | tuple[int, ...]:
    """Which arguments to differentiate with respect to: one number, or a tuple of different ones."""
    if _is_place(argnums):
        return int(argnums)
    if isinstance(argnums, Sequence) and all(map(_is_place, argnums)) and len(set(argnums)) == len(argnums):
        return tuple([int(n) for n in argnums])
    raise InputError(
        message(
            "argnums has to be an integer or a tuple of different integers.",
            got=describe(argnums),
            fix=f"Pass the point to {'the gradient itself' if walk == 'grad' else 'what it returns'}:  "
            f"ad.{walk}(f)(x),  or  ad.{walk}(f, argnums=(0, 1))(x, y).",
        )
    )


def _is_place(n: Any) -> bool:
    return isinstance(n, (int, np.integer)) and not isinstance(n, bool)


def check_places(args: tuple[Any, ...], argnums: int | Sequence[int]) -> None:
    """Raise if an argument is chosen that was not given."""
    for n in (argnums,) if isinstance(argnums, int) else argnums:
        if not -len(args) <= n < len(args):
            raise InputError(
                message(
                    f"There is no positional argument number {n} to differentiate with respect to.",
                    got=f"{len(args)} positional arguments",
                    fix="Pass the argument by position, and choose it with  argnums.",
                )
            )


def _chosen(args: tuple[Any, ...], argnums: int | Sequence[int]) -> Any:
    check_places(args, argnums)
    return args[argnums] if isinstance(argnums, int) else tuple([args[n] for n in argnums])


def _replaced(args: tuple[Any, ...], argnums: int | Sequence[int], new: Any) -> list[Any]:
    call = list(args)
    if isinstance(argnums, int):
        call[argnums] = new
    else:
        for n, x in zip(argnums, new, strict=True):
            call[n] = x
    return call


def _number(result: Any) -> Any:
    if isinstance(result, (Traced, np.ndarray, np.generic, float, int)):
        return result
    raise OutputError(
        message(
            "grad needs a function that returns one real number.",
            got=describe(result),
            fix="Return a number; use  has_aux=True  to return anything else as well.",
        )
    )


def _check_scalar(value: Any) -> None:
    if type(value) is float:
        return
    if shape_of(value) != () or dtype_of(value).kind == "c":
        raise OutputError(
            message(
                "grad needs a function that returns one real number.",
                got=describe(value),
                fix="Sum the result to one number, or use  ad.jacobian;  "
                "for a complex result, take  np.real  or  np.abs.",
            )
        )
