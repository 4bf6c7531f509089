"""`checkpoint`: recompute instead of store."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, overload

import numpy as np

from ..core.arguments import checked
from ..core.derived import derived
from ..core.tree import flatten
from ..core.values import Value, is_inexact, zeros_for
from ..rules.opaque import Opaque
from .interface.checking import checked_function
from .jvp import jvp as push_forward
from .step import all_at_once, call_as_step, conjugated
from .vjp import vjp_inside as pull_back

P = ParamSpec("P")
R = TypeVar("R")


@overload
def checkpoint(fun: np.ufunc) -> Callable[..., Any]: ...
@overload
def checkpoint(fun: Callable[P, R]) -> Callable[P, R]: ...
@checked("fun")
def checkpoint(fun: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, which keeps only its arguments for the sweep back and computes its inside again there.

    Memory falls from that of all steps inside to that of the arguments; the function is evaluated once more.
    Checkpointed functions nest.

    Parameters
    ----------
    fun : callable
        The function. Traced values that it uses have to come in as arguments.

    Returns
    -------
    callable
        A function with the parameters and results of `fun`.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> block = ad.checkpoint(lambda x: np.sin(np.exp(x)))
    >>> ad.grad(lambda x: block(block(x)))(0.5) == ad.grad(lambda x: np.sin(np.exp(np.sin(np.exp(x)))))(0.5)
    True
    """
    checked_function(fun, "checkpoint")

    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        return call_as_step(
            "checkpoint",
            functools.partial(fun, **kwargs),
            args,
            lambda rebuild, _: _rules(fun, rebuild, kwargs),
            all_at_once,
        )

    return derived(checkpointed, "checkpoint", fun)  # type: ignore[no-any-return]


def _rules(fun: Callable[..., Any], rebuild: Callable[[list[Value]], Any], kwargs: dict[str, Any]) -> Opaque:
    """Differentiate the function anew, with respect to the leaves that move."""
    from ..ir.effects import silenced  # seldom needed, so not when the library is imported

    def of_moving(args: Sequence[Value], moves: Sequence[bool]) -> tuple[Callable[..., Any], list[Value]]:
        def flat(*moving: Value) -> tuple[Value, ...]:
            rest = iter(moving)
            leaves = [next(rest) if m else a for a, m in zip(args, moves, strict=True)]
            return tuple(flatten(fun(*rebuild(leaves), **kwargs))[0])

        return flat, [a for a, m in zip(args, moves, strict=True) if m]

    def jvp(tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> Any:
        flat, primals = of_moving(args, [t is not None for t in tangents])
        with silenced():
            return push_forward(flat, primals, [t for t in tangents if t is not None])[1]

    def vjp(g: Sequence[Value], out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]) -> list[Value]:
        flat, primals = of_moving(args, needed)
        with silenced():
            values, pullback = pull_back(flat, *primals)
        cotangents = tuple([
            zeros_for(v) if c is None or not is_inexact(v) else conjugated(c) for c, v in zip(g, values, strict=True)
        ])  # fmt: skip
        found = iter(pullback(cotangents))
        return [conjugated(next(found)) if need else None for need in needed]

    return Opaque(jvp, vjp)
