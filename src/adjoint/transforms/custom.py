"""`custom_rule`: a function with a derivative of the user's own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar, overload

import numpy as np

from ..core.arguments import checked
from ..core.errors import TangentError, UnsupportedError, message
from ..core.tree import flatten
from ..core.values import Value, describe, is_inexact, shape_of, zeros_for
from ..rules.opaque import Opaque
from .calling import run
from .interface.checking import checked_function
from .step import Rebuild, call_as_step, conjugated, one_by_one

P = ParamSpec("P")
R = TypeVar("R")
Rule = TypeVar("Rule", bound=Callable[..., Any])


class CustomRule(Generic[P, R]):
    """A function with rules: made by `custom_rule`, called like the function."""

    def __init__(
        self, fun: Callable[P, R], jvp: Callable[..., Any] | None = None, vjp: Callable[..., Any] | None = None
    ) -> None:
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.jvp_rule: Callable[..., Any] | None = jvp
        self.vjp_rule: Callable[..., Any] | None = vjp

    def def_jvp(self, rule: Rule) -> Rule:
        """Set the JVP; a decorator.

        Parameters
        ----------
        rule : callable
            `(primals, out, tangents) -> tangent`, where primals and tangents are tuples like the arguments.

        Returns
        -------
        callable
            The rule itself.

        Examples
        --------
        >>> import numpy as np, adjoint as ad
        >>> sine = ad.custom_rule(np.sin)
        >>> @sine.def_jvp
        ... def _(primals, out, tangents):
        ...     return np.cos(primals[0]) * tangents[0]
        >>> ad.grad(sine)(0.0)
        1.0
        """
        self.jvp_rule = rule
        return rule

    def def_vjp(self, rule: Rule) -> Rule:
        """Set the VJP; a decorator.

        Parameters
        ----------
        rule : callable
            `(primals, out, cotangent) -> tuple of cotangents`, None for an argument that has none.

        Returns
        -------
        callable
            The rule itself.

        Examples
        --------
        >>> import numpy as np, adjoint as ad
        >>> product = ad.custom_rule(np.multiply)
        >>> @product.def_vjp
        ... def _(primals, out, cotangent):
        ...     return cotangent * primals[1], cotangent * primals[0]
        >>> ad.grad(product, argnums=(0, 1))(2.0, 3.0)
        (3.0, 2.0)
        """
        self.vjp_rule = rule
        return rule

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Evaluate; a trace that passes uses the rules instead of looking inside."""
        if self.jvp_rule is None and self.vjp_rule is None:
            raise UnsupportedError(
                message(
                    f"The custom rule {self.fun.__name__!r} has neither a JVP nor a VJP.",
                    fix="Give one with  @rule.def_jvp  or  @rule.def_vjp.",
                )
            )
        return call_as_step("custom_rule", functools.partial(self.fun, **kwargs), args, self._rules, one_by_one)

    def _rules(self, rebuild: Rebuild, restore: Rebuild) -> Opaque:
        def jvp(tangents: Sequence[Value], out: Value, args: Sequence[Value], params: dict) -> list[Value]:
            primals, result = rebuild(list(args)), restore(list(out))
            moves = [zeros_for(a) if t is None and is_inexact(a) else t for t, a in zip(tangents, args, strict=True)]
            found, _ = flatten(run(self.jvp_rule, (primals, result, rebuild(moves)), {}))
            return [_checked(t, o, self.fun.__name__, "tangent") for t, o in zip(found, out, strict=True)]

        def vjp(
            g: Sequence[Value], out: Value, args: Sequence[Value], params: dict, needed: Sequence[bool]
        ) -> list[Value]:
            primals, result = rebuild(list(args)), restore(list(out))
            cotangents = [zeros_for(o) if c is None else conjugated(c) for c, o in zip(g, out, strict=True)]
            found = run(self.vjp_rule, (primals, result, restore(cotangents)), {})
            if not isinstance(found, tuple) or len(found) != len(primals):
                raise TangentError(
                    message(
                        f"The VJP of {self.fun.__name__!r} has to return a tuple with one cotangent for each argument.",
                        got=f"{describe(found)} for {len(primals)} arguments",
                        fix="Return  (g,)  for one argument, and None for an argument that has no derivative.",
                    )
                )
            leaves: list[Value] = []
            for cotangent, primal in zip(found, primals, strict=True):
                own, _ = flatten(primal)
                leaves += [None] * len(own) if cotangent is None else flatten(cotangent)[0]
            return [
                None if c is None or not need else conjugated(_checked(c, a, self.fun.__name__, "cotangent"))
                for c, a, need in zip(leaves, args, needed, strict=True)
            ]

        return Opaque(jvp if self.jvp_rule else None, vjp if self.vjp_rule else None)


def _checked(c: Value, value: Value, name: str, kind: str) -> Value:
    if shape_of(c) != shape_of(value):
        raise TangentError(
            message(
                f"The rule of {name!r} returned a {kind} that does not have the shape of its value.",
                got=f"{describe(c)} for {describe(value)}",
                fix="Sum over what was broadcast, or broadcast to the shape of the value.",
            )
        )
    return c


@overload
def custom_rule(
    fun: np.ufunc, *, jvp: Callable[..., Any] | None = None, vjp: Callable[..., Any] | None = None
) -> CustomRule[..., Any]: ...
@overload
def custom_rule(
    fun: Callable[P, R], *, jvp: Callable[..., Any] | None = None, vjp: Callable[..., Any] | None = None
) -> CustomRule[P, R]: ...
@overload
def custom_rule(
    *, jvp: Callable[..., Any] | None = None, vjp: Callable[..., Any] | None = None
) -> Callable[[Callable[P, R]], CustomRule[P, R]]: ...
@checked("fun")
def custom_rule(
    fun: Callable[..., Any] | None = None,
    *,
    jvp: Callable[..., Any] | None = None,
    vjp: Callable[..., Any] | None = None,
) -> Any:
    """Give a function a derivative of your own; of JVP and VJP one is enough, the other is its transpose.

    Parameters
    ----------
    fun : callable, optional
        The function; any code, also compiled or calling a solver, as it only ever sees plain values (inside `vmap`,
        those of one example after the other). Without it, the result is a decorator.
    jvp : callable, optional
        `(primals, out, tangents) -> tangent`, where primals and tangents are tuples like the arguments.
    vjp : callable, optional
        `(primals, out, cotangent) -> cotangents`, a tuple with one for each argument.

    Returns
    -------
    CustomRule
        A function with the parameters of `fun`, whose rules can also be given later, with `def_jvp` and `def_vjp`.

    Raises
    ------
    UnsupportedError
        When it is called without any rule.
    TangentError
        When a rule returns a tangent or a cotangent that does not fit its value.

    Examples
    --------
    >>> import numpy as np, adjoint as ad
    >>> @ad.custom_rule
    ... def log1pexp(x):
    ...     return np.logaddexp(0.0, x)
    >>> @log1pexp.def_jvp
    ... def _(primals, out, tangents):
    ...     return tangents[0] / (1 + np.exp(-primals[0]))
    >>> ad.grad(log1pexp)(0.0), ad.grad(ad.grad(log1pexp))(0.0)
    (0.5, 0.25)
    """
    for rule in (jvp, vjp):
        if rule is not None:
            checked_function(rule, "The rule of custom_rule", "ad.custom_rule(f, vjp=rule)")
    if fun is None:
        return lambda wrapped: CustomRule(wrapped, jvp, vjp)
    checked_function(fun, "custom_rule", "@ad.custom_rule  above the function")
    return CustomRule(fun, jvp, vjp)
