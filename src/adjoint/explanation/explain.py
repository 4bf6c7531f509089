"""`explain`: every step of a derivative, made visible."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, ParamSpec, overload

import numpy as np

from ..core.arguments import Count, Tree, checked, whole
from ..core.errors import InputError, message
from ..core.tree import flatten
from ..host.frames.tracebacks import fold
from ..transforms.interface.checking import checked_function
from ..transforms.interface.inputs import checked_argnums
from ..transforms.interface.presenting import copied
from .explanation import Explanation
from .record.record import record

P = ParamSpec("P")
MODES = ("reverse", "forward", "both")
LEVELS = ("vector", "scalar")
MOST = {"digits": 17, "max_rows": 1_000_000}


@overload
def explain(
    fun: np.ufunc, argnums: int | Sequence[int] | None = None, *, mode: str = "reverse", level: str = "vector",
    digits: int = 4, names: bool = True, lines: bool = False, collapse: bool = True, max_rows: int = 60,
    tangent: Any = None, cotangent: Any = None,
) -> Callable[..., Explanation]: ...  # fmt: skip
@overload
def explain(
    fun: Callable[P, Any], argnums: int | Sequence[int] | None = None, *, mode: str = "reverse", level: str = "vector",
    digits: int = 4, names: bool = True, lines: bool = False, collapse: bool = True, max_rows: int = 60,
    tangent: Any = None, cotangent: Any = None,
) -> Callable[P, Explanation]: ...  # fmt: skip
@checked("fun", "argnums", "mode", "level")
def explain(
    fun: Callable[..., Any],
    argnums: int | Sequence[int] | None = None,
    *,
    mode: str = "reverse",
    level: str = "vector",
    digits: Annotated[int, whole(0, 17)] = 4,
    names: bool = True,
    lines: bool = False,
    collapse: bool = True,
    max_rows: Count = 60,
    tangent: Tree = None,
    cotangent: Tree = None,
) -> Callable[..., Explanation]:
    """Show how the derivative of a function comes about, at one point.

    `explain(f)(*args)` runs `f` once, records the trace that `ad.grad` executes, and goes over it: forward with the
    values (and tangents), back with the adjoints.

    Parameters
    ----------
    fun : callable
        The function; plain NumPy code, also jitted or checkpointed.
    argnums : int or sequence of int, optional
        Which positional arguments to differentiate with respect to; by default all that are real or complex.
    mode : {"reverse", "forward", "both"}, default "reverse"
        "reverse" shows adjoints, "forward" tangents, "both" both.
    level : {"vector", "scalar"}, default "vector"
        "vector" has one step for each operation on arrays, "scalar" one for each number.
    digits : int, default 4
        Decimals of the numbers that are shown.
    names : bool, default True
        Whether formulas use the names of your variables, where they can be known, or v0, v1, ... throughout.
    lines : bool, default False
        Whether to show the source line of each step.
    collapse : bool, default True
        Whether long loops and the blocks named with `ad.block` are one row each.
    max_rows : int, default 60
        If there are more rows than this, those in the middle are left out.
    tangent : any containers, optional
        The direction of forward mode, in the containers of the arguments; by default 1 for the first number.
    cotangent : any containers, optional
        The seed of reverse mode, in the containers of the result; by default 1.

    Returns
    -------
    callable
        A function with the parameters of `fun` that returns an `Explanation`, which prints as a table.

    Raises
    ------
    InputError
        If an option is unknown or out of range.
    TangentError
        When the tangent or the cotangent does not fit the arguments or the result.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> def f(x):
    ...     a = x**2
    ...     b = np.exp(a)
    ...     c = a + b
    ...     return np.sqrt(c) + np.cos(c)
    >>> print(ad.explain(f)(1.3))
    forward primal trace       reverse adjoint trace
    v0 = x               1.3   ∇x = ∂f/∂x = ∇v0                  -9.1449
    v1 = a = x²         1.69   ∇x = ∇a · 2·x                     -9.1449
    v2 = b = exp(a)   5.4195   ∇a = ∇a + ∇b · exp(a)             -3.5173
    v3 = c = a + b    7.1095   ∇b = ∇c · 1                       -0.5479
                               ∇a = ∇c · 1                       -0.5479
    v4 = sqrt(c)      2.6664   ∇c = ∇c + ∇v4 · (0.5 / sqrt(c))   -0.5479
    v5 = cos(c)       0.6776   ∇c = ∇v5 · (-sin(c))              -0.7354
    v6 = v4 + v5       3.344   ∇v5 = ∇v6 · 1                           1
                               ∇v4 = ∇v6 · 1                           1
    f = v6             3.344   ∇v6 = ∂f/∂v6                            1
    """
    chosen = None if argnums is None else checked_argnums(argnums, "explain")
    if mode not in MODES:
        raise _unknown("mode", mode, MODES)
    if level not in LEVELS:
        raise _unknown("level", level, LEVELS)
    for name, number, least in (("digits", digits, 0), ("max_rows", max_rows, 4)):
        if not isinstance(number, int) or not least <= number <= MOST[name]:
            raise InputError(
                message(f"{name} has to be a whole number from {least} to {MOST[name]:,}.", got=repr(number))
            )
    checked_function(fun, "explain")
    options = {"digits": digits, "names": names, "lines": lines, "most": max_rows}

    def explained(*args: Any, **kwargs: Any) -> Explanation:
        own_args, own_kwargs = _copied((args, kwargs))  # as they were: the function or the user may write to them
        try:
            whole = record(fun, args, kwargs, chosen)
        except Exception as error:
            fold(error)
            raise
        return Explanation(
            fun, own_args, own_kwargs, whole, mode=mode, level=level, collapse=collapse, options=options,
            tangent=tangent, cotangent=cotangent,
        )  # fmt: skip

    return explained


def _copied(tree: Any) -> Any:
    leaves, rebuild = flatten(tree)
    return rebuild([copied(x) for x in leaves])


def _unknown(what: str, got: Any, known: tuple[str, ...]) -> InputError:
    return InputError(message(f"explain does not know this {what}.", got=repr(got), fix=f"Choose one of {known}."))
