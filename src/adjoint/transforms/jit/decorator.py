"""`jit`: record a function once, run the recording from then on."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar, overload

import numpy as np

from ...core.arguments import checked
from ...core.errors import InputError, message
from ...core.values import describe
from .jit import Jitted
from .keys import check_static, several
from .native import kind_of_jitted

P = ParamSpec("P")
R = TypeVar("R")
Numbers = int | Iterable[int]
Names = str | Iterable[str]


@overload
def jit(fun: np.ufunc) -> Jitted[..., Any]: ...
@overload
def jit(
    fun: Callable[P, R], *, static_argnums: Numbers = (), static_argnames: Names = (), donate_argnums: Numbers = ()
) -> Jitted[P, R]: ...
@overload
def jit(
    *, static_argnums: Numbers = (), static_argnames: Names = (), donate_argnums: Numbers = ()
) -> Callable[[Callable[P, R]], Jitted[P, R]]: ...
@checked("fun")
def jit(
    fun: Callable[..., Any] | None = None,
    *,
    static_argnums: Numbers = (),
    static_argnames: Names = (),
    donate_argnums: Numbers = (),
) -> Any:
    """The same function, recorded at its first call and run as machine code from then on.

    There is one recording for each structure, dtype, shape and layout of the arguments, and for each way the function
    took through its branches: a decision on a value is guarded, and where it turns out differently another recording is
    looked for or made. What the function uses besides its arguments may change between calls; the next call sees it.
    See `docs/jit.md`.

    Parameters
    ----------
    fun : callable, optional
        The function; plain NumPy code, which may branch on values. It must not change anything but its result. Without
        it, the result is a decorator.
    static_argnums : int or iterable of int, optional
        Arguments that are not numbers to compute with; each value has its own recording.
    static_argnames : str or iterable of str, optional
        Such arguments by name.
    donate_argnums : int or iterable of int, optional
        Arguments that the caller does not use again: machine code may write results over arrays in them. It does so for
        arrays that the argument, a container, alone refers to; what anybody else holds is left as it is.

    Returns
    -------
    Jitted
        A function with the parameters of `fun`, and two methods: `lower(*args)` shows the program for such arguments,
        `stats()` how often it was recorded, which paths exist and what runs without machine code.

    Raises
    ------
    InputError
        If `fun` cannot be called, or does not have an argument that is declared static.
    ImpureError
        When it is called, if the function does what a recording cannot repeat.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> step = ad.jit(ad.grad(lambda x: np.sum(np.sin(x) ** 2)))
    >>> step(np.array([0.0, 1.0]))
    array([0.        , 0.90929743])
    >>> ad.grad(ad.jit(lambda x: x**3 if x > 0 else -x))(2.0)
    12.0
    """
    if fun is None:
        options: dict[str, Any] = {"static_argnums": static_argnums, "static_argnames": static_argnames}
        return functools.partial(jit, donate_argnums=donate_argnums, **options)
    if not callable(fun):
        raise InputError(message("jit needs a function.", got=describe(fun), fix="Write  ad.jit(f)(x)."))
    numbers = several(static_argnums, int, "static_argnums", "integers")
    names = several(static_argnames, str, "static_argnames", "names")
    donated = several(donate_argnums, int, "donate_argnums", "integers")
    check_static(fun, numbers, names)
    check_static(fun, donated, (), "donated")
    return kind_of_jitted(Jitted)(fun, numbers, names, donated)
