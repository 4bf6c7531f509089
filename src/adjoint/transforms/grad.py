"""`grad` and `value_and_grad`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, overload

import numpy as np

from ..core.arguments import checked
from ..core.derived import derived
from ..core.errors import OutputError, message
from ..core.reverse import ReverseTrace
from ..core.traced import Traced, is_array, is_of
from ..core.values import FLOATS, concrete, describe, dtype_of, numpy_number, shape_of
from .calling import Evaluation, entrance, run
from .interface.checking import checked_function, pair
from .interface.inputs import Rebuild, checked_argnums, in_containers, replaced, traced_inputs
from .interface.presenting import finished, of_kind, without_handles
from .sweeps.back import pulled_back

P = ParamSpec("P")
R = TypeVar("R")
Names = str | Sequence[str] | None
"""Arguments by name."""


@overload
def grad(fun: np.ufunc, *args: Any, **options: Any) -> Callable[..., Any]: ...  # its overloads would be one, the first
@overload
def grad(
    fun: Callable[P, Any], argnums: int | Sequence[int] = 0, *, has_aux: bool = False,
    argnames: str | Sequence[str] | None = None, holomorphic: bool = False,
) -> Callable[P, Any]: ...  # fmt: skip
@checked("fun", "argnums", "argnames")
def grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    *,
    has_aux: bool = False,
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
        When the gradient is called with an argument that cannot be differentiated, such as an array of integers. A
        Python integer, 3, is 3.0.
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
    if not callable(fun):
        checked_function(fun, "grad")
    both = _value_and_gradient(fun, argnums, has_aux, argnames, holomorphic)
    gradient = entrance(both, _gradient_and_aux if has_aux else _gradient)
    return derived(  # type: ignore[no-any-return]
        gradient, "grad", fun, argnums=argnums, has_aux=has_aux, argnames=argnames, holomorphic=holomorphic
    )


def _gradient(found: tuple[Any, Any]) -> Any:
    return found[1]


def _gradient_and_aux(found: tuple[tuple[Any, Any], Any]) -> Any:
    return found[1], found[0][1]


@overload
def value_and_grad(fun: np.ufunc, *args: Any, **options: Any) -> Callable[..., tuple[Any, Any]]: ...
@overload
def value_and_grad(
    fun: Callable[P, R], argnums: int | Sequence[int] = 0, *, has_aux: bool = False,
    argnames: str | Sequence[str] | None = None, holomorphic: bool = False,
) -> Callable[P, tuple[R, Any]]: ...  # fmt: skip
@checked("fun", "argnums", "argnames")
def value_and_grad(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] = 0,
    *,
    has_aux: bool = False,
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
        When it is called with an argument that cannot be differentiated, such as an array of integers.
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
    return derived(  # type: ignore[no-any-return]
        both, "value_and_grad", fun, argnums=argnums, has_aux=has_aux, argnames=argnames, holomorphic=holomorphic
    )


def _value_and_gradient(
    fun: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool, argnames: Names, holomorphic: bool
) -> Evaluation:
    """One sweep forward, which records, and one back."""
    if argnames is not None or holomorphic:
        return _by_name_or_holomorphic(fun, argnums, has_aux, argnames, holomorphic)
    places = checked_argnums(argnums)

    def value_and_gradient(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        trace = ReverseTrace()
        try:
            given, inputs, call, rebuild = traced_inputs(trace, args, places)
            out = run(fun, call, kwargs)
            out, aux = pair(out) if has_aux else (out, None)
            value, seeds = _value_and_seeds(out, trace, inputs)
            if trace.replaced:
                seeds = _seeds_again(trace, seeds, value, (fun, args, kwargs), places, rebuild, has_aux)
            found = pulled_back(trace, seeds, inputs)
            aux = without_handles(aux, trace) if has_aux else None
        finally:
            trace.end()
        gradient = in_containers(found, given, rebuild)
        return ((value, aux), gradient) if has_aux else (value, gradient)

    return value_and_gradient


def _value_and_seeds(out: object, trace: ReverseTrace, inputs: list[Any]) -> tuple[Any, list[tuple[int, float]]]:
    """The function's value, one real number; and where the sweep back begins, which is nowhere for a constant."""
    if isinstance(out, Traced) and out.traced_by is trace:
        value, seeds = out.value, [(out.node, 1.0)]
    else:
        value, seeds = finished(_number(out), trace), []
    if type(value) is float:
        if len(inputs) != 1:
            value = numpy_number(value, inputs)
        elif type(inputs[0]) is not float:
            value = np.float64(value)
        return value, seeds
    _check_scalar(value)
    if isinstance(value, Traced) and not is_array(value) and all([type(concrete(x)) in FLOATS for x in inputs]):
        value = of_kind(value, 0.0)
    return value, seeds


def _seeds_again(
    trace: ReverseTrace,
    seeds: list[tuple[int, float]],
    value: Any,
    about: Any,
    argnums: int | tuple[int, ...],
    rebuild: Rebuild,
    has_aux: bool,
) -> list[tuple[int, float]]:
    """Where the sweep begins if the function may have to be run again; for a constant somewhere too, it may be none."""
    from .sweeps.running_again import prepare  # seldom needed, so not when the library is imported

    def call(about: Any, inputs: list[Any]) -> list[Any]:
        fun, args, kwargs = about
        out = run(fun, replaced(args, argnums, inputs[0] if rebuild is None else rebuild(inputs)), kwargs)
        return [out[0] if has_aux else out]

    outputs = [Traced(value, trace, place) for place, _ in seeds] or [value * 1.0]
    return [(out.node, 1.0) for out in prepare(trace, outputs, call, about) if is_of(out, trace)]


def _by_name_or_holomorphic(
    fun: Callable[..., Any], argnums: int | Sequence[int], has_aux: bool, argnames: Names, holomorphic: bool
) -> Evaluation:
    """Arguments chosen by name, and derivatives of holomorphic functions."""
    if argnames is not None:
        from .named import by_name  # seldom needed, so not when the library is imported

        return by_name(
            lambda f, n: value_and_grad(f, n, has_aux=has_aux, holomorphic=holomorphic), fun, argnums, argnames
        )
    from . import holomorphic as complex_numbers

    return complex_numbers.holomorphic(fun, checked_argnums(argnums), has_aux)


def _number(result: object) -> Any:
    """Refuse a result that is no number at all."""
    if isinstance(result, (Traced, np.ndarray, np.generic, float, int)):
        return result
    raise OutputError(
        message(
            "grad needs a function that returns one real number.",
            got=describe(result),
            fix="Return a number; use  has_aux=True  to return anything else as well.",
        )
    )


def _check_scalar(value: object) -> None:
    """Refuse arrays and complex numbers."""
    if shape_of(value) != () or dtype_of(value).kind == "c":
        raise OutputError(
            message(
                "grad needs a function that returns one real number.",
                got=describe(value),
                fix="Sum the result to one number, or use  ad.jacobian;  "
                "for a complex result, take  np.real  or  np.abs.",
            )
        )
